"""The plan of an audit, `audit.toml`: everything that is decided before a model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from leakscale.audit.registration.fields import (
    CheckTable,
    ControlTable,
    DecodingTable,
    GateTable,
    InferenceTable,
    ModelTable,
    PromptTable,
    ReviewTable,
    ScoringTable,
    SourceTable,
)
from leakscale.errors import NotFoundError
from leakscale.plan_files import plan_of_fields, read_plan
from leakscale.study.fields import Identifier

__all__ = ["AuditPlan", "load_plan", "plan_from_fields"]


class AuditPlan(BaseModel):
    """What is asked of which models, and what is made of the answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1]
    name: Identifier
    title: Annotated[str, Field(min_length=1)]
    benchmark: SourceTable
    control: ControlTable | None = None
    """Without one nothing can be said about exposure: the gap is reported, and no claim can fire."""
    models: Annotated[tuple[ModelTable, ...], Field(min_length=1)]
    prompt: PromptTable = PromptTable()
    decoding: DecodingTable = DecodingTable()
    scoring: ScoringTable = ScoringTable()
    checks: CheckTable = CheckTable()
    review: ReviewTable = ReviewTable()
    inference: InferenceTable = InferenceTable()
    gates: tuple[GateTable, ...] = ()

    @field_validator("models", "gates")
    @classmethod
    def _name_each_once(cls, tables: tuple[Any, ...]) -> tuple[Any, ...]:
        ids = [table.id for table in tables]
        if twice := [each for each in ids if ids.count(each) > 1]:
            raise ValueError(f"id '{twice[0]}' comes {ids.count(twice[0])} times; an id stands for one")
        return tables

    def model_of(self, model_id: str) -> ModelTable:
        """Return the model of that id.

        Raises:
            NotFoundError: If the plan has none.
        """
        for model in self.models:
            if model.id == model_id:
                return model
        known = ", ".join(model.id for model in self.models)
        raise NotFoundError(f"model '{model_id}' is not in audit '{self.name}'; it has {known}")

    def to_json(self) -> dict[str, Any]:
        """Return every field, defaults included, as plain JSON values."""
        return self.model_dump(mode="json")


def load_plan(path: Path) -> AuditPlan:
    """Read a plan.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names file, line or field, rule and value.
    """
    return read_plan(path, AuditPlan, absent=f"plan '{path}' does not exist; `leakscale audit new` writes one")


def plan_from_fields(fields: Mapping[str, Any], *, source: str) -> AuditPlan:
    """Return the plan that fields describe.

    Raises:
        InvalidRequestError: If they describe none; the message names source, field, rule and value.
    """
    return plan_of_fields(fields, AuditPlan, source=source)
