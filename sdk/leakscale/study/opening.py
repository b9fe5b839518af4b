"""What a finished practice study holds by family: its edition is retired, its answers are joined with what that opens.

A practice edition's truth can be rebuilt by whoever has its study file, so nothing is given away. A private one is
retired by whom it belongs to, on its own server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leakscale.analysis import AnsweredBank, FamilyKey, join_banks, write_results
from leakscale.analysis.study import RESULTS_FILES
from leakscale.client import Client
from leakscale.errors import PreconditionError
from leakscale.inference import BankFiles
from leakscale.report import read_disclosure, read_provenance
from leakscale.results import Disclosure

__all__ = ["open_study", "require_practice"]

_EXACT: Final = "exact"
"""The engine whose attempts hold the probability of every answer."""


def require_practice(study: Path) -> Disclosure:
    """Return the released numbers of a study whose truth may be opened.

    Raises:
        NotFoundError: If it is not finished.
        PreconditionError: If its edition is private.
    """
    disclosure = read_disclosure(study)
    if disclosure.edition_kind != "practice":
        raise PreconditionError(
            f"edition '{disclosure.edition_id}' is {disclosure.edition_kind}, and only a practice edition is opened "
            "with its study; retire it on its server, `leakscale edition retire`, once nobody measures with it any more"
        )
    return disclosure


def open_study(study: Path, client: Client) -> Path:
    """Retire the edition of a practice study and write its results by family; return their path.

    Repeated, it writes the same bytes.

    Args:
        study: Directory of a finished study.
        client: Of the study's own server.

    Raises:
        NotFoundError: If the study is not finished, or lacks the files of a bank.
        PreconditionError: If its edition is private, or pyarrow is not installed.
        IntegrityError: If a bank cannot be read.
    """
    disclosure = require_practice(study)
    edition = client.editions.retire(f"editions/{disclosure.edition_id}")
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
