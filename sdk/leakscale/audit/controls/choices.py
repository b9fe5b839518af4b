"""How often the option listed first was chosen, by form and by whether the parent was exposed.

A leak that plants a letter pulls a scorer of sentences to whichever option comes first; the pull tracks how much of the
leaked text a form still has.

Source: CleanScore 7.12 (Figure 13); METHODS 9.11.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.controls import heads
from leakscale.audit.forms.models import Criterion, FormBank
from leakscale.audit.scoring.answers import chosen_option
from leakscale.tables import PERCENT, Table

__all__ = ["first_option_pull"]

_Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FirstOptionRow:
    """Choices on one form of one group of parents, in one state."""

    state: str
    parents: str
    """`exposed` or `untouched`."""
    form: str
    """`original`, `fresh-1`, ..."""
    choices: int
    first_chosen: float = field(metadata=PERCENT)
    """Share on which the option listed first was chosen."""
    first_is_right: float = field(metadata=PERCENT)
    """Share on which it is the right one."""


def first_option_pull(
    bank: FormBank, answers: Mapping[str, Sequence[FormAnswer]], exposed: Sequence[str], *, choice_score: str
) -> Table[FirstOptionRow]:
    """Count the choices of every state.

    Args:
        bank: The audited bank.
        answers: Of each state, by what the table is to call it.
        exposed: Ids of the exposed parents.
        choice_score: As registered.
    """
    if all(parent.criterion is not Criterion.CHOICE for parent in bank.parents):
        return heads.FIRST_OPTION.withheld("no parent of the bank is a choice")
    chosen = set(exposed)
    rows = [row for state, given in answers.items() for row in _rows(bank, state, given, chosen, choice_score)]
    return heads.FIRST_OPTION.filled(
        rows,
        "Where the first option is chosen more often than it is right, something pulls to it. `original` is the public "
        "form.",
    )


def _rows(
    bank: FormBank, state: str, answers: Sequence[FormAnswer], exposed: set[str], choice_score: str
) -> Iterator[FirstOptionRow]:
    forms = {str(name): (parent.parent_id, form) for parent in bank.parents for name, form in parent.forms()}
    counts: defaultdict[_Cell, list[tuple[bool, bool]]] = defaultdict(list)
    for answer in answers:
        if answer.options and not answer.is_rerun:
            parent_id, form = forms[answer.form]
            cell = ("exposed" if parent_id in exposed else "untouched", answer.form.rpartition("/")[2])
            is_first = chosen_option(answer, form, choice_score) == 0
            counts[cell].append((is_first, form.options[0].label == form.gold))
    for (parents, form_label), seen in sorted(counts.items()):
        first, right = (sum(each[place] for each in seen) / len(seen) for place in (0, 1))
        yield FirstOptionRow(state, parents, form_label, len(seen), first, right)
