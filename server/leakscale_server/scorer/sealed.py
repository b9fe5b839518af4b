"""What is scored of an experiment, as the two sides name it: whole, and by one digest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from leakscale.digests import canonical_json
from leakscale.models import ModelState
from leakscale_server.errors import IntegrityFailure
from leakscale_server.scorer.contract import ExperimentHead, FamilyCell, SealedExperiment

__all__ = ["extent_of", "partition_digest", "require_whole", "sealed_digest"]


def sealed_digest(experiment: SealedExperiment) -> bytes:
    """Identify what is scored of an experiment, and how; 32 bytes.

    The assurance level is left out: who redeems a grant changes it for as long as the numbers have not left.
    """
    head = experiment.head
    body = {
        "experiment": [head.project, head.experiment_id],
        "edition": head.edition_key,
        "plan": head.plan_digest,
        "resample_count": head.resample_count,
        "bootstrap_seed": str(head.bootstrap_seed),
        "extent": extent_of(head),
        "partition": partition_digest(experiment.families),
        "banks": {
            bank.bank_id: [bank.answers_digest.hex(), hashlib.sha256(bank.choices).hexdigest()]
            for bank in experiment.banks
        },
    }
    return hashlib.sha256(canonical_json(body)).digest()


def require_whole(experiment: SealedExperiment) -> None:
    """Refuse an experiment with a family twice, without one of its banks, or not with one answer a case.

    Raises:
        IntegrityFailure: If it is not whole.
    """
    head = experiment.head
    ids = [each.family_id for each in experiment.families]
    families = Counter(each.domain for each in experiment.families)
    wanted = {(domain, state, ring) for domain in families for state in ModelState for ring in head.rings}
    is_whole = (
        ids == sorted(set(ids))
        and len(experiment.banks) == len(wanted)
        and {(bank.domain, bank.state, bank.ring) for bank in experiment.banks} == wanted
        and all(len(bank.choices) == families[bank.domain] * head.draw_count for bank in experiment.banks)
    )
    if not is_whole:
        raise IntegrityFailure(
            f"experiment {head.experiment_id!r} came to the scorer with other families, banks or cases than its plan "
            "has; restore the registry from a copy of the data folder",
            subject=f"experiments/{head.experiment_id}",
        )


def extent_of(head: ExperimentHead) -> dict[str, Any]:
    """Return what decides over which families numbers are, and how much they say."""
    return {
        "is_open": head.is_open,
        "draw_count": head.draw_count,
        "rings": [ring.value for ring in head.rings],
        "cohorts": {cohort.cohort_id: list(cohort.shape_ids) for cohort in head.cohorts},
    }


def partition_digest(families: Sequence[FamilyCell]) -> str:
    """Identify which families make which atom, in hex."""
    rows = [[each.family_id, each.domain.value, each.shape_id, each.condition.value] for each in families]
    return hashlib.sha256(canonical_json(rows)).hexdigest()
