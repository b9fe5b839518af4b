"""Parent items and their forms, with their right answers or without.

Whoever answers a bank gets it without golds. So what names a bank in public, `FormBank.digest`, is over what is asked
alone: it is the same either way, and nobody can test a guess of a gold against it. The golds are bound beside it, by
`FormBank.gold_commitment`.

Source: CleanScore 3 (paired forms), METHODS 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from leakscale.digests import json_digest
from leakscale.errors import InvalidRequestError

__all__ = ["NONCE_BYTES", "Criterion", "Form", "FormBank", "FormKind", "FormName", "Option", "Parent"]

NONCE_BYTES: Final = 32
"""Bytes of the nonce of a gold commitment."""
_COMMITMENT: Final = "leakscale-golds-v1"


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
    """The right answer; of a choice, the label of the right option. Empty where it is withheld."""
    options: tuple[Option, ...] = ()
    """In the order shown; empty unless the criterion is `choice`."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values; a gold that is withheld is left out."""
        options = [{"label": option.label, "text": option.text} for option in self.options]
        gold = {"gold": self.gold} if self.gold else {}
        return {"text": self.text} | gold | ({"options": options} if options else {})


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

    @property
    def golds(self) -> tuple[str, ...]:
        """Gold of each form that is there, in the order of `forms`."""
        return tuple(form.gold for _, form in self.forms())

    def with_golds(self, golds: Sequence[str]) -> Parent:
        """Return the parent with these golds.

        Args:
            golds: One a form that is there, in the order of `forms`.

        Raises:
            InvalidRequestError: If there are more or fewer.
        """
        form_count = sum(1 for _ in self.forms())
        if len(golds) != form_count:
            raise InvalidRequestError(
                f"parent '{self.parent_id}' has {form_count} forms and {len(golds)} golds; give each form one"
            )
        left = iter(golds)
        original, fresh, deep = (
            tuple(form and replace(form, gold=next(left)) for form in forms)
            for forms in ((self.original,), self.fresh, self.deep)
        )
        return replace(self, original=original[0] or self.original, fresh=fresh, deep=deep)

    def without_golds(self) -> Parent:
        """Return the parent with every gold withheld."""
        return self.with_golds([""] * len(self.golds))

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
        """Hex SHA-256 over what is asked, order included: everything in the bank but its golds."""
        return json_digest([parent.to_json() for parent in self.without_golds().parents]).hex()

    @cached_property
    def content_digest(self) -> str:
        """Hex SHA-256 over everything in the bank, golds included. Of a public frame only: it confirms a guess."""
        return json_digest([parent.to_json() for parent in self.parents]).hex()

    @property
    def has_golds(self) -> bool:
        """Tell whether every form has its gold."""
        return all(gold for parent in self.parents for gold in parent.golds)

    def without_golds(self) -> FormBank:
        """Return the bank with every gold withheld; its digest stays."""
        return FormBank(tuple(parent.without_golds() for parent in self.parents))

    def gold_commitment(self, nonce: bytes) -> str:
        """Return hex SHA-256 over the golds, what is asked and a nonce.

        Published beside the digest, it binds the golds; without the nonce it tells nothing of them.

        Args:
            nonce: 32 random bytes, kept as private as the golds.

        Raises:
            InvalidRequestError: If the nonce has another length, or a gold is withheld.
        """
        if len(nonce) != NONCE_BYTES:
            raise InvalidRequestError(f"a nonce of golds has {len(nonce)} bytes; it has {NONCE_BYTES}")
        if not self.has_golds:
            raise InvalidRequestError("the bank's golds are withheld; only whoever has them can commit to them")
        golds = [list(parent.golds) for parent in self.parents]
        return json_digest({"kind": _COMMITMENT, "nonce": nonce.hex(), "bank": self.digest, "golds": golds}).hex()

    def strata(self) -> dict[str, int]:
        """Return how many parents each stratum has, in the order of their first one."""
        counts: dict[str, int] = {}
        for parent in self.parents:
            counts[parent.stratum] = counts.get(parent.stratum, 0) + 1
        return counts
