"""Which rewrites to read first: the ones most likely to ask another question than their original.

    risk = number of findings that ask for a reader
         + share of words of relation that were exchanged      (0 to 1)
         + similarity to the original over its bound           (0 to 1)
         + length ratio over its bound, both as logarithms     (0 to 1)

It orders the reading and decides nothing. Words of relation (`each`, `left`, `more`, `not`) carry what the numbers of a
question have to do with each other, and no mechanical check looks at them; the list is English.

Source: CleanScore 7.7 (the reading is prioritised, not exhaustive). The paper ranks by the models' disagreement, which
nobody has before the lock.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from leakscale.audit.checks import CheckSettings, Finding, Severity, check_bank
from leakscale.audit.directory import BankRole
from leakscale.audit.forms import Form, FormBank, FormName, Parent
from leakscale.digests import json_digest
from leakscale.stats.items.similarity import jaccard, words

__all__ = ["RELATIONS", "ReviewItem", "review_queue"]

RELATIONS: Final = frozenset(
    words(
        "all any both each every per no not never without none except only least most more less fewer than total sum "
        "together left remaining remain remains rest altogether before after until again other another same different "
        "average times percent share between difference older younger taller shorter cheaper first last next"
    )
)
"""Words of relation."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One rewrite to read beside its original."""

    bank: BankRole
    name: FormName
    parent: Parent
    form: Form
    findings: tuple[Finding, ...]
    """What asks for a reader."""
    relations: tuple[str, ...]
    """Words of relation that only one of the two texts has, e.g. `-each`, `+left`."""
    similarity: float
    """Jaccard index of the two texts' words."""
    length_ratio: float
    """Words of the rewrite over words of the original."""
    risk: float

    @property
    def digest(self) -> str:
        """Hex SHA-256 over both texts with their answers: a decision is about these bytes and no others."""
        return json_digest([self.parent.original.to_json(), self.form.to_json()]).hex()

    @property
    def is_flagged(self) -> bool:
        """Tell whether a rule asks for a reader."""
        return bool(self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Say why the form stands where it does."""
        flags = tuple(f"{finding.rule}: {finding.value}" for finding in self.findings)
        exchanged = (f"relations: {' '.join(self.relations)}",) if self.relations else ()
        return (*flags, *exchanged, f"similarity {self.similarity:.2f}", f"length {self.length_ratio:.2f}")


def review_queue(bank: FormBank, settings: CheckSettings, *, role: BankRole) -> list[ReviewItem]:
    """Return every rewrite of a bank, riskiest first; equal ones in the order of the bank."""
    flagged: dict[FormName, list[Finding]] = {}
    for finding in check_bank(bank, settings):
        if finding.severity is Severity.READ and finding.form is not None:
            flagged.setdefault(finding.form, []).append(finding)
    items = [
        _item(role, name, parent, form, findings=tuple(flagged.get(name, ())), settings=settings)
        for parent in bank.parents
        for name, form in parent.rewrites()
    ]
    return sorted(items, key=lambda item: -item.risk)


def _item(
    role: BankRole,
    name: FormName,
    parent: Parent,
    form: Form,
    *,
    findings: tuple[Finding, ...],
    settings: CheckSettings,
) -> ReviewItem:
    before, after = words(parent.original.text), words(form.text)
    similarity = jaccard(parent.original.text, form.text) if before or after else 1.0
    ratio = len(after) / len(before) if before else 1.0
    exchanged, share = _exchanged_relations(before, after)
    closeness = min(1.0, similarity / settings.similarity_max)
    risk = len(findings) + share + closeness + _length_share(ratio, settings)
    return ReviewItem(role, name, parent, form, findings, exchanged, similarity, ratio, risk)


def _exchanged_relations(before: Iterable[str], after: Iterable[str]) -> tuple[tuple[str, ...], float]:
    ours = Counter(word for word in before if word in RELATIONS)
    theirs = Counter(word for word in after if word in RELATIONS)
    gone, new = sorted((ours - theirs).elements()), sorted((theirs - ours).elements())
    whole = (ours | theirs).total()
    return (*(f"-{word}" for word in gone), *(f"+{word}" for word in new)), (
        len(gone) + len(new)
    ) / whole if whole else 0.0


def _length_share(ratio: float, settings: CheckSettings) -> float:
    """Return how far a length ratio is on its way to the bound on its side, on a scale of factors."""
    bound = settings.ratio_min if ratio < 1 else settings.ratio_max
    if ratio <= 0 or bound in (0, 1):
        return 1.0 if ratio <= 0 or ratio != 1 else 0.0
    return min(1.0, math.log(ratio) / math.log(bound))
