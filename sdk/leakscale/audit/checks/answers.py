"""The answer of a rewrite is the original's, byte for byte, and so are the options it is chosen from.

Source: CleanScore 7.1 (gold answer, option integrity); METHODS 7.3.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from leakscale.audit.checks.findings import Finding, Rule
from leakscale.audit.forms.models import Criterion, FormBank, FormKind, FormName, Option, Parent
from leakscale.audit.scoring.numbers import read_number
from leakscale.errors import InvalidRequestError

__all__ = ["check_answers", "require_readable_golds"]


def check_answers(parent: Parent) -> Iterator[Finding]:
    """See that the gold answer can be met, and compare gold answer and options of each rewrite with the original's."""
    original = parent.original
    if (why := _unreadable(parent)) is not None:
        yield Finding(Rule.GOLD_UNREADABLE, FormName(parent.parent_id, FormKind.ORIGINAL), why, original.gold[:60])
    shown = [_shown(option.text) for option in original.options]
    if twice := next((option for option in original.options if shown.count(_shown(option.text)) > 1), None):
        yield Finding(
            Rule.OPTIONS_REPEATED,
            FormName(parent.parent_id, FormKind.ORIGINAL),
            f"option {twice.label} reads as another one does ({twice.text[:60]!r}), so no answer can tell them apart; "
            "leave the item out of the benchmark",
            twice.text[:60],
        )
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


def require_readable_golds(frame: FormBank, *, source: str) -> None:
    """Refuse a benchmark with a gold answer that no answer can meet, before a parent with it is drawn.

    Raises:
        InvalidRequestError: If there is one; the message names the parent.
    """
    for parent in frame.parents:
        if (why := _unreadable(parent)) is not None:
            raise InvalidRequestError(f"{source}: parent '{parent.parent_id}': {Rule.GOLD_UNREADABLE}: {why}")


def _unreadable(parent: Parent) -> str | None:
    gold = parent.original.gold
    if parent.criterion is not Criterion.NUMERIC or read_number(gold) is not None:
        return None
    return (
        f"its gold answer {gold[:60]!r} is not one number that the parser reads, and the criterion is numeric; write "
        "the number, or the criterion exact"
    )


def _shown(text: str) -> str:
    """Return what of a text can be seen: case and signs stay, for they can be all that tells two options apart."""
    seen = "".join(each for each in unicodedata.normalize("NFC", text) if unicodedata.category(each) != "Cf")
    return " ".join(seen.split())


def _change(before: tuple[Option, ...], after: tuple[Option, ...]) -> str:
    if sorted((option.label, option.text) for option in before) == sorted((o.label, o.text) for o in after):
        return "in another order"
    if sorted(option.text for option in before) == sorted(option.text for option in after):
        return "with other labels"
    if len(before) != len(after):
        return f"{len(after)} for {len(before)}"
    first = next(new for old, new in zip(before, after, strict=True) if old != new)
    return f"option {first.label} reads {first.text[:60]!r}"
