"""The answer of a rewrite is the original's, byte for byte, and so are the options it is chosen from.

Source: CleanScore 7.1 (gold answer, option integrity); METHODS 7.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.audit.checks.findings import Finding, Rule
from leakscale.audit.forms.models import Option, Parent

__all__ = ["check_answers"]


def check_answers(parent: Parent) -> Iterator[Finding]:
    """Compare gold answer and options of each rewrite with those of the original."""
    original = parent.original
    for name, form in parent.rewrites():
        if form.gold != original.gold:
            change = f"{form.gold!r} for {original.gold!r}"
            yield Finding(
                Rule.GOLD_DIFFERS, name, f"its gold answer is another ({change}); a rewrite keeps the answer", change
            )
        if form.options != original.options:
            change = _change(original.options, form.options)
            yield Finding(
                Rule.OPTIONS_DIFFER,
                name,
                f"its options are not the original's ({change}); copy them as they are",
                change,
            )


def _change(before: tuple[Option, ...], after: tuple[Option, ...]) -> str:
    if sorted((option.label, option.text) for option in before) == sorted((o.label, o.text) for o in after):
        return "in another order"
    if sorted(option.text for option in before) == sorted(option.text for option in after):
        return "with other labels"
    if len(before) != len(after):
        return f"{len(after)} for {len(before)}"
    first = next(new for old, new in zip(before, after, strict=True) if old != new)
    return f"option {first.label} reads {first.text[:60]!r}"
