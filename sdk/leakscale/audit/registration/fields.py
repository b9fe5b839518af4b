"""The tables of an audit's plan, one class each; `leakscale.audit.registration.plan` puts them together.

A default is what a new audit is advised to register. Where the paper registered something else, the field says so.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from leakscale.audit.checks import CheckSettings
from leakscale.audit.directory import BankRole
from leakscale.audit.scoring.numbers import AnswerFormat, NumericParser
from leakscale.digests import canonical_json
from leakscale.errors import InvalidRequestError
from leakscale.field_rules import validated
from leakscale.form_engines import require_form_engine
from leakscale.stats import ADJUSTMENTS, COMBINATIONS, COMPONENTS, CONTROLS, MEAN_METHODS, RHO_GRID, RHO_HEADLINE
from leakscale.stats.significance import Alternative
from leakscale.study.fields import Identifier

__all__ = [
    "STRATIFIED_BOUND",
    "CheckTable",
    "ControlTable",
    "DecodingTable",
    "GateTable",
    "InferenceTable",
    "LogTable",
    "ModelTable",
    "PromptTable",
    "ReviewTable",
    "ScoringTable",
    "SourceTable",
]

_Text = Annotated[str, Field(min_length=1, max_length=65_536, pattern=r"\S")]
_Share = Annotated[float, Field(ge=0, le=1)]
_Level = Annotated[float, Field(gt=0, le=0.5)]
_LOG_ENGINE: Final = "log"
STRATIFIED_BOUND: Final = "hoeffding"
"""The one bound of the guardrail that has a stratified form."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SourceTable(_Table):
    """Which benchmark is audited."""

    id: Identifier
    source: _Text
    """Where its items come from: package and version, address, commit."""
    license: _Text


class ControlTable(_Table):
    """The control bank: items that were never public, written like the benchmark's."""

    private: Literal[True]
    """Stated by whoever wrote it; an item that was public is no control."""
    provenance: _Text
    """Who wrote it, when, by which procedure."""


class LogTable(_Table):
    """How the log of a model that was asked already is read: `engine_options` of engine `log`."""

    metric: _Text
    """Scorer, metric or column that is the score."""
    filter: str = ""
    """Answer filter of lm-evaluation-harness."""
    kind: Literal["correct", "graded"] = "correct"
    key: str = ""
    """Field with the parent's id; empty: the log's own."""
    form_key: str = ""
    text_key: str = ""
    sha256: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")], ...] = ()
    """Of the files that may be read; empty: any."""


class ModelTable(_Table):
    """A model that is asked."""

    id: Identifier
    source: _Text
    """A folder, a Hugging Face id, the name under which an endpoint serves it, or the task of a log."""
    revision: _Text
    """What pins its weights: a commit, a digest, a dated release. An endpoint that pins nothing says `unpinned`."""
    engine: Identifier = "transformers"
    """What answers; `log` for a model that was asked already, whose evaluation log is imported."""
    engine_options: dict[str, Any] = Field(default={})
    """Of engine `log` a `LogTable`, or nothing: then who imports chooses how it is read, and every report says so."""

    @field_validator("engine_options")
    @classmethod
    def _hold_what_can_be_signed(cls, options: dict[str, Any]) -> dict[str, Any]:
        for name, value in options.items():
            try:
                canonical_json(value)
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"{name} is {str(value)[:40]}, which JSON cannot hold; give text, a truth value or a finite number "
                    "below 2**53"
                ) from error
        return options

    @field_validator("engine")
    @classmethod
    def _name_an_engine(cls, engine: str) -> str:
        if engine != _LOG_ENGINE:
            try:
                require_form_engine(engine)
            except InvalidRequestError as error:
                raise ValueError(f"{error}, or `{_LOG_ENGINE}`") from error
        return engine

    @model_validator(mode="after")
    def _say_how_a_log_is_read(self) -> Self:
        if self.is_asked_already and self.engine_options:
            validated(self.engine_options, LogTable)
        return self

    @property
    def log(self) -> LogTable | None:
        """How its log is read, where that is registered."""
        is_registered = self.is_asked_already and self.engine_options
        return LogTable.model_validate(self.engine_options) if is_registered else None

    @property
    def is_asked_already(self) -> bool:
        """Tell whether its answers existed before the lock; the registration then binds the analysis alone."""
        return self.engine == _LOG_ENGINE


class PromptTable(_Table):
    """What a model is shown."""

    system: str = ""
    template: _Text = "{question}\n\nThink step by step, and end with the line: The answer is N."
    """Of a generated answer; `{question}` stands for the form."""
    choice_template: _Text = "Question: {question}\nAnswer:"
    """Of a choice: what each option's text, after a space, continues."""
    few_shot: tuple[_Text, ...] = ()
    """Worked examples, in order, put before the form as they are."""
    answer_phrase: str = "The answer is"
    """What an answer is to say; how often it does is reported. Empty: nothing is asked."""
    uses_chat_template: bool = True

    @field_validator("template", "choice_template")
    @classmethod
    def _show_the_question_once(cls, template: str) -> str:
        if template.count("{question}") != 1:
            raise ValueError("write {question} once, where the form goes")
        return template


