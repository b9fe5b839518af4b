"""Banks of forms as the pieces of a sealed stream: a deposit with its golds, and forms without.

A gold takes the same room whatever it is, so that the size of a piece, which whoever carries it sees, tells nothing of
it. A locked bank has one gold a parent: the lock refuses a rewrite with another (`gold-differs`).
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.directory import BankRole
from leakscale.audit.forms.models import NONCE_BYTES, FormBank, Parent
from leakscale.audit.forms.reading import parent_of_fields
from leakscale.audit.registration.models import BankFacts, Registration
from leakscale.audit.remote.limits import FORM_BYTES_MAX, GOLD_BYTES, PIECE_BYTES_MAX, PIECE_PARENTS_MAX
from leakscale.digests import canonical_json
from leakscale.errors import InvalidRequestError
from leakscale.reading import parse_json

__all__ = [
    "Deposit",
    "deposit_pieces",
    "form_pieces",
    "read_deposit",
    "read_forms",
]

_VERSION: Final = 1
_LENGTH_BYTES: Final = 2
_FRAME_BYTES: Final = 64
"""Of a piece without its parents, at most."""
_JOINT_BYTES: Final = 3
"""Quotation marks and comma around a member."""


@dataclass(frozen=True, slots=True)
class Deposit:
    """What its author deposits of an audit, beside the registration."""

    nonce: bytes
    """Of the commitments to the golds."""
    banks: Mapping[BankRole, FormBank]

    def require_matches(self, registration: Registration) -> None:
        """Hold every bank against what was locked.

        Raises:
            InvalidRequestError: If a bank is missing or too many, or its forms or golds are not the locked ones; the
                message names bank and rule, and nothing of what is in the bank.
        """
        locked = {BankRole.AUDIT: registration.bank, BankRole.CONTROL: registration.control}
        for role, facts in locked.items():
            bank = self.banks.get(role)
            if (bank is None) is not (facts is None):
                there = "is missing" if bank is None else "is there, and the audit was locked without one"
                raise InvalidRequestError(f"deposit: the {role} bank {there} (bank-missing); deposit the locked banks")
            if bank is not None and facts is not None:
                self._require_same(bank, facts, role)

    def _require_same(self, bank: FormBank, facts: BankFacts, role: BankRole) -> None:
        rules = {
            "forms-changed": (bank.digest, len(bank.parents)) == (facts.digest, facts.parent_count),
            "gold-changed": bank.gold_commitment(self.nonce) == facts.gold_commitment,
        }
        if broken := [rule for rule, holds in rules.items() if not holds]:
            raise InvalidRequestError(
                f"deposit: the {role} bank is not the locked one ({broken[0]}); deposit the directory that was locked"
            )


def deposit_pieces(banks: Mapping[BankRole, FormBank], nonce: bytes) -> Iterator[bytes]:
    """Write a deposit as pieces, which `leakscale.sealing` seals; a piece is within `limits`.

    Args:
        banks: Locked banks with their golds.
        nonce: Of the audit's commitments.

    Raises:
        InvalidRequestError: If a gold or a form is too long, a gold differs among the forms of a parent, or a parent
            takes more than one piece; the message names the parent.
    """
    counts = {str(role): len(banks[role].parents) if role in banks else None for role in BankRole}
    yield canonical_json({"v": _VERSION, "nonce": nonce.hex(), "banks": counts})
    for role, bank in banks.items():
        yield from _pieces(role, bank, padded_gold)


def form_pieces(bank: FormBank, role: BankRole) -> Iterator[bytes]:
    """Write a bank without golds as pieces; raises as `deposit_pieces`."""
    return _pieces(role, bank, None)


def read_deposit(pieces: Iterable[bytes]) -> Deposit:
    """Read what `deposit_pieces` wrote.

    Raises:
        InvalidRequestError: If it is no deposit; the message names bank, place and rule, and nothing of the content.
    """
    iterator = iter(pieces)
    head = _fields(next(iterator, b""), ("v", "nonce", "banks"), place="its first piece")
    try:
        nonce, counts = bytes.fromhex(head["nonce"]), {BankRole(role): count for role, count in head["banks"].items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidRequestError("deposit: its first piece names no nonce or no banks (malformed)") from error
    if head["v"] != _VERSION or len(nonce) != NONCE_BYTES:
        raise InvalidRequestError(
            f"deposit: its first piece has not version {_VERSION} and a nonce of {NONCE_BYTES} bytes (malformed)"
        )
    parents: dict[BankRole, list[Parent]] = {role: [] for role, count in counts.items() if count is not None}
    for number, piece in enumerate(iterator, start=1):
        fields = _fields(piece, ("bank", "parents", "golds"), place=f"piece {number}")
        _take(parents, fields, golds=_golds(fields, number), place=f"piece {number}")
    for role, found in parents.items():
        _require_count(role, found, counts[role])
    return Deposit(nonce, {role: FormBank(tuple(found)) for role, found in parents.items()})


def read_forms(pieces: Iterable[bytes], role: BankRole) -> FormBank:
    """Read what `form_pieces` wrote of a bank. Whether it is the locked one, its digest tells.

    Raises:
        InvalidRequestError: If it is no bank without golds.
    """
    parents: dict[BankRole, list[Parent]] = {role: []}
    for number, piece in enumerate(pieces):
        fields = _fields(piece, ("bank", "parents"), place=f"piece {number}")
        _take(parents, fields, golds=None, place=f"piece {number}")
    return FormBank(tuple(parents[role]))


def padded_gold(parent: Parent) -> str:
    """Return the one gold of a parent's forms: base64 of its length, its bytes and zeros.

    Raises:
        InvalidRequestError: If it is too long, or the forms have several.
    """
    if len(set(parent.golds)) != 1:
        raise InvalidRequestError(
            f"parent '{parent.parent_id}': its forms have {len(set(parent.golds))} golds (gold-differs); a bank that "
            "can be locked has one"
        )
    gold = parent.golds[0].encode()
    if len(gold) > GOLD_BYTES:
        raise InvalidRequestError(
            f"parent '{parent.parent_id}': its gold has {len(gold):,} bytes, and a deposit takes {GOLD_BYTES:,}; "
            "audit it locally, or shorten the gold before the lock"
        )
    return base64.b64encode(len(gold).to_bytes(_LENGTH_BYTES, "big") + gold.ljust(GOLD_BYTES, b"\0")).decode()


def _pieces(role: BankRole, bank: FormBank, gold_of: Callable[[Parent], str] | None) -> Iterator[bytes]:
    for chunk in _cut(bank, role, gold_of):
        fields: dict[str, Any] = {"bank": str(role), "parents": [parent.without_golds().to_json() for parent in chunk]}
        if gold_of is not None:
            fields["golds"] = [gold_of(parent) for parent in chunk]
        yield canonical_json(fields)


def _cut(bank: FormBank, role: BankRole, gold_of: Callable[[Parent], str] | None) -> Iterator[list[Parent]]:
    """Cut a bank where a piece would hold too many parents or bytes."""
    chunk: list[Parent] = []
    size = _FRAME_BYTES
    for parent in bank.parents:
        _require_short(parent)
        gold_size = len(gold_of(parent)) + _JOINT_BYTES if gold_of else 0
        needed = len(canonical_json(parent.without_golds().to_json())) + _JOINT_BYTES + gold_size
        if _FRAME_BYTES + needed > PIECE_BYTES_MAX:
            raise InvalidRequestError(
                f"parent '{parent.parent_id}' of the {role} bank takes {needed:,} bytes, and a piece holds "
                f"{PIECE_BYTES_MAX:,}; audit it locally, or write shorter forms before the lock"
            )
        if chunk and (len(chunk) == PIECE_PARENTS_MAX or size + needed > PIECE_BYTES_MAX):
            yield chunk
            chunk, size = [], _FRAME_BYTES
        chunk.append(parent)
        size += needed
    if chunk:
        yield chunk


def _require_short(parent: Parent) -> None:
    for name, form in parent.forms():
        size = len("".join((form.text, *(option.text for option in form.options))).encode())
        if size > FORM_BYTES_MAX:
            raise InvalidRequestError(
                f"form '{name}' has {size:,} bytes with its options, and a deposit takes {FORM_BYTES_MAX:,}; audit it "
                "locally, or write a shorter one before the lock"
            )


def _fields(piece: bytes, names: Sequence[str], *, place: str) -> dict[str, Any]:
    """Return the members of a piece, which are exactly these."""
    try:
        fields = parse_json(piece)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or fields.keys() != set(names):
        raise InvalidRequestError(f"deposit: {place} is no object with {', '.join(names)} (malformed)") from None
    return fields


def _golds(fields: Mapping[str, Any], number: int) -> list[str]:
    """Return the golds of a piece without what they were padded with."""
    try:
        return [_unpadded(base64.b64decode(gold, validate=True)) for gold in fields["golds"]]
    except (TypeError, ValueError) as error:  # binascii and UTF-8 have subclasses of ValueError
        raise InvalidRequestError(f"deposit: piece {number} has a gold that is not padded (malformed)") from error


def _unpadded(content: bytes) -> str:
    length = int.from_bytes(content[:_LENGTH_BYTES], "big")
    gold, zeros = content[_LENGTH_BYTES : _LENGTH_BYTES + length], content[_LENGTH_BYTES + length :]
    if len(content) != _LENGTH_BYTES + GOLD_BYTES or length > GOLD_BYTES or any(zeros):
        raise ValueError("a gold has another form")
    return gold.decode()


def _take(
    parents: Mapping[BankRole, list[Parent]], fields: Mapping[str, Any], *, golds: Sequence[str] | None, place: str
) -> None:
    """Add the parents of a piece to those of its bank."""
    rows, bank = fields["parents"], fields["bank"]
    if bank not in list(parents) or not isinstance(rows, list) or (golds is not None and len(golds) != len(rows)):
        raise InvalidRequestError(f"deposit: {place} is of no bank, or has not one gold a parent (malformed)")
    seen = {parent.parent_id for parent in parents[BankRole(bank)]}
    for row, gold in zip(rows, golds or itertools.repeat(None), strict=False):
        parent = _parent(row, gold, place=f"{bank} bank, {place}")
        if parent.parent_id in seen:
            raise InvalidRequestError(f"deposit: {bank} bank, {place}: a parent comes twice (parent-repeated)")
        seen.add(parent.parent_id)
        parents[BankRole(bank)].append(parent)


def _parent(row: Any, gold: str | None, *, place: str) -> Parent:
    try:
        if gold is None:
            return parent_of_fields(row, source=place, golds="withheld")
        parent_of_fields(row, source=place, golds="withheld")
        parent = parent_of_fields(row | {"gold": gold}, source=place)
        _require_short(parent)
        return parent
    except InvalidRequestError:  # its message quotes the parent
        raise InvalidRequestError(
            f"deposit: {place}: a parent breaks a rule of banks (malformed); deposit the directory that was locked"
        ) from None


def _require_count(role: BankRole, found: Sequence[Parent], wanted: Any) -> None:
    if not found or len(found) != wanted:
        raise InvalidRequestError(
            f"deposit: the {role} bank has {len(found):,} parents, and its first piece says another number (malformed)"
        )
