"""A deposit is read back as it was written, its sizes tell nothing of its golds, and what is broken is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.audit.builders import bank as a_bank
from tests.audit.builders import choice, line
from tests.audit.registration.builders import NOW, an_audit

from leakscale.audit.directory import BankRole
from leakscale.audit.forms import FormBank, read_bank
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.remote.limits import GOLD_BYTES, PIECE_BYTES_MAX
from leakscale.audit.remote.pieces import (
    Deposit,
    deposit_pieces,
    form_pieces,
    read_deposit,
    read_forms,
)
from leakscale.errors import InvalidRequestError

NONCE = bytes(range(32))


def the_banks(folder: Path, *, parents: int = 3) -> dict[BankRole, FormBank]:
    """Return an audit bank and a control bank."""
    audit = a_bank(folder, *(line(f"p{number}", deep=["What is left of the pencils?"]) for number in range(parents)))
    return {BankRole.AUDIT: audit, BankRole.CONTROL: a_bank(folder, choice(stratum="easy"))}


def test_a_deposit_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """Scores of the scorer are those of the directory that was locked."""
    banks = the_banks(tmp_path, parents=600)
    pieces = list(deposit_pieces(banks, NONCE))
    deposit = read_deposit(pieces)

    assert deposit == Deposit(NONCE, banks)
    assert len(pieces) == 5
    assert max(map(len, pieces)) <= PIECE_BYTES_MAX


def test_long_forms_make_more_pieces(tmp_path: Path) -> None:
    """No piece is larger than what the wire takes."""
    banks = {BankRole.AUDIT: a_bank(tmp_path, *(line(f"p{n}", original="é" * 30_000) for n in range(40)))}
    pieces = list(deposit_pieces(banks, NONCE))

    assert len(pieces) == 4
    assert max(map(len, pieces)) <= PIECE_BYTES_MAX
    assert read_deposit(pieces).banks == banks


@pytest.mark.parametrize("gold", ["1", "é" * 512, '"\\\n' * 300, "0" * 1024])
def test_the_size_of_a_deposit_tells_nothing_of_its_golds(tmp_path: Path, gold: str) -> None:
    """Whoever carries it sees the sizes; letters that JSON escapes would show too."""
    sizes = [
        [len(piece) for piece in deposit_pieces({BankRole.AUDIT: a_bank(tmp_path, line(gold=each))}, NONCE)]
        for each in ("31", gold)
    ]
    assert sizes[0] == sizes[1]
    ((_, bank),) = read_deposit(
        deposit_pieces({BankRole.AUDIT: a_bank(tmp_path, line(gold=gold, criterion="exact"))}, NONCE)
    ).banks.items()
    assert bank.parents[0].original.gold == gold


def test_forms_leave_without_golds(tmp_path: Path) -> None:
    """What whoever answers gets is held against the registration by its digest."""
    bank = the_banks(tmp_path)[BankRole.AUDIT]
    pieces = list(form_pieces(bank, BankRole.AUDIT))

    assert all(b"gold" not in piece and b'"31"' not in piece for piece in pieces)
    assert read_forms(pieces, BankRole.AUDIT) == bank.without_golds()
    with pytest.raises(InvalidRequestError, match="is of no bank"):
        read_forms(pieces, BankRole.CONTROL)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gold": "1" * (GOLD_BYTES + 1)}, "parent 'p1': its gold has 1,025 bytes, and a deposit takes 1,024"),
        ({"fresh": [{"text": "a b", "gold": "7"}]}, r"parent 'p1': its forms have 2 golds \(gold-differs\)"),
        ({"fresh": [None, "é" * 32_769]}, "form 'p1/fresh-2' has 65,538 bytes with its options, .* takes 65,536"),
        ({"fresh": ["é" * 30_000] * 24}, "parent 'p1' of the audit bank takes 1,4.. bytes, and a piece holds"),
    ],
)
def test_what_no_deposit_takes_is_refused_by_the_parents_name(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    """Before anything is sent."""
    banks = {BankRole.AUDIT: a_bank(tmp_path, line(**fields))}
    with pytest.raises(InvalidRequestError, match=message.replace("1,4..", r"1,4\d\d,\d{3}")):
        list(deposit_pieces(banks, NONCE))


def _edited(piece: bytes, edit: Callable[[Any], object]) -> bytes:
    fields = json.loads(piece)
    edit(fields)
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("piece", "edit"),
    [
        (0, lambda fields: fields.update(v=2)),
        (0, lambda fields: fields.update(nonce="00")),
        (0, lambda fields: fields.update(nonce=7)),
        (0, lambda fields: fields.update(banks=["audit"])),
        (0, lambda fields: fields["banks"].update(audit=4)),
        (0, lambda fields: fields["banks"].update(third=4)),
        (0, lambda fields: fields.pop("v")),
        (1, lambda fields: fields.update(bank="third")),
        (1, lambda fields: fields.update(bank=["audit"])),
        (1, lambda fields: fields.update(more=1)),
        (1, lambda fields: fields.update(parents={})),
        (1, lambda fields: fields.update(golds=7)),
        (1, lambda fields: fields["golds"].pop()),
        (1, lambda fields: fields["golds"].__setitem__(0, "secret")),
        (1, lambda fields: fields["golds"].__setitem__(0, "A" * 1368)),
        (1, lambda fields: fields["golds"].__setitem__(0, "/" * 1368)),
        (1, lambda fields: fields["parents"].__setitem__(0, fields["parents"][1])),
        (1, lambda fields: fields["parents"][0].update(gold="secret")),
        (1, lambda fields: fields["parents"][0].update(secret="secret")),
        (1, lambda fields: fields["parents"].__setitem__(0, "secret")),
    ],
)
def test_a_deposit_that_is_none_is_refused_without_a_word_of_what_it_holds(
    tmp_path: Path, piece: int, edit: Callable[[Any], object]
) -> None:
    """The message goes through the process that must not see a form."""
    pieces = list(deposit_pieces(the_banks(tmp_path), NONCE))
    pieces[piece] = _edited(pieces[piece], edit)
    with pytest.raises(InvalidRequestError, match=r"^deposit: .*\((malformed|parent-repeated)\)") as caught:
        read_deposit(pieces)
    assert not any(word in str(caught.value) for word in ("secret", "pencil", "p1", "31"))


@pytest.mark.parametrize("pieces", [[], [b"\xff"], [b"[" * 100_000], [b"7"]])
def test_bytes_that_are_no_pieces_are_refused(pieces: list[bytes]) -> None:
    """Whoever holds the key may have sealed anything."""
    with pytest.raises(InvalidRequestError, match="its first piece is no object with v, nonce, banks"):
        read_deposit(pieces)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda banks: banks.pop(BankRole.CONTROL), r"control bank is missing \(bank-missing\)"),
        (lambda banks: _replace(banks, gold="7"), r"audit bank is not the locked one \(gold-changed\)"),
        (lambda banks: _replace(banks, text="How many?"), r"audit bank is not the locked one \(forms-changed\)"),
    ],
)
def test_a_bank_that_was_not_locked_is_named(
    tmp_path: Path, change: Callable[[dict[BankRole, FormBank]], object], rule: str
) -> None:
    """A depositor cannot lock one bank and have another asked, or scored."""
    directory = an_audit(tmp_path, control_count=4)
    registration = lock_audit(directory, now=NOW).registration
    banks, nonce = {role: read_bank(directory.bank(role)) for role in BankRole}, directory.nonce.read_bytes()
    Deposit(nonce, banks).require_matches(registration)
    with pytest.raises(InvalidRequestError, match=r"control bank is there, .* locked without one \(bank-missing\)"):
        Deposit(nonce, banks).require_matches(replace(registration, control=None))
    change(banks)
    with pytest.raises(InvalidRequestError, match=rule):
        Deposit(nonce, banks).require_matches(registration)


def _replace(banks: dict[BankRole, FormBank], **fields: Any) -> None:
    first, *others = banks[BankRole.AUDIT].parents
    changed = replace(first, original=replace(first.original, **fields))
    banks[BankRole.AUDIT] = FormBank((changed, *others))
