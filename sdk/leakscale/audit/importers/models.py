"""What a log of an evaluation says, whatever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from leakscale.audit.scores import ScoreSource

__all__ = ["EvaluationLog", "LoggedAnswer", "PairingRule", "Selection", "Setting"]


class PairingRule(StrEnum):
    """What two logs must have in common before their answers are answers to forms of one question."""

    STATUS = "status"
    MODEL = "model"
    TASK_ARGUMENT = "task-argument"
    PROMPT_TEMPLATE = "prompt-template"
    FEW_SHOT_COUNT = "few-shot-count"
    DECODING = "decoding"
    SCORING = "scoring"


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that a log declares about how its answers were made."""

    rule: PairingRule
    name: str
    """As the log names it, dotted, e.g. `task_args.fewshot`."""
    value: Any
    """Plain JSON value; None says the same as a setting that is not there."""


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer to one form, and its score."""

    key: str
    """What the log calls the parent item, or, in a log of several forms, the form: `p1/fresh-2`."""
    score: float | None
    """None exactly if `failure` says why."""
    failure: str = ""
    """Why there is no score; empty where there is one."""
    epoch: int = 1
    """Number of the answer among those to one form, from 1."""
    prompt: str | None = None
    """Everything the model was shown, few-shot examples included; None where the log does not hold it."""
    text: str | None = None
    """The form's own words, as the log holds them."""
    is_truncated: bool = False
    """Whether the log says that a token or other limit cut the answer."""
    settings: tuple[Setting, ...] = ()
    """What the log declares of this answer alone."""
    target: str | None = None
    """What the log scored against; None where it does not say."""
    oddities: tuple[str, ...] = ()
    """What a reader of the score should know of how it came to be, e.g. `asked again`."""


@dataclass(frozen=True, slots=True)
class EvaluationLog:
    """A log, read as far as an audit needs it."""

    path: Path
    source: ScoreSource
    writer: str
    """What wrote it, with its version, e.g. `inspect_ai 0.3.285`."""
    model: str
    settings: tuple[Setting, ...]
    answers: tuple[LoggedAnswer, ...]
    incomplete_count: int = 0
    """Answers that the log says should be there and are not complete, or not in the file."""
    first_absent: str = ""
    """The first id that the log lists and has no answer of; empty where there is none."""
    companions: tuple[ScoreSource, ...] = ()
    """Further files that say how the answers were made."""

    def settings_by_name(self) -> Mapping[str, Setting]:
        """Return what the log declares of all its answers, by name; what is None is left out."""
        return {setting.name: setting for setting in self.settings if setting.value is not None}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the numbers in a log is the score, and which field names the item. None of it is guessed."""

    metric: str
    """Of inspect_ai a scorer, or `scorer/key` where its value is a table; of lm-evaluation-harness a metric such as
    `exact_match`; of a table a column."""
    filter: str = ""
    """Of lm-evaluation-harness the answer filter, e.g. `strict-match`; empty elsewhere."""
    key: str = ""
    """Field with the parent's id: `id`, `metadata.item`, `doc.id`, `doc_id` or a column. Empty: the log's own id."""
    form_key: str = ""
    """Field with the form (`original`, `fresh-1`) in a log of several forms whose key names the parent only."""
    text_key: str = ""
    """Field with the form's words; empty: what the log itself treats as the question."""

    @property
    def label(self) -> str:
        """Metric and filter as one name, written as lm-evaluation-harness writes them."""
        return f"{self.metric},{self.filter}" if self.filter else self.metric
