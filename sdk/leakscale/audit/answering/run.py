"""One run of answering: which model is asked which bank, where what it gives is kept, and what decides it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import FormBank
from leakscale.audit.registration.models import Registration
from leakscale.audit.scores import ScoreKind
from leakscale.digests import json_digest
from leakscale.inference.forms import FormEngine

__all__ = ["Run"]

_FORMAT: Final = "leakscale-audit-answers-v1"
_READINGS_FORMAT: Final = "leakscale-audit-readings-v1"


@dataclass(frozen=True, slots=True)
class Run:
    """One model in one state, asked one bank under one variant of the registration."""

    directory: AuditDirectory
    registration: Registration
    bank: FormBank
    model_id: str
    role: BankRole
    state: str

    @property
    def log(self) -> Path:
        """The journal of its answers."""
        return self.directory.answers(
            self.model_id, bank=self.role, state=self.state, variant=self.registration.variant
        )

    @property
    def readings(self) -> Path:
        """The journal of the forms that it read as texts."""
        return self.directory.readings(
            self.model_id, bank=self.role, state=self.state, variant=self.registration.variant
        )

    def scores(self, kind: ScoreKind) -> Path:
        """Return the file of its scores of a kind."""
        return self.directory.scores(
            self.model_id, bank=self.role, state=self.state, kind=kind, variant=self.registration.variant
        )

    @property
    def unread(self) -> Path:
        """The record that its forms could not be read as texts."""
        return self.directory.unread(self.model_id, bank=self.role, state=self.state, variant=self.registration.variant)

    def header(self, engine: FormEngine) -> dict[str, Any]:
        """Return everything that decides the answers."""
        plan = self.registration.plan
        return self.reading_header(engine) | {
            "format": _FORMAT,
            "prompt": json_digest(plan.prompt.model_dump(mode="json")).hex(),
            "decoding": plan.decoding.model_dump(mode="json"),
            "rerun_share": plan.scoring.rerun_share,
        }

    def reading_header(self, engine: FormEngine) -> dict[str, Any]:
        """Return everything that decides the readings."""
        return {
            "format": _READINGS_FORMAT,
            "audit": self.registration.name,
            "variant": self.registration.variant,
            "model": self.model_id,
            "state": self.state,
            "bank": self.bank.digest,
            "engine": dict(engine.identity),
        }
