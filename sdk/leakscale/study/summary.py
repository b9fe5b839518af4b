"""What a finished study leaves for programs (`summary.json`) and for its report (provenance)."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from leakscale.adaptation import AdapterIdentity, Completion
from leakscale.models import CertificationOutcome, Edition, Receipt, ServerInfo
from leakscale.report import StudyProvenance
from leakscale.results import Disclosure
from leakscale.statements import Predicate, predicate_of
from leakscale.study.answering import Answered
from leakscale.study.config import Study, named_seeds
from leakscale.study.models import ResolvedModel
from leakscale.study.released import numbers_digest, released_counts, released_numbers

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
    return {
        "format": 1,
        "study": evidence.study.name,
        "seed": evidence.study.seed,
        "backend": _backends(evidence),
        "model": evidence.model.label,
        "finished_at": evidence.finished_at,
        **released_numbers(disclosure),
        "counts": {
            "families": len(evidence.outcomes),
            "shapes": len(evidence.edition.shape_ids),
            "certified": sum(outcome.is_certified for outcome in evidence.outcomes),
            "banks": len(evidence.answered.receipts),
            **released_counts(disclosure),
            "training_records": evidence.completion.diagnostics.record_count,
            "optimizer_steps": evidence.completion.diagnostics.step_count,
        },
        "mode": evidence.answered.mode.value,
        "unconstrained_valid_mass": dict(evidence.answered.unconstrained_valid_mass),
        "identity": identity_of(evidence),
        "seconds": dict(stage_seconds),
    }


def identity_of(evidence: Evidence) -> dict[str, Any]:
    """Return what a second run of the same study must repeat, digit by digit."""
    certificates = hashlib.sha256()
    for outcome in evidence.outcomes:
        if outcome.certificate is not None:
            certificates.update(outcome.certificate.payload_digest)
    return {
        "certificates": certificates.hexdigest(),
        "commitment_root": evidence.edition.commitment_root.hex(),
        "adapter": evidence.identity.adapter,
        "answers": {_bank_id(receipt): receipt.answers_digest.hex() for receipt in evidence.answered.receipts},
        **numbers_digest(evidence.disclosure),
    }


def build_provenance(evidence: Evidence, *, stage_seconds: Mapping[str, float]) -> StudyProvenance:
    """Return what the report prints about where its numbers come from."""
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
        seeds=named_seeds(evidence.study),
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
