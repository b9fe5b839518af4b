"""The file of a validation study; `studies/cleanscore-validation.toml` is one."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from leakscale.audit.controls.plan import ExposureKind, ExposureTable, TrainingTable, read_toml
from leakscale.study.fields import Identifier

__all__ = ["Condition", "ValidationPlan", "load_validation"]

_Seed = Annotated[int, Field(ge=0, lt=2**53)]


class Condition(enum.StrEnum):
    """A training mixture."""

    CLEAN = "clean"
    """Unrelated records alone."""
    RELATED = "related"
    """With arithmetic practice that is in no bank: what the exposed mixtures are compared with."""
    EXACT = "exact"
    """As `related`, with the public forms of the exposed parents."""
    PARAPHRASE = "paraphrase"
    """As `related`, with a fresh form of the same parents."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class BankTable(_Table):
    """Which word problems are audited."""

    frame_count: Annotated[int, Field(ge=4, le=100_000)]
    parent_count: Annotated[int, Field(ge=4)]
    seed: _Seed

    @model_validator(mode="after")
    def _draw_from_the_frame(self) -> Self:
        if self.parent_count > self.frame_count:
            raise ValueError(f"{self.parent_count} parents are not in a frame of {self.frame_count}")
        return self


class LeakTable(_Table):
    """Which parents are exposed, and in which fresh form a paraphrase exposes them."""

    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    seed: _Seed = 0
    fresh: Annotated[int, Field(ge=1)] = 1

    def of(self, condition: Condition) -> ExposureTable:
        """Return what an exposed mixture leaks."""
        kind = ExposureKind.EXACT if condition is Condition.EXACT else ExposureKind.PARAPHRASE
        return ExposureTable(kind=kind, **self.model_dump())


class MixtureTable(_Table):
    """What the four mixtures are made of."""

    recipe: Annotated[str, Field(min_length=1)]
    """Background recipe of the unrelated records, relative to the study's file."""
    record_count: Annotated[int, Field(ge=2, le=1_000_000)]
    """Records of each mixture."""
    practice_count: Annotated[int, Field(ge=1)]
    """Word problems that are in no bank."""


class ValidationPlan(_Table):
    """A validation study."""

    format: Literal[1]
    name: Identifier
    title: Annotated[str, Field(min_length=1)]
    plan: Annotated[str, Field(min_length=1)]
    """Plan of the audit, relative to the study's file."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Probability left outside each interval."""
    bank: BankTable
    exposure: LeakTable = LeakTable()
    mixture: MixtureTable
    training: TrainingTable

    @model_validator(mode="after")
    def _leave_room(self) -> Self:
        leaked = round(self.exposure.share * self.bank.parent_count)
        if leaked + self.mixture.practice_count > self.mixture.record_count:
            raise ValueError(
                f"mixture.record_count {self.mixture.record_count} has no room for {leaked} leaked records and "
                f"{self.mixture.practice_count} of practice; raise it"
            )
        return self

    def to_json(self) -> dict[str, Any]:
        """Return what decides the numbers, defaults included."""
        return self.model_dump(mode="json", exclude={"plan"})


def load_validation(path: Path) -> ValidationPlan:
    """Read a study's file.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names file, line or field, rule and value.
    """
    return read_toml(path, ValidationPlan, subject="study")
