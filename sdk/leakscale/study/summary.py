"""What a finished study leaves for programs (`summary.json`) and for its report (provenance)."""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from leakscale.adaptation import AdapterIdentity, Completion
from leakscale.digests import json_digest
from leakscale.models import CertificationOutcome, Condition, Edition, EditionKind, ModelState, Receipt, ServerInfo
from leakscale.report import StudyProvenance, finding
from leakscale.results import CellTotal, Disclosure, Effect, Estimate, RingTransfer
from leakscale.statements import Predicate, predicate_of
from leakscale.study.answering import Answered
from leakscale.study.config import Study
from leakscale.study.models import ResolvedModel

__all__ = ["Evidence", "build_provenance", "build_summary", "identity_of"]

_LIBRARIES = ("torch", "transformers", "peft", "numpy", "scipy", "grpcio", "protobuf")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a study's numbers rest on."""

    study: Study
    server: ServerInfo
    edition: Edition
    outcomes: list[CertificationOutcome]
    identity: AdapterIdentity
    completion: Completion
    model: ResolvedModel
    answered: Answered
    disclosure: Disclosure
    rerun_command: str
    finished_at: str
    """ISO 8601, UTC, to the second."""


def build_summary(evidence: Evidence, *, stage_seconds: Mapping[str, float]) -> dict[str, Any]:
    """Return accuracies, effect, interval, counts, seconds of each stage and backend; shares, not percentages."""
    disclosure = evidence.disclosure
    totals = disclosure.totals
    asked = [*totals, *itertools.chain.from_iterable(transfer.totals for transfer in disclosure.transfers)]
    pooled = disclosure.effects[0]
    return {
        "format": 1,
        "study": evidence.study.name,
        "seed": evidence.study.seed,
        "finding": finding(disclosure),
        "assurance_level": disclosure.assurance_level,
        "edition_kind": disclosure.edition_kind,
        "backend": _backends(evidence),
        "model": evidence.model.label,
        "finished_at": evidence.finished_at,
        "accuracies": _accuracies(totals),
        "effect": _estimate(pooled.effect),
        "c0_drift": _estimate(pooled.c0_drift),
        "c2_change": _estimate(pooled.c2_change),
        "confidence": disclosure.confidence,
        "transfers": {transfer.ring.value: _transfer(transfer) for transfer in disclosure.transfers},
        "domains": {effect.domain.value: _domain(effect, totals) for effect in disclosure.effects if effect.domain},
        "counts": {
            "families": len(evidence.outcomes),
            "shapes": len(evidence.edition.shape_ids),
            "certified": sum(outcome.is_certified for outcome in evidence.outcomes),
            "banks": len(evidence.answered.receipts),
            "answers": sum(total.draw_count for total in asked),
            "valid_answers": sum(total.valid_count for total in asked),
            "training_records": evidence.completion.diagnostics.record_count,
            "optimizer_steps": evidence.completion.diagnostics.step_count,
        },
        "totals": [asdict(total) for total in totals],
        "mode": evidence.answered.mode.value,
        "unconstrained_valid_mass": dict(evidence.answered.unconstrained_valid_mass),
        "identity": identity_of(evidence),
        "seconds": dict(stage_seconds),
    }


def identity_of(evidence: Evidence) -> dict[str, Any]:
    """Return what a second run of the same study must repeat, digit by digit."""
    numbers = evidence.disclosure.numbers
    certificates = hashlib.sha256()
    for outcome in evidence.outcomes:
        if outcome.certificate is not None:
            certificates.update(outcome.certificate.payload_digest)
    return {
        "certificates": certificates.hexdigest(),
        "commitment_root": evidence.edition.commitment_root.hex(),
        "adapter": evidence.identity.adapter,
        "answers": {_bank_id(receipt): receipt.answers_digest.hex() for receipt in evidence.answered.receipts},
        "numbers": json_digest([numbers["totals"], numbers["effects"], *numbers.get("transfers", ())]).hex(),
        "disclosure": hashlib.sha256(evidence.disclosure.payload).hexdigest(),
    }


