"""What a finished study holds by family: its answers, joined with what the retirement of its edition opens.

A practice edition is retired on the way: its truth can be rebuilt by whoever has its study file, so nothing is given
away. A private one is retired beforehand, by whom it belongs to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leakscale.analysis import AnsweredBank, FamilyKey, join_banks, write_results
from leakscale.analysis.study import RESULTS_FILES
from leakscale.client import Client
from leakscale.errors import PreconditionError
from leakscale.inference import BankFiles
from leakscale.models import Edition, EditionKind, EditionPhase
from leakscale.report import read_disclosure, read_provenance

__all__ = ["open_study", "require_openable"]

_EXACT: Final = "exact"
"""The engine whose attempts hold the probability of every answer."""


def require_openable(edition: Edition) -> None:
    """See that the truth of an edition may be opened along with a study.

    Raises:
        PreconditionError: If it is private and not retired.
    """
    if edition.kind is EditionKind.PRIVATE and edition.phase is not EditionPhase.RETIRED:
        raise PreconditionError(
            f"edition '{edition.name}' is private, and only a practice edition is retired with its study; retire it on "
            "its server, `leakscale edition retire`, once nobody measures with it any more, then open the study"
        )


def open_study(study: Path, client: Client) -> Path:
    """Retire the edition of a practice study and write its results by family; return their path.

    Of a private edition that is retired already, they are written alone.

    Repeated, it writes the same bytes.

    Args:
        study: Directory of a finished study.
        client: Of the study's own server.

    Raises:
        NotFoundError: If the study is not finished, or lacks the files of a bank.
        PreconditionError: If its edition is private and not retired, or pyarrow is not installed.
        IntegrityError: If a bank cannot be read.
    """
    disclosure = read_disclosure(study)
    edition = client.editions.get(f"editions/{disclosure.edition_id}")
    require_openable(edition)
    edition = client.editions.retire(edition.name)
    families = {family.family_id: family for family in client.editions.families(edition.name)}
    keys = {
        opening.family_id: FamilyKey(
            domain=families[opening.family_id].domain,
            shape=families[opening.family_id].shape_id,
            condition=opening.condition,
            truth=opening.truth,
        )
        for opening in client.editions.openings(edition.name)
    }
    experiment = client.experiments.get(f"experiments/{disclosure.experiment_id}")
    has_laws = read_provenance(study).answering.get("engine") == _EXACT
    banks = []
    for bank in experiment.banks:
        files = BankFiles.of(study / "banks" / bank.name.rpartition("/")[2])
        laws = files.attempts if has_laws else None
        banks.append(AnsweredBank(experiment.plan.model_label, bank.state, files.plan, files.results, laws=laws))
    path = study / RESULTS_FILES[0]
    write_results(join_banks(banks, keys), path)
    return path
