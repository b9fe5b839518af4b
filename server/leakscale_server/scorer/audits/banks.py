"""Forms with right answers, as the vault has them: read once, and remembered for the chunks that follow."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from leakscale.audit.answering.answers import scored_keys
from leakscale.audit.forms.models import Criterion, Form, FormBank, FormName

__all__ = ["KeptBanks", "OpenedBank", "OpenedDeposit", "PlacedForm"]

_BYTES_MAX: Final = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PlacedForm:
    """A form, and how an answer to it is judged."""

    name: FormName
    form: Form
    criterion: Criterion


@dataclass(frozen=True, slots=True)
class OpenedBank:
    """A bank with right answers, by the names of its forms. Never leaves the scorer."""

    bank: FormBank
    forms: Mapping[str, PlacedForm]
    _keys: dict[int, dict[tuple[str, int], int]] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: FormBank) -> OpenedBank:
        """Name the forms of a bank."""
        forms = {
            str(name): PlacedForm(name, form, parent.criterion)
            for parent in bank.parents
            for name, form in parent.forms()
        }
        return cls(bank, forms)

    def places(self, answer_count: int) -> Mapping[tuple[str, int], int]:
        """Return the place of each answer that a set needs, by form and number.

        Args:
            answer_count: Generated answers a form.
        """
        if answer_count not in self._keys:
            keys = scored_keys(self.bank, answer_count=answer_count)
            self._keys[answer_count] = {key: place for place, key in enumerate(keys)}
        return self._keys[answer_count]


@dataclass(frozen=True, slots=True)
class OpenedDeposit:
    """The banks of a deposit, by their roles."""

    banks: Mapping[str, OpenedBank]
    byte_count: int
    """Of the pieces that they were read from."""


class _Place:
    """Where a deposit is read into, once; others wait for it alone."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.opened: OpenedDeposit | None = None


class KeptBanks:
    """The deposits that were asked for last. Safe to use from several threads.

    Args:
        bytes_max: Of what they were read from, together; one is remembered whatever its size.
    """

    def __init__(self, *, bytes_max: int = _BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], _Place] = OrderedDict()

    def get(self, key: tuple[str, str], read: Callable[[], OpenedDeposit]) -> Mapping[str, OpenedBank]:
        """Return the banks of a deposit, read if they are not remembered."""
        with self._lock:
            place = self._kept.setdefault(key, _Place())
            self._kept.move_to_end(key)
        with place.lock:
            if place.opened is None:
                place.opened = read()
            banks = place.opened.banks
        with self._lock:
            while len(self._kept) > 1 and self._byte_count() > self._bytes_max:
                self._kept.popitem(last=False)
        return banks

    def _byte_count(self) -> int:
        return sum(place.opened.byte_count for place in self._kept.values() if place.opened is not None)
