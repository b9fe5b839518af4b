"""What is taken of an author: a registration, a deposit, amendments; and what is refused, by rule and no content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.audit.registration.builders import PLAN

from leakscale.audit.directory import BankRole
from leakscale.audit.remote.names import deposit_subject
from leakscale.client import Client
from leakscale.envelopes import check_signature
from leakscale.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from leakscale.sealing import SealedPiece, seal_pieces
from leakscale.statements import Predicate, predicate_of
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role

from .deposited import (
    BANKS,
    a_locked,
    amendment_of,
    client_of,
    deposit,
    with_golds,
)
from .helpers import refusal


@pytest.fixture(scope="module")
def author(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    with client_of(server, data_dir, "ada", Role.AUTHOR) as client:
        yield client


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda locked: with_golds(locked, lambda _: "99999"), "gold-changed"),
        (lambda locked: replace(locked, nonce=bytes(32)), "gold-changed"),
        (lambda locked: replace(locked, banks={BankRole.AUDIT: locked.banks[BankRole.AUDIT]}), "bank-missing"),
        (
            lambda locked: replace(locked, banks=dict(zip(BANKS, reversed(locked.banks.values()), strict=True))),
            "forms-changed",
        ),
    ],
)
def test_a_deposit_that_is_not_what_was_locked_is_refused(
    change: Any, said: str, author: Client, tmp_path: Path
) -> None:
    """Else an author could choose the right answers after the lock. The message names bank and rule, and no answer."""
    locked = a_locked(tmp_path, "changed")
    told = refusal(InvalidRequestError, lambda: deposit(author, change(locked)))

    assert said in told
    assert "99999" not in told
    with pytest.raises(NotFoundError):
        author.audits.get("audits/changed")


def test_an_author_whose_first_deposit_was_wrong_deposits_again(author: Client, tmp_path: Path) -> None:
    """What was kept of the wrong one stands in nobody's way."""
    locked = a_locked(tmp_path, "mended")
    with pytest.raises(InvalidRequestError):
        deposit(author, with_golds(locked, lambda _: "1"))

    assert deposit(author, locked).name == "audits/mended"
    assert deposit(author, locked) == author.audits.get("audits/mended")


def test_a_deposit_opens_for_its_own_registration_place_and_project_alone(
    author: Client, server: RunningServer, data_dir: Path, tmp_path: Path
) -> None:
    """Who takes a sealed deposit down on its way can deposit it nowhere else, and so fetch its forms nowhere else."""
    locked = a_locked(tmp_path, "replayed")
    key = author.audits.deposit_key().public_key
    taken = list(locked.pieces(key))

    def sent(client: Client, pieces: list[SealedPiece]) -> str:
        return refusal(
            InvalidRequestError,
            lambda: client.audits.deposit(
                "replayed", registration=locked.registration, author_key=locked.author_key, pieces=pieces
            ),
        )

    with client_of(server, data_dir, "eve", Role.ADMIN, project="elsewhere") as eve:
        assert "does not open" in sent(eve, taken)
        assert eve.audits.deposit_key().public_key != key
    assert "does not open" in sent(author, [taken[1], taken[0], *taken[2:]])
    assert "does not open" in sent(author, list(locked.pieces(key, registration=b"another")))
    assert "cut off" in sent(author, taken[:-1])
    assert "goes on after its last piece" in sent(author, [*taken, taken[-1]])
    subject = deposit_subject("replayed", locked.registration)
    (empty,) = seal_pieces([b"{}"], public_key=key, subject=subject)
    assert "malformed" in sent(author, [empty])
    assert deposit(author, locked).name == "audits/replayed"


def test_an_id_stands_for_one_registration(author: Client, tmp_path: Path) -> None:
    """The second would take over the answers to the first."""
    deposit(author, a_locked(tmp_path / "one", "taken"))
    later = a_locked(tmp_path / "two", "taken", plan=PLAN.replace("Trial", "Another"))

    assert "another registration" in refusal(ConflictError, lambda: deposit(author, later))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda locked: replace(locked, audit_id="another"), "is not the name in its registration"),
        (lambda locked: replace(locked, audit_id="No Id"), "is not a valid id"),
        (lambda locked: replace(locked, author_key=bytes(32)), "another key signed it"),
        (lambda locked: replace(locked, author_key=b"short"), "no Ed25519 key of 32"),
        (lambda locked: replace(locked, registration=b"{}"), "registration: "),
        (lambda locked: replace(locked, registration=bytes(300_000)), "has 300,000 bytes, and it has 1 to 262,144"),
    ],
)
def test_a_registration_that_breaks_a_rule_is_refused(change: Any, said: str, author: Client, tmp_path: Path) -> None:
    """Before a piece is opened."""
    assert said in refusal(InvalidRequestError, lambda: deposit(author, change(a_locked(tmp_path, "ruled"))))


def test_a_registration_of_a_model_that_was_asked_already_is_refused(author: Client, tmp_path: Path) -> None:
    """Its answers existed before the lock: they can never be sealed, and scores would never leave."""
    plan = PLAN.replace('source = "tiny"', 'source = "tiny"\nengine = "log"')

    assert "engine 'log'" in refusal(
        InvalidRequestError, lambda: deposit(author, a_locked(tmp_path, "logs", plan=plan))
    )


def test_a_piece_that_is_too_large_is_refused(author: Client, tmp_path: Path) -> None:
    """The message names field, value and bound."""
    locked = a_locked(tmp_path, "large")
    pieces = [SealedPiece(bytes(1_048_625), is_last=True)]
    told = refusal(
        InvalidRequestError,
        lambda: author.audits.deposit(
            "large", registration=locked.registration, author_key=locked.author_key, pieces=pieces
        ),
    )

    assert "sealed has 1,048,625 bytes, and at most 1,048,624" in told


def test_the_deposit_key_is_signed_by_the_server(author: Client) -> None:
    """Whoever knows the server's key cannot be given another one to seal to."""
    key = author.audits.deposit_key()
    facts = predicate_of(key.statement.payload, Predicate.DEPOSIT_KEY)
    check_signature(
        key.statement.payload, signature=key.statement.signature, public_key=author.server.info().public_key
    )

    assert facts == {"public_key": key.public_key.hex()}
    assert author.audits.deposit_key() == key


def test_an_amendment_that_breaks_a_rule_is_refused(author: Client, tmp_path: Path) -> None:
    """Signed by the author, numbered in order, an entry of the ledger that amends, and one of each number."""
    locked, stranger = a_locked(tmp_path / "one", "ruled-amendment"), a_locked(tmp_path / "two", "ruled-amendment")
    deposit(author, locked)
    first = amendment_of(locked, {"decoding.token_count_max": 100})
    second = amendment_of(locked, {"decoding.token_count_max": 200})
    theirs = amendment_of(stranger, {"decoding.token_count_max": 100})
    lock = locked.directory.ledger.read_bytes().splitlines()[1]

    def refused(amendment: bytes) -> str:
        return refusal(InvalidRequestError, lambda: author.audits.amend("audits/ruled-amendment", amendment))

    assert "send amendment 1 first" in refused(second)
    assert "another key signed it" in refused(theirs)
    assert "of kind 'lock'" in refused(lock)
    assert "has 0 bytes" in refused(b"")
    author.audits.amend("audits/ruled-amendment", first)
    assert author.audits.amend("audits/ruled-amendment", second).amendments == (first, second)
