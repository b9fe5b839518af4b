"""Parent items and their forms.

Source: CleanScore 3 (paired forms), METHODS 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from leakscale.digests import json_digest

__all__ = ["Criterion", "Form", "FormBank", "FormKind", "FormName", "Option", "Parent"]


class Criterion(StrEnum):
    """How an answer to a form is judged."""

    NUMERIC = "numeric"
    """The registered parser finds the gold number in the answer."""
    CHOICE = "choice"
    """The option with the key is the most probable one."""
    EXACT = "exact"
    """The answer, with white space at its ends removed, is the gold answer."""


class FormKind(StrEnum):
    """What a form is to its parent."""

    ORIGINAL = "original"
    FRESH = "fresh"
    DEEP = "deep"


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a form."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Form:
    """One wording of a parent item."""

    text: str
    gold: str
    """The right answer; of a choice, the label of the right option."""
    options: tuple[Option, ...] = ()
    """In the order shown; empty unless the criterion is `choice`."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        options = [{"label": option.label, "text": option.text} for option in self.options]
        return {"text": self.text, "gold": self.gold} | ({"options": options} if options else {})


@dataclass(frozen=True, slots=True, order=True)
class FormName:
    """Which form of which parent."""

    parent_id: str
    kind: FormKind
    number: int = 0
    """From 1 among the parent's fresh or deep forms; 0 for the original."""

    def __str__(self) -> str:
        label = str(self.kind) if self.kind is FormKind.ORIGINAL else f"{self.kind}-{self.number}"
        return f"{self.parent_id}/{label}"


@dataclass(frozen=True, slots=True)
class Parent:
    """One question of a benchmark with its forms."""

    parent_id: str
    criterion: Criterion
    original: Form
    fresh: tuple[Form | None, ...] = ()
    """K of them; None where one is not written."""
    deep: tuple[Form | None, ...] = ()
    stratum: str = ""

    def forms(self) -> Iterator[tuple[FormName, Form]]:
        """Yield the forms that are there, the original first."""
        yield FormName(self.parent_id, FormKind.ORIGINAL), self.original
        yield from self.rewrites()

    def rewrites(self) -> Iterator[tuple[FormName, Form]]:
        """Yield the fresh and the deep forms that are there."""
        for kind, forms in ((FormKind.FRESH, self.fresh), (FormKind.DEEP, self.deep)):
            for number, form in enumerate(forms, start=1):
                if form is not None:
                    yield FormName(self.parent_id, kind, number), form

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values, as `read_bank` takes them."""
        return {
            "id": self.parent_id,
            "stratum": self.stratum,
            "criterion": str(self.criterion),
            "original": self.original.to_json(),
            "fresh": [form and form.to_json() for form in self.fresh],
            "deep": [form and form.to_json() for form in self.deep],
        }


@dataclass(frozen=True)
class FormBank:
    """Parents in the order in which they were drawn, or in which their file has them."""

    parents: tuple[Parent, ...]

    @cached_property
    def fresh_count(self) -> int:
        """Fresh forms a parent should have: the most that one of them has places for."""
        return max((len(parent.fresh) for parent in self.parents), default=0)

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 over everything in the bank, order included."""
        return json_digest([parent.to_json() for parent in self.parents]).hex()

    def strata(self) -> dict[str, int]:
        """Return how many parents each stratum has, in the order of their first one."""
        counts: dict[str, int] = {}
        for parent in self.parents:
            counts[parent.stratum] = counts.get(parent.stratum, 0) + 1
        return counts
