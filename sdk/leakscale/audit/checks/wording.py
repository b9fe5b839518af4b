"""How much of the original a rewrite keeps, and how long it is.

Both thresholds hold for every domain. The paper held one of its two domains to the first, and 21 of 200 parents of the
other had a near-copy.

Source: CleanScore 7.1, 7.7; METHODS 7.2, 7.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from leakscale.audit.checks.characters import folded, is_same_text
from leakscale.audit.checks.findings import Finding, Rule
from leakscale.audit.forms.models import Form, FormName, Parent
from leakscale.stats.items.similarity import jaccard, words

__all__ = ["check_lengths", "check_similarity"]


def check_lengths(parent: Parent, *, characters_max: int, ratio_min: float, ratio_max: float) -> Iterator[Finding]:
    """Hold each rewrite to a length in characters and to a share of the original's words."""
    original_count = len(words(parent.original.text))
    for name, form in parent.rewrites():
        if len(form.text) > characters_max:
            yield Finding(
                Rule.TOO_LONG,
                name,
                f"it has {len(form.text):,} characters, at most {characters_max:,} are allowed; shorten it",
                f"{len(form.text)}",
            )
        ratio = len(words(form.text)) / original_count if original_count else 1.0
        if not ratio_min <= ratio <= ratio_max:
            yield Finding(
                Rule.LENGTH_RATIO,
                name,
                f"it has {ratio:.2f} times the original's words, {ratio_min:g} to {ratio_max:g} are allowed; "
                "a question of another length is another question",
                f"{ratio:.2f}",
            )


def check_similarity(parent: Parent, *, similarity_max: float) -> Iterator[Finding]:
    """Hold each rewrite apart from the original, and the rewrites of a parent from one another."""
    rewrites = list(parent.rewrites())
    for name, form in rewrites:
        if is_same_text(form.text, parent.original.text):
            yield Finding(Rule.FORM_REPEATED, name, "it is the original, letter for letter; rewrite it", "original")
        elif (similarity := _similarity(parent.original, form)) >= similarity_max:
            yield Finding(
                Rule.NEAR_COPY,
                name,
                f"it shares {similarity:.3f} of its distinct words with the original, below {similarity_max:g} is "
                "asked; rewrite it",
                f"{similarity:.3f}",
            )
    for (first, one), (second, other) in itertools.combinations(rewrites, 2):
        yield from _pair(first, one, second, other, similarity_max)


def _pair(first: FormName, one: Form, second: FormName, other: Form, similarity_max: float) -> Iterator[Finding]:
    label = str(first).rpartition("/")[2]
    if is_same_text(one.text, other.text):
        yield Finding(Rule.FORM_REPEATED, second, f"it is {label}, letter for letter; write another", label)
    elif (similarity := _similarity(one, other)) >= similarity_max:
        yield Finding(
            Rule.FORMS_ALIKE,
            second,
            f"it shares {similarity:.3f} of its distinct words with {label}, below {similarity_max:g} is asked; two "
            "forms that read alike are one form counted twice",
            f"{similarity:.3f}",
        )


def _similarity(one: Form, other: Form) -> float:
    """Return the Jaccard index of two texts' words; of two without a word, of their characters."""
    if words(one.text) or words(other.text):
        return jaccard(one.text, other.text)
    ours, theirs = set(folded(one.text)), set(folded(other.text))
    return len(ours & theirs) / len(ours | theirs)
