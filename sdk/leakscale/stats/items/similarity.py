"""How much of the original's wording a fresh form keeps.

A form that nearly copies its original is answered like it, exposed or not, and pulls the gap of its parent to zero.
Similarity is the Jaccard index of the two *sets* of lower-cased words: one of 18 distinct words exchanged gives 17/19.

Source: CleanScore 7.7, Table 9; METHODS 7.2. The paper does not say how it finds words; `words` is our rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptySampleError, ScoreError

__all__ = ["NearCopies", "find_near_copies", "jaccard", "parent_similarity", "word_change", "words"]

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’\-][^\W\d_]+)*")
"""A number with its separators, or letters with inner apostrophes and hyphens."""


def words(text: str) -> tuple[str, ...]:
    """Return the lower-cased words and numbers of a text in order, without punctuation."""
    return tuple(_WORD.findall(text.lower()))


def jaccard(first: str, second: str) -> float:
    """Return the share of their distinct words that two texts have in common, in [0, 1].

    Raises:
        ScoreError: If neither text has a word.
    """
    one, two = set(words(first)), set(words(second))
    if not one | two:
        raise ScoreError("two texts without a word cannot be compared; check that the forms are not empty")
    return len(one & two) / len(one | two)


def word_change(original: str, form: str) -> float:
    """Return the share of the original's words that the form no longer has, repetitions counted, in [0, 1].

    Raises:
        ScoreError: If the original has no word.
    """
    before = Counter(words(original))
    if not before:
        raise ScoreError("the original has no word; check that it is not empty")
    return (before - Counter(words(form))).total() / before.total()


@dataclass(frozen=True, slots=True, eq=False)
class NearCopies:
    """Which fresh forms are too close to their original."""

    similarities: NDArray[np.float64]
    """Jaccard index of each fresh form with its original, shape (parents, K); NaN where the form is missing."""
    threshold: float
    """A form at or above it is a near-copy."""
    word_changes: tuple[float, ...]
    """Share of the original's words that each near-copy changed, ascending."""
    method: str = "Jaccard index of word sets"

    @property
    def is_near_copy(self) -> NDArray[np.bool_]:
        """Tell for each fresh form whether it is a near-copy, shape (parents, K)."""
        return np.asarray(self.similarities >= self.threshold)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Tell for each parent whether any of its fresh forms is a near-copy, shape (parents,)."""
        return np.asarray(self.is_near_copy.any(axis=1))

    @property
    def flagged_count(self) -> int:
        """Number of parents with a near-copy."""
        return int(self.flagged.sum())

    @property
    def counts_by_form(self) -> tuple[int, ...]:
        """Near-copies among first forms, second forms, ..."""
        return tuple(int(count) for count in self.is_near_copy.sum(axis=0))

    @property
    def closest(self) -> float:
        """Greatest similarity of any form."""
        return float(np.nanmax(self.similarities))

    @property
    def median_word_change(self) -> float | None:
        """Median of `word_changes`; None without a near-copy."""
        return float(np.median(self.word_changes)) if self.word_changes else None

    def to_dict(self) -> dict[str, object]:
        """Return the counts and the flagged rows as JSON-ready values; the texts stay where they are."""
        return {
            "parent_count": int(self.similarities.shape[0]),
            "threshold": self.threshold,
            "flagged_count": self.flagged_count,
            "flagged_rows": np.flatnonzero(self.flagged).tolist(),
            "counts_by_form": list(self.counts_by_form),
            "closest": self.closest,
            "median_word_change": self.median_word_change,
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"{self.flagged_count} of {self.similarities.shape[0]} parents have a fresh form with similarity "
            f"{self.threshold:g} or more (by form {', '.join(map(str, self.counts_by_form))}); "
            f"the closest reaches {self.closest:.3f}"
        )


def find_near_copies(
    originals: Sequence[str], fresh: Sequence[Sequence[str | None]], *, threshold: float = 0.80
) -> NearCopies:
    """Compare each fresh form with its original.

    Args:
        originals: Text of each parent's public form.
        fresh: Texts of its fresh forms, K for every parent, in the same order; None marks a missing form.
        threshold: Least similarity of a near-copy, in (0, 1]; CleanScore's verifier uses 0.80.

    Raises:
        EmptySampleError: If there is no fresh form at all.
        ParameterError: If the threshold is out of range.
        ScoreError: If the numbers of forms differ, an original has no word, or a form is no text. A row that is one
            text is refused: Python would read it as a form a letter.

    It sees words, not meaning: a form with other words may ask for the same numbers in the same way, and one that
    exchanges a single number may be a different problem.

    Source: METHODS 7.2.
    """
    threshold = parameters.tolerance(threshold, "threshold", 0, 1)
    _require_texts(originals, fresh)
    widths = {len(forms) for forms in fresh}
    if len(originals) != len(fresh) or len(widths) > 1:
        raise ScoreError(f"{len(originals)} originals, {len(fresh)} rows of {sorted(widths)} forms; pass K forms each")
    pairs = list(zip(originals, fresh, strict=True))
    similarities = np.array(
        [[np.nan if form is None else jaccard(original, form) for form in forms] for original, forms in pairs]
    )
    if similarities.size == 0 or np.isnan(similarities).all():
        raise EmptySampleError("no parent has a fresh form; there is nothing to compare with the originals")
    changes = [
        word_change(original, form)
        for (original, forms), row in zip(pairs, similarities >= threshold, strict=True)
        for form, near in zip(forms, row.tolist(), strict=True)
        if near and form is not None
    ]
    return NearCopies(similarities, threshold, tuple(sorted(changes)))


def _require_texts(originals: Sequence[str], fresh: Sequence[Sequence[str | None]]) -> None:
    lone = [forms for forms in (originals, fresh, *fresh) if isinstance(forms, str)]
    if lone:
        raise ScoreError(f"the text {lone[0]!r} stands where a list of texts belongs; pass e.g. [{lone[0]!r}]")
    wrong: list[object] = [text for text in originals if not isinstance(text, str)]
    wrong += [form for forms in fresh for form in forms if not (form is None or isinstance(form, str))]
    if wrong:
        raise ScoreError(f"{wrong[0]!r} is no text; pass the texts of the forms, None only for a missing fresh form")


def parent_similarity(similarities: ArrayLike) -> NDArray[np.float64]:
    """Return the mean similarity of each parent's fresh forms, shape (parents,); NaN where it has none.

    Args:
        similarities: Shape (parents, K) with NaN for missing forms, or already (parents,).

    Raises:
        ScoreError: If the shape is another, or a similarity lies outside [0, 1].
    """
    values = parameters.floats(similarities, "similarities", error=ScoreError)
    if values.ndim not in {1, 2}:
        raise ScoreError(f"similarities have shape {values.shape}; pass (parents, K) or (parents,)")
    if np.any((values < 0) | (values > 1)):
        raise ScoreError("a similarity lies outside 0..1; pass Jaccard indices")
    if values.ndim == 1:
        return values
    present = ~np.isnan(values)
    counts = present.sum(axis=1)
    return np.where(counts > 0, np.where(present, values, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)