def build_provenance(evidence: Evidence, *, stage_seconds: Mapping[str, float]) -> StudyProvenance:
    """Return what the report prints about where its numbers come from."""
    seeds = evidence.study.seeds
    is_practice = evidence.study.edition.kind is EditionKind.PRACTICE
    identity = evidence.identity
    return StudyProvenance(
        study=evidence.study.name,
        rerun_command=evidence.rerun_command,
        model_id=evidence.model.label,
        model_digests={"weights": identity.model, "tokenizer": identity.tokenizer, "chat template": identity.template},
        adapter_digest=identity.adapter,
        corpus_digest=identity.corpus,
        certificates_digest=evidence.edition.certificates_digest.hex(),
        certified_count=sum(outcome.is_certified for outcome in evidence.outcomes),
        rejected_count=sum(not outcome.is_certified for outcome in evidence.outcomes),
        backend=_backends(evidence),
        seeds={
            "study": evidence.study.seed,
            "edition, public": seeds.public.hex(),
            "edition, private": seeds.practice_private.hex() if is_practice else "drawn by the server",
            "bank": seeds.bank,
            "bootstrap": seeds.bootstrap,
            "adaptation": seeds.adaptation,
        },
        stage_seconds=dict(stage_seconds),
        versions={"python": platform.python_version(), **{name: _version(name) for name in ("leakscale", *_LIBRARIES)}},
        backend_identity=_backend_identity(evidence),
        bank_digests={_bank_id(receipt): receipt.answers_digest.hex() for receipt in evidence.answered.receipts},
        training={
            # The seed stands among the seeds.
            **{name: value for name, value in evidence.completion.config.items() if name != "seed"},
            **asdict(evidence.completion.diagnostics),
        },
        answering={"mode": evidence.answered.mode.value, **_shown(evidence.answered.engine)},
        unconstrained_valid_mass=dict(evidence.answered.unconstrained_valid_mass),
        finished_at=evidence.finished_at,
    )


def _shown(engine: Mapping[str, str | int | float | bool | None]) -> dict[str, str | int | float]:
    """Return what an engine was, without what stands elsewhere in the report."""
    elsewhere = {"model", "tokenizer", "template", "adapter", "torch", "transformers"}
    return {name: value for name, value in engine.items() if name not in elsewhere and value is not None}


def _accuracies(totals: tuple[CellTotal, ...]) -> dict[str, float]:
    """Return the four accuracies over all domains, e.g. `c2_adapted`."""
    return {
        f"{condition.value.lower()}_{state.value}": _share(totals, condition, state)
        for condition in Condition
        for state in ModelState
    }


def _share(totals: tuple[CellTotal, ...], condition: Condition, state: ModelState) -> float:
    cells = [total for total in totals if total.condition is condition and total.state is state]
    return sum(cell.correct_count for cell in cells) / sum(cell.draw_count for cell in cells)


def _domain(effect: Effect, totals: tuple[CellTotal, ...]) -> dict[str, Any]:
    own = tuple(total for total in totals if total.domain is effect.domain)
    return {
        "accuracies": _accuracies(own),
        "effect": _estimate(effect.effect),
        "c0_drift": _estimate(effect.c0_drift),
        "c2_change": _estimate(effect.c2_change),
    }


def _transfer(transfer: RingTransfer) -> dict[str, Any]:
    pooled, *single = transfer.effects
    share = transfer.shares[0]
    return {
        "accuracies": _accuracies(transfer.totals),
        "effect": _estimate(pooled.effect),
        "share": {name: getattr(share, name) for name in ("value", "shape", "low", "high", "withheld", "is_censored")},
        "domains": {effect.domain.value: _domain(effect, transfer.totals) for effect in single if effect.domain},
    }


def _estimate(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _backends(evidence: Evidence) -> str:
    """Name the sandbox that proved the families, or both where a study was gone on with on another machine."""
    return " and ".join(sorted({environment["backend"] for environment in _environments(evidence)}))


def _backend_identity(evidence: Evidence) -> dict[str, str]:
    first = _environments(evidence)[0]
    return {name: str(first[name]) for name in ("image", "worker", "python", "sqlite")}


def _environments(evidence: Evidence) -> list[dict[str, Any]]:
    certificates = [outcome.certificate for outcome in evidence.outcomes if outcome.certificate is not None]
    return [predicate_of(certificate.payload, Predicate.CERTIFICATE)["environment"] for certificate in certificates]


def _bank_id(receipt: Receipt) -> str:
    return receipt.bank.rpartition("/")[2]


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