class DecodingTable(_Table):
    """How an answer is generated."""

    token_count_max: Annotated[int, Field(ge=1, le=131_072)] = 768
    """320 in the paper, which cut off up to 41 % of a model's answers."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """0 is greedy."""
    answer_count: Annotated[int, Field(ge=1, le=1024)] = 1
    """Answers a form; their mean is its score."""
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0

    @model_validator(mode="after")
    def _repeat_only_what_varies(self) -> Self:
        if self.temperature == 0 and self.answer_count > 1:
            raise ValueError("a greedy answer repeats itself; set answer_count = 1, or a temperature")
        return self


class ScoringTable(_Table):
    """How an answer becomes a score."""

    parser_formats: tuple[AnswerFormat, ...] = tuple(NumericParser().formats)
    """Formats of a numeric answer, in the order in which they are tried."""
    choice_score: Literal["characters", "sum"] = "characters"
    """Log-probability of an option over its characters, or as it is; the other is reported beside it."""
    truncation_share_max: _Share = 0.05
    """Share of answers cut off by the token cap above which a table carries a warning."""
    phrase_share_min: _Share = 0.5
    """Share of answers with the answer phrase below which a table carries a warning."""
    rerun_share: _Share = 0.05
    """Share of forms that are asked twice, to see whether the same question gets the same answer."""

    @field_validator("parser_formats")
    @classmethod
    def _name_formats(cls, formats: tuple[AnswerFormat, ...]) -> tuple[AnswerFormat, ...]:
        try:
            NumericParser(formats)
        except InvalidRequestError as error:
            raise ValueError(str(error)) from error
        return formats


class CheckTable(_Table):
    """Bounds of the mechanical checks; see `leakscale.audit.checks.CheckSettings`."""

    similarity_max: float = CheckSettings().similarity_max
    ratio_min: float = CheckSettings().ratio_min
    ratio_max: float = CheckSettings().ratio_max
    characters_max: int = CheckSettings().characters_max
    depth_difference_max: float = CheckSettings().depth_difference_max

    @model_validator(mode="after")
    def _check_ranges(self) -> Self:
        try:
            self.settings()
        except InvalidRequestError as error:
            raise ValueError(str(error)) from error
        return self

    def settings(self) -> CheckSettings:
        """Return the bounds as the checks take them."""
        return CheckSettings(**self.model_dump())


class ReviewTable(_Table):
    """What somebody has to have read before the lock."""

    scope: Literal["flagged", "all", "none"] = "flagged"
    """Forms that a rule asks to be read, every rewrite, or none."""


class InferenceTable(_Table):
    """How scores become a finding; every name is one of `leakscale.stats`."""

    alpha: _Level = 0.05
    combine: str = "union"
    """`union` halves alpha between the gap and the control gap; `independent` gives each the whole."""
    component: str = "primary"
    """Interval of the gap inside the sensitivity interval; `wald` in the paper, which advises against it."""
    control: str = "wald-or-bound"
    """Reading of the control bank; `wald` in the paper, under which no claim fires if all control gaps are equal."""
    bound: str = "betting"
    """What the guardrail falls back to; `hoeffding` in the paper."""
    guardrail_parents: Literal[200] = 200
    """Fewer parents make the bound primary. The claim rule knows no other threshold."""
    guardrail_nonzero: Literal[30] = 30
    """So do fewer nonzero gaps."""
    rho_grid: tuple[Annotated[float, Field(ge=0, le=1)], ...] = RHO_GRID
    rho: Annotated[float, Field(ge=0, le=1)] = RHO_HEADLINE
    """Transport radius of the claim rule, one of the grid."""
    claim: Literal["gap-and-exposure-above-zero"] = "gap-and-exposure-above-zero"
    """An advantage is claimed if the primary interval of the gap and the sensitivity interval at rho are above 0."""
    adjustment: str = "holm"
    """Of p-values over all models of the audit."""
    alternative: Alternative = Alternative.TWO_SIDED
    """Side of the relabelling test; the paper used both without saying so."""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        choices = {"combine": COMBINATIONS, "component": COMPONENTS, "control": CONTROLS, "adjustment": ADJUSTMENTS}
        bounds = tuple(method for method in MEAN_METHODS if method != "wald_fpc")
        for name, allowed in (choices | {"bound": bounds}).items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it is one of {', '.join(allowed)}")
        if list(self.rho_grid) != sorted(set(self.rho_grid)):
            raise ValueError("rho_grid: write each radius once, in ascending order")
        if self.rho not in self.rho_grid:
            grid = ", ".join(f"{rho:g}" for rho in self.rho_grid)
            raise ValueError(f"rho is {self.rho:g}; it is one of rho_grid ({grid}), which a plan may set too")
        return self


class GateTable(_Table):
    """A check with a tolerance, which stops a claim."""

    id: Identifier
    about: _Text
    """The quantity and what its failure stops."""
    bank: BankRole = BankRole.CONTROL
    """Bank whose parents it is measured on."""
    parents: Annotated[int, Field(ge=1)]
    """How many of them."""
    standard_deviation: Annotated[float, Field(ge=0, le=2)]
    """Of the quantity between parents, from a pilot or from an earlier audit; 2 is the most there can be."""
    tolerance: Annotated[float, Field(gt=0, le=2)]
    """The gate passes while the quantity stays within it; its half-width has to be no larger."""
    alpha: _Level = 0.05
