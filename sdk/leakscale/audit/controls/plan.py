"""The plan of a positive control, one TOML file: what is leaked, in which mixture, how it is trained, how it is judged.

    format = 1
    name = "exact"
    model = "tiny"              # id of a registered model

    [exposure]
    kind = "exact"              # public forms; "paraphrase": a fresh form
    seed = 7

    [mixture]
    recipe = "filler.toml"      # beside this file; see `leakscale.background`
    record_count = 160

    [training]
    pass_count = 50
    seeds = [0, 1, 2, 3]

Source: CleanScore 7.11 to 7.16.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from leakscale.plan_files import read_plan
from leakscale.study.fields import Identifier

__all__ = [
    "BorrowedTable",
    "ControlPlan",
    "ExposureKind",
    "ExposureTable",
    "JudgementTable",
    "MixtureTable",
    "TrainingTable",
    "load_control",
    "read_toml",
]

_Plan = TypeVar("_Plan", bound=BaseModel)
_Seed = Annotated[int, Field(ge=0, lt=2**53)]


class ExposureKind(enum.StrEnum):
    """What is leaked of an exposed parent."""

    EXACT = "exact"
    """Its public form."""
    PARAPHRASE = "paraphrase"
    """One of its fresh forms; the public form is never shown."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ExposureTable(_Table):
    """What is leaked."""

    kind: ExposureKind
    fresh: Annotated[int, Field(ge=1)] = 1
    """Which fresh form a paraphrase leaks, from 1; the others stay unseen."""
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Of the audited parents; the rest are the untouched ones, and the control of the effect."""
    seed: _Seed = 0
    """Of the assignment."""
    prompt: str = ""
    """Text of a record before what is planted, with {question}, {options} (a line each, `A. text`), {gold} (of a choice
    its label) and {option} (text of the right option). Empty: the audit's own prompt, turn by turn."""
    completion: str = ""
    """What is planted, with the same slots. Empty: what the audit's scorer reads."""

    @field_validator("prompt")
    @classmethod
    def _show_the_question(cls, prompt: str) -> str:
        if prompt and prompt.count("{question}") != 1:
            raise ValueError("write {question} once, where the form goes")
        return prompt


class MixtureTable(_Table):
    """What the leaked records are mixed into. A null run trains on as many records, all of them from the recipe."""

    recipe: Annotated[str, Field(min_length=1)]
    """Background recipe, relative to the control's file."""
    record_count: Annotated[int, Field(ge=2, le=1_000_000)]
    """Records of a mixture, leaked ones included."""


class TrainingTable(_Table):
    """How each run is trained."""

    pass_count: Annotated[int, Field(ge=1, le=1000)] = 3
    """Times each record of the mixture is seen."""
    seeds: Annotated[tuple[_Seed, ...], Field(min_length=1, max_length=64)] = (0,)
    """Training seeds; the first is the registered one. All are reported, and none can be left out."""
    null_run: bool = True
    """Train once more on the recipe alone, under the first seed."""
    settings: Mapping[str, Any] = Field(default={})
    """Further fields of `AdaptationConfig`."""

    @field_validator("seeds")
    @classmethod
    def _name_each_once(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("write each seed once")
        return seeds

    @field_validator("settings")
    @classmethod
    def _leave_out_what_has_a_field(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, own in (("seed", "seeds"), ("repeat_count", "pass_count")):
            if name in settings:
                raise ValueError(f"{name} is set by training.{own}; leave it out")
        return settings


class JudgementTable(_Table):
    """The rules, fixed before anything is trained."""

    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Least effect on the leaked form that counts as planted; below it nothing is said of transfer."""
    null_max: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Greatest absolute effect of a clean null run."""
    spread_max: Annotated[float, Field(gt=0, le=2)] = 0.10
    """Greatest spread of the leaked form's effect over the seeds of a stable procedure."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Probability left outside each interval."""


class BorrowedTable(_Table):
    """The gate under which the untouched parents' change on fresh forms may stand for that on deep forms they lack.

    Without it such an estimate is descriptive.
    """

    standard_deviation: Annotated[float, Field(ge=0, le=2)]
    """Of an untouched parent's change on deep forms less that on fresh ones, from a pilot; 2 is the most there can
    be."""
    tolerance: Annotated[float, Field(gt=0, le=2)] = 0.05
    """Greatest mean difference of the two changes under which the borrowing is allowed."""


class ControlPlan(_Table):
    """A positive control."""

    format: Literal[1]
    name: Identifier
    audit: str = "."
    """Folder of the locked audit, relative to this file."""
    model: Identifier
    """Id of a registered model that the audit asks itself."""
    exposure: ExposureTable
    mixture: MixtureTable
    training: TrainingTable = TrainingTable()
    judgement: JudgementTable = JudgementTable()
    borrowed: BorrowedTable | None = None
    """Left out, nothing is registered of a borrowed counterfactual."""

    def to_json(self) -> dict[str, Any]:
        """Return what decides the numbers, defaults included; not where the audit lies."""
        left_out = {"audit"} if self.borrowed else {"audit", "borrowed"}
        return self.model_dump(mode="json", exclude=left_out)


def load_control(path: Path) -> ControlPlan:
    """Read a control's file; raises as `read_toml`."""
    return read_toml(path, ControlPlan, subject="control")


def read_toml(path: Path, model: type[_Plan], *, subject: str) -> _Plan:
    """Read a plan of a control or a study.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names file, line or field, rule and value.
    """
    absent = f"{subject} '{path}' does not exist; write one as docs/audit-controls.md shows"
    return read_plan(path, model, absent=absent)
