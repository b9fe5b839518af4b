"""How probable every form of a bank is to a model, as the text that it is: what detectors of memorized text look at.

Source: CleanScore 7.6; Shi et al. 2024 (Min-K % Prob, arXiv 2310.16789), whose k is 20 here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from leakscale.audit.answering.answers import is_log_probability
from leakscale.audit.answering.keeping import kept_results
from leakscale.audit.forms import FormBank
from leakscale.audit.forms.models import FormName
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import IntegrityError
from leakscale.inference.forms import TextReader

__all__ = ["min_k", "read_forms"]

_SHARE: Final = 0.2
_METRIC: Final = "text(nats a token)"


def read_forms(
    bank: FormBank,
    engine: TextReader,
    *,
    batch_size: int,
    log: Path,
    header: Mapping[str, Any],
    model: str,
    state: str = "base",
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ScoreTable, ScoreTable]:
    """Return the mean log-probability a token of every form, and that of its least probable fifth.

    A form of one token has neither. Texts are read without prompt or chat template. What was read is kept in a journal
    batch by batch, and a run that was interrupted reads the rest.

    Args:
        bank: Whose forms are read, deep paraphrases included.
        engine: What reads them.
        batch_size: Texts that are read together.
        log: The journal.
        header: Everything that decides the readings.
        model: As the registration names it.
        state: State of the model.
        progress: Called with the forms that are read and their number.

    Raises as `kept_results`.
    """
    texts = list(_texts(bank))
    batches = (texts[first : first + batch_size] for first in range(0, len(texts), batch_size))
    found = kept_results(
        log,
        header,
        batches,
        lambda batch: _read(batch, engine),
        _Reading.from_json,
        progress=lambda done: progress(done, len(texts)) if progress else None,
    )
    readings = [(text.name, found[text.key]) for text in texts]
    familiarity, lowest = (
        ScoreTable.of(bank, scores, model=model, kind=kind, metric=_METRIC, state=state)
        for scores, kind in (
            ({name: one.mean for name, one in readings if one.mean is not None}, ScoreKind.FAMILIARITY),
            ({name: one.least for name, one in readings if one.least is not None}, ScoreKind.MIN_K),
        )
    )
    return familiarity, lowest


def min_k(values: Sequence[float]) -> float:
    """Return the mean of the least fifth of some log-probabilities, rounded down to a whole number of at least one."""
    return fmean(sorted(values)[: max(1, int(_SHARE * len(values)))])


@dataclass(frozen=True, slots=True)
class _Text:
    """A form to be read."""

    name: FormName
    text: str

    @property
    def key(self) -> str:
        return str(self.name)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read of one form, as a line of the journal."""

    form: str
    mean: float | None
    """Log-probability a token, in nats; None of a form of one token, as is `least`."""
    least: float | None
    """The same of its least probable fifth."""

    @classmethod
    def of(cls, text: _Text, values: Sequence[float]) -> _Reading:
        return cls(text.key, fmean(values), min_k(values)) if values else cls(text.key, None, None)

    @property
    def key(self) -> str:
        return self.form

    def to_json(self) -> dict[str, Any]:
        return {"form": self.form, "mean": self.mean, "least": self.least}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> _Reading:
        if fields.keys() != {"form", "mean", "least"} or type(fields["form"]) is not str:
            raise IntegrityError("is no reading (it is a form with two numbers, mean and least)")
        numbers = fields["mean"], fields["least"]
        if numbers != (None, None) and not all(map(is_log_probability, numbers)):
            raise IntegrityError("is no reading (mean and least are finite numbers of at most 0, or both null)")
        return cls(fields["form"], *numbers)


def _read(batch: Sequence[_Text], engine: TextReader) -> Iterator[_Reading]:
    for text, values in zip(batch, engine.read_texts([one.text for one in batch]), strict=True):
        yield _Reading.of(text, values)


def _texts(bank: FormBank) -> Iterator[_Text]:
    for parent in bank.parents:
        for name, form in parent.forms():
            yield _Text(name, form.text)
