"""What a model answered to one question, as a line of the log that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.forms.models import Criterion, FormBank
from leakscale.errors import IntegrityError
from leakscale.form_engines import Generated, OptionScore

__all__ = ["FormAnswer", "is_log_probability", "scored_keys"]

_COUNT_MAX: Final = 2**31


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """One answer: a generated text, or a score of every option."""

    form: str
    """`parent/original`, `parent/fresh-2`, ..."""
    number: int
    is_rerun: bool
    generated: Generated | None
    options: tuple[OptionScore, ...] = ()

    @classmethod
    def of(cls, key: tuple[str, int, bool], answer: Generated | Sequence[OptionScore]) -> FormAnswer:
        """Put an engine's answer to its question, by `Ask.key`."""
        form, number, is_rerun = key
        if isinstance(answer, Generated):
            return cls(form, number, is_rerun, answer)
        return cls(form, number, is_rerun, None, tuple(answer))

    @property
    def key(self) -> tuple[str, int, bool]:
        """What tells this answer from every other of the run; as `Ask.key`."""
        return self.form, self.number, self.is_rerun

    def says_the_same(self, other: FormAnswer) -> bool:
        """Tell whether two answers to one question are one answer.

        Texts are compared, not how sure the model was: a repetition stands in another batch, which moves the last bits
        of a log-probability. Options are scored alone, so their scores have to agree to the bit.
        """
        if self.generated is None or other.generated is None:
            return self.generated is other.generated and self.options == other.options
        ours, theirs = self.generated, other.generated
        return (ours.text, ours.token_count, ours.is_cut_off) == (theirs.text, theirs.token_count, theirs.is_cut_off)

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a line."""
        fields: dict[str, Any] = {"form": self.form, "number": self.number, "rerun": self.is_rerun}
        if self.generated is None:
            return fields | {"options": [[each.log_probability, each.token_count] for each in self.options]}
        return fields | {
            "text": self.generated.text,
            "token_count": self.generated.token_count,
            "cut_off": self.generated.is_cut_off,
            "confidence": self.generated.confidence,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> FormAnswer:
        """Read what `to_json` wrote.

        Raises:
            IntegrityError: If it is no answer; the message quotes no value.
        """
        if frozenset(fields) not in (_GENERATED, _CHOSEN):
            raise IntegrityError(f"is no answer (its fields are {', '.join(sorted(fields))[:200]})")
        wrong = next((name for name, value in fields.items() if not _RULES[name](value)), None)
        if wrong is not None:
            raise IntegrityError(f"is no answer (field '{wrong}' is of another type or out of range)")
        key = fields["form"], fields["number"], fields["rerun"]
        if "options" in fields:
            return cls(*key, None, tuple(OptionScore(*each) for each in fields["options"]))
        return cls(*key, Generated(fields["text"], fields["token_count"], fields["cut_off"], fields["confidence"]))


def is_log_probability(value: Any) -> bool:
    """Tell whether a value out of JSON is a log-probability: a finite number of at most 0."""
    return type(value) in (int, float) and -_COUNT_MAX < value <= 0


def scored_keys(bank: FormBank, *, answer_count: int) -> Iterator[tuple[str, int]]:
    """Yield form and number of every answer that is scored, in the order in which a model is asked.

    Args:
        bank: With or without gold answers.
        answer_count: Generated answers a form, as registered; a choice is made once.
    """
    for parent in bank.parents:
        for name, _ in parent.forms():
            for number in range(1 if parent.criterion is Criterion.CHOICE else answer_count):
                yield str(name), number


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _COUNT_MAX


def _is_choice(options: Any) -> bool:
    return isinstance(options, list) and all(
        isinstance(each, list) and len(each) == 2 and is_log_probability(each[0]) and _is_count(each[1])
        for each in options
    )


_RULES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "form": lambda value: type(value) is str,
    "number": _is_count,
    "rerun": lambda value: type(value) is bool,
    "text": lambda value: type(value) is str,
    "token_count": _is_count,
    "cut_off": lambda value: type(value) is bool,
    "confidence": lambda value: value is None or is_log_probability(value),
    "options": _is_choice,
}
"""What the value of each field of a line has to be: a file, or a stranger, may hold anything."""
_CHOSEN: Final = frozenset({"form", "number", "rerun", "options"})
_GENERATED: Final = frozenset(_RULES) - {"options"}
