"""Every mechanical check of a bank, under one set of settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from leakscale.audit.checks.answers import check_answers
from leakscale.audit.checks.characters import check_characters
from leakscale.audit.checks.findings import Finding, Rule
from leakscale.audit.checks.numbers import check_numbers
from leakscale.audit.checks.wording import check_lengths, check_similarity
from leakscale.audit.forms.models import FormBank, FormKind, FormName, Parent
from leakscale.errors import InvalidRequestError
from leakscale.stats import comparable_depth
from leakscale.stats.items.similarity import jaccard, words

__all__ = ["CheckSettings", "check_bank"]


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Bounds of the mechanical checks, fixed with the registration."""

    similarity_max: float = 0.80
    """Token-set Jaccard index, in (0, 1], that no form may reach with its original or with another of its parent."""
    ratio_min: float = 0.4
    """Least words of a rewrite, as a share of its original's."""
    ratio_max: float = 2.5
    characters_max: int = 4000
    depth_difference_max: float = 0.10
    """Most that the mean similarities of two fresh forms, each over all parents, may lie apart once the difference is
    significant at 5 % (signed ranks, Holm)."""

    def __post_init__(self) -> None:
        ranges = {
            "similarity_max": (0 < self.similarity_max <= 1, "above 0 and at most 1"),
            "ratio_min": (0 <= self.ratio_min <= 1, "0 to 1"),
            "ratio_max": (1 <= self.ratio_max <= 100, "1 to 100"),
            "characters_max": (1 <= self.characters_max <= 65_536, "1 to 65536"),
            "depth_difference_max": (0 <= self.depth_difference_max <= 1, "0 to 1"),
        }
        for name, (is_in_range, rule) in ranges.items():
            if not is_in_range:
                raise InvalidRequestError(f"checks.{name} is {getattr(self, name)}; it is {rule}")

    def to_json(self) -> dict[str, float | int]:
        """Return the fields as plain JSON values."""
        return asdict(self)


def check_bank(bank: FormBank, settings: CheckSettings | None = None) -> list[Finding]:
    """Check every parent and the bank as a whole.

    Returns:
        Findings in the order of the parents, those about the whole bank last. No finding of severity `failure` means
        that the bank may be locked.
    """
    settings = settings or CheckSettings()
    findings = [finding for parent in bank.parents for finding in _check_parent(parent, bank, settings)]
    return findings + list(_check_depth(bank, settings))


def _check_parent(parent: Parent, bank: FormBank, settings: CheckSettings) -> Iterator[Finding]:
    yield from _check_written(parent, bank.fresh_count)
    yield from check_numbers(parent)
    yield from check_answers(parent)
    yield from check_characters(parent)
    yield from check_lengths(
        parent,
        characters_max=settings.characters_max,
        ratio_min=settings.ratio_min,
        ratio_max=settings.ratio_max,
    )
    yield from check_similarity(parent, similarity_max=settings.similarity_max)


def _check_written(parent: Parent, fresh_count: int) -> Iterator[Finding]:
    # A bank without places for fresh forms is a frame; as a bank, each of its parents lacks one.
    fresh = parent.fresh + (None,) * (max(1, fresh_count) - len(parent.fresh))
    for kind, forms in ((FormKind.FRESH, fresh), (FormKind.DEEP, parent.deep)):
        for number, form in enumerate(forms, start=1):
            if form is None:
                name = FormName(parent.parent_id, kind, number)
                yield Finding(Rule.FORM_MISSING, name, "it is not written; every parent needs all its forms", "missing")


def _check_depth(bank: FormBank, settings: CheckSettings) -> Iterator[Finding]:
    """Find fresh forms that, over all parents, keep more of the original than the others."""
    parents = [parent for parent in bank.parents if words(parent.original.text)]
    rows = [
        [np.nan if form is None else jaccard(parent.original.text, form.text) for form in parent.fresh]
        + [np.nan] * (bank.fresh_count - len(parent.fresh))
        for parent in parents
    ]
    similarities = np.array(rows).reshape(len(parents), bank.fresh_count)
    if bank.fresh_count < 2 or not parents or np.isnan(similarities).any():
        return  # a form that is missing is found already, and depths are compared once all are there
    for pair in comparable_depth(similarities).pairs:
        if abs(pair.mean_difference) > settings.depth_difference_max and pair.adjusted_p_value < 0.05:
            deeper, shallower = (pair.first, pair.second) if pair.mean_difference < 0 else (pair.second, pair.first)
            yield Finding(
                Rule.DEPTH_DIFFERS,
                None,
                f"fresh form {shallower + 1} keeps {abs(pair.mean_difference):.3f} more of the original's words than "
                f"fresh form {deeper + 1} on average (p = {pair.adjusted_p_value:.2g}), at most "
                f"{settings.depth_difference_max:g} is allowed; rewrite the shallower ones",
                f"{abs(pair.mean_difference):.3f}",
            )
