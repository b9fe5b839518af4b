"""How probable every form of a bank is to a model, as the text that it is: what detectors of memorized text look at.

Source: CleanScore 7.6; Shi et al. 2024 (Min-K % Prob, arXiv 2310.16789), whose k is 20 here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

from leakscale.audit.forms import FormBank
from leakscale.audit.forms.models import FormName
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.inference.forms import TextReader

__all__ = ["min_k", "read_forms"]

_SHARE: Final = 0.2
_METRIC: Final = "text(nats a token)"


def read_forms(
    bank: FormBank, engine: TextReader, *, batch_size: int, model: str, state: str = "base"
) -> tuple[ScoreTable, ScoreTable]:
    """Return the mean log-probability a token of every form, and that of its least probable fifth.

    A form of one token has neither. Texts are read without prompt or chat template.

    Args:
        bank: Whose forms are read, deep paraphrases included.
        engine: What reads them.
        batch_size: Texts that are read together.
        model: As the registration names it.
        state: State of the model.
    """
    means: dict[FormName, float] = {}
    least: dict[FormName, float] = {}
    texts = list(_texts(bank))
    for first in range(0, len(texts), batch_size):
        batch = texts[first : first + batch_size]
        for (name, _), values in zip(batch, engine.read_texts([text for _, text in batch]), strict=True):
            if values:
                means[name], least[name] = fmean(values), min_k(values)
    familiarity, lowest = (
        ScoreTable.of(bank, scores, model=model, kind=kind, metric=_METRIC, state=state)
        for scores, kind in ((means, ScoreKind.FAMILIARITY), (least, ScoreKind.MIN_K))
    )
    return familiarity, lowest


def min_k(values: Sequence[float]) -> float:
    """Return the mean of the least fifth of some log-probabilities, rounded down to a whole number of at least one."""
    return fmean(sorted(values)[: max(1, int(_SHARE * len(values)))])


def _texts(bank: FormBank) -> Iterator[tuple[FormName, str]]:
    for parent in bank.parents:
        for name, form in parent.forms():
            yield name, form.text
