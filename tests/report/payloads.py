"""What a server signs of an experiment, put together for tests."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from leakscale.analysis import Analysis, Identities
from leakscale.analysis.disclosed import analyze_disclosure
from leakscale.evidence.steps import Step
from leakscale.report import Findings, StudyProvenance
from leakscale.results import Crossed, Disclosure, RingTransfer
from leakscale.statements import Predicate, statement

__all__ = ["a_payload", "a_provenance", "findings_of", "signed"]


def a_payload(numbers: Mapping[str, Any]) -> bytes:
    """State the numbers of experiment `exp-1`."""
    return statement(Predicate.DISCLOSURE, subject="experiments/exp-1", digest=b"\xef" * 32, predicate=numbers)


def signed(disclosure: Disclosure) -> Disclosure:
    """Give a disclosure the signed bytes that hold what it holds."""
    numbers: dict[str, Any] = {
        name: getattr(disclosure, name)
        for name in ("experiment_id", "edition_id", "edition_kind", "commitment_root", "assurance_level", "confidence",
                     "resample_count", "count_step")
    } | {
        "bootstrap_seed": str(disclosure.bootstrap_seed),
        "model_label": "tiny",
        "totals": [dataclasses.asdict(total) for total in disclosure.totals],
        "effects": [dataclasses.asdict(effect) for effect in disclosure.effects],
        "transfers": [_transfer(transfer) for transfer in disclosure.transfers],
        "crossed": _crossed(disclosure.crossed),
        "cohorts": [
            {
                "cohort_id": cohort.cohort_id,
                "shape_ids": list(cohort.shape_ids),
                "totals": [],
                "effects": [dataclasses.asdict(effect) for effect in cohort.effects],
            }
            for cohort in disclosure.cohorts
        ],
    }  # fmt: skip
    payload = a_payload(json.loads(json.dumps(numbers)))
    return dataclasses.replace(disclosure, payload=payload)


def a_provenance(**changes: object) -> StudyProvenance:
    """Return where the numbers of a small study come from, with some fields changed."""
    provenance = StudyProvenance(
        study="demo",
        rerun_command="make demo",
        model_id="tiny",
        model_digests={"weights": "11" * 32},
        adapter_digest="22" * 32,
        corpus_digest="33" * 32,
        certificates_digest="44" * 32,
        certified_count=128,
        rejected_count=0,
        backend="docker",
        seeds={"bank_seed": 5},
        stage_seconds={"certify": 9.0, "adapt": 41.5},
        versions={"python": "3.11.7"},
        unconstrained_valid_mass={"base": 0.998},
    )
    return dataclasses.replace(provenance, **changes)  # type: ignore[arg-type]


def findings_of(
    disclosure: Disclosure,
    provenance: StudyProvenance,
    *,
    analysis: Analysis | None = None,
    steps: tuple[Step, ...] | None = None,
) -> Findings:
    """Return the findings of released numbers, with other tables where some are given."""
    released = signed(disclosure)
    made = analysis or analyze_disclosure(released, released.numbers, Identities())
    return Findings("runs/there", released, provenance, made, steps)


def _transfer(transfer: RingTransfer) -> dict[str, Any]:
    fields = dataclasses.asdict(transfer)
    for share in fields["shares"]:
        share["share"] = share.pop("value")
        bounds = {name: share.pop(name) for name in ("shape", "low", "high")}
        share["bounds"] = bounds if bounds["shape"] else None
    return fields


def _crossed(crossed: Crossed | None) -> dict[str, Any] | None:
    return None if crossed is None else dataclasses.asdict(crossed)
