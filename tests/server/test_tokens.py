"""Tokens: what the server keeps of them, whom they stand for, and when they end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from leakscale_server.errors import AlreadyDone, InvalidRequest, NotFound, TokenRefused
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.scopes import ROLE_SCOPES, Role, Scope
from leakscale_server.identity.token_book import CACHE_AGE_S, TokenBook
from leakscale_server.identity.token_registry import IssuedToken, TokenRegistry
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.registry_tables import open_registry

BOOTSTRAP = "lsk_" + "b" * 64
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass
class Clock:
    """Time that passes when it is told to."""

    moment: datetime = field(default_factory=lambda: datetime(2030, 1, 1, tzinfo=UTC))
    elapsed_s: float = 0.0

    def pass_(self, span: timedelta) -> None:
        self.moment += span
        self.elapsed_s += span.total_seconds()


@dataclass
class Bench:
    """A registry, the tokens in it as a command sees them, and a book as a server holds it open."""

    clock: Clock
    tokens: TokenRegistry
    book: TokenBook
    folder: Path
    written: InsertOnlyDatabase
    """The registry as everybody else holds it open."""

    def issue(self, **changes: Any) -> IssuedToken:
        arguments: dict[str, Any] = {"principal": "ada", "project": "north", "role": Role.AUDITOR, "lifetime": DAY}
        return self.tokens.create(**{**arguments, **changes})

    def is_refused(self, text: str) -> bool:
        try:
            self.book.caller(text)
        except TokenRefused:
            return True
        return False


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    clock = Clock()
    served, commanded = open_registry(tmp_path), open_registry(tmp_path)
    book = TokenBook(
        TokenRegistry(served), BootstrapToken(BOOTSTRAP), now=lambda: clock.moment, monotonic_s=lambda: clock.elapsed_s
    )
    yield Bench(clock, TokenRegistry(commanded, now=lambda: clock.moment), book, tmp_path, commanded)
    served.close()
    commanded.close()


def test_a_token_stands_for_whom_it_was_issued_for(bench: Bench) -> None:
    """The two hold the same file open, as a command and a running server do."""
    issued = bench.issue(principal="bob", project="south", role=Role.TRAINER)

    caller = bench.book.caller(issued.text)

    assert (caller.principal, caller.project, caller.role) == ("bob", "south", Role.TRAINER)
    assert caller.scopes == ROLE_SCOPES[Role.TRAINER]
    assert issued.text.startswith(f"lsk_{caller.token_id}_")


def test_the_bootstrap_token_is_an_admins_of_the_project_default(bench: Bench) -> None:
    """Without it nobody could make the first step on a fresh server."""
    caller = bench.book.caller(BOOTSTRAP)

    assert (caller.role, caller.project, caller.scopes) == (Role.ADMIN, "default", frozenset(Scope))


def test_the_text_of_a_token_is_not_on_disk(bench: Bench) -> None:
    """Who copies the registry has digests of 256 random bits, with which nobody can call."""
    issued = bench.issue()
    secret = issued.text.rpartition("_")[2]

    written = b"".join(path.read_bytes() for path in bench.folder.iterdir())

    assert issued.stored.digest in written
    assert secret.encode() not in written
    assert bytes.fromhex(secret) not in written


def _changed(text: str, place: int) -> str:
    return text[:place] + ("1" if text[place] == "0" else "0") + text[place + 1 :]


@pytest.mark.parametrize("place", [4, 15, 17, 50, -1], ids=["id", "id-end", "secret", "middle", "end"])
def test_a_token_with_another_letter_is_refused_without_a_word_about_its_end(bench: Bench, place: int) -> None:
    """A guess must not learn whether the id exists, or whether it ended."""
    issued = bench.issue()
    bench.tokens.revoke(issued.stored.caller.token_id)
    with pytest.raises(TokenRefused) as caught:
        bench.book.caller(_changed(issued.text, place % len(issued.text)))

    assert str(caught.value) == str(TokenRefused())


@pytest.mark.parametrize("text", ["lsk_", "lsk_0", "", "bearer", "lsk_" + "f" * 12 + "_" + "f" * 64, "ä", "x" * 10_000])
def test_what_is_no_token_is_refused(bench: Bench, text: str) -> None:
    """Whatever a header can carry, and what it cannot."""
    assert bench.is_refused(text)


def test_a_token_ends_at_its_time_to_the_moment(bench: Bench) -> None:
    """Expiry is looked at on every call, whatever is in memory."""
    issued = bench.issue(lifetime=HOUR)
    bench.clock.pass_(HOUR - timedelta(microseconds=1))
    assert not bench.is_refused(issued.text)
    bench.clock.pass_(timedelta(microseconds=1))

    assert bench.is_refused(issued.text)


def test_a_token_without_a_lifetime_stays(bench: Bench) -> None:
    """For a machine whose administrator prefers to revoke."""
    issued = bench.issue(lifetime=None)
    bench.clock.pass_(timedelta(days=36_500))

    assert not bench.is_refused(issued.text)


def test_a_revocation_is_seen_within_five_seconds(bench: Bench) -> None:
    """A token that is in use sits in the server's memory, and still has to go."""
    issued = bench.issue()
    assert not bench.is_refused(issued.text)
    bench.tokens.revoke(issued.stored.caller.token_id)
    bench.clock.pass_(timedelta(seconds=CACHE_AGE_S))

    assert CACHE_AGE_S <= 5
    assert bench.is_refused(issued.text)


def test_a_revocation_is_seen_even_if_somebody_sets_the_clock_back(bench: Bench) -> None:
    """What is in memory ages by a clock that nobody sets."""
    issued = bench.issue()
    assert not bench.is_refused(issued.text)
    bench.tokens.revoke(issued.stored.caller.token_id)
    bench.clock.elapsed_s += CACHE_AGE_S
    bench.clock.moment += timedelta(microseconds=1)

    assert bench.is_refused(issued.text)


def test_a_token_made_while_the_server_runs_holds_at_once(bench: Bench) -> None:
    """That an id did not exist is never remembered."""
    issued = bench.issue()
    bench.is_refused(_changed(issued.text, len(issued.text) - 1))

    assert not bench.is_refused(issued.text)


def test_a_token_is_known_while_somebody_writes(bench: Bench) -> None:
    """Or one large upload would keep everybody out who was not seen in the last two seconds."""
    issued = bench.issue()
    with bench.written.transaction():
        bench.written.add("token_ends", [{"token_id": "another", "end_time": "2030-01-01T00:00:00+00:00"}])

        assert not bench.is_refused(issued.text)


def test_rotation_leaves_both_for_the_overlap_and_then_the_new_one(bench: Bench) -> None:
    """A job that runs has time to take the new one."""
    old = bench.issue(scopes=[Scope.EXPERIMENTS_READ])
    bench.clock.pass_(HOUR)
    new = bench.tokens.rotate(old.stored.caller.token_id, overlap=HOUR)

    assert not bench.is_refused(old.text)
    assert bench.book.caller(new.text).scopes == {Scope.EXPERIMENTS_READ}
    assert new.stored.end_time == bench.clock.moment + DAY
    bench.clock.pass_(HOUR)
    assert bench.is_refused(old.text)
    assert not bench.is_refused(new.text)


def test_a_rotated_token_can_be_revoked_within_the_overlap(bench: Bench) -> None:
    """The overlap is a kindness to its holder, not to whom it leaked."""
    old = bench.issue()
    new = bench.tokens.rotate(old.stored.caller.token_id, overlap=HOUR)
    bench.tokens.revoke(old.stored.caller.token_id)
    bench.clock.pass_(timedelta(seconds=CACHE_AGE_S))

    assert bench.is_refused(old.text)
    assert not bench.is_refused(new.text)


def test_an_overlap_does_not_make_a_token_live_longer(bench: Bench) -> None:
    """What ends tomorrow ends tomorrow."""
    old = bench.issue(lifetime=HOUR)
    bench.tokens.rotate(old.stored.caller.token_id, overlap=DAY)

    assert bench.tokens.get(old.stored.caller.token_id).end_time == old.stored.expire_time


def test_a_token_that_has_ended_is_not_rotated(bench: Bench) -> None:
    """Who took the token away did not mean to hand out another."""
    issued = bench.issue()
    bench.tokens.revoke(issued.stored.caller.token_id)

    with pytest.raises(AlreadyDone, match=r"ended at .*; create a new one"):
        bench.tokens.rotate(issued.stored.caller.token_id, overlap=HOUR)


def test_revoking_again_keeps_the_first_time(bench: Bench) -> None:
    """When it ended is a fact."""
    issued = bench.issue()
    first = bench.tokens.revoke(issued.stored.caller.token_id)
    bench.clock.pass_(HOUR)

    assert bench.tokens.revoke(issued.stored.caller.token_id) == first


@pytest.mark.parametrize("verb", ["revoke", "rotate"])
def test_a_token_that_does_not_exist_is_named(bench: Bench, verb: str) -> None:
    """With the command that lists those that do."""
    with pytest.raises(NotFound, match=r"token '123' does not exist on this server; see `leakscale-server token list`"):
        bench.tokens.revoke("123") if verb == "revoke" else bench.tokens.rotate("123", overlap=HOUR)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"principal": "Ada Lovelace"}, "principal 'Ada Lovelace' is not a valid id"),
        ({"project": ""}, "project '' is not a valid id"),
        ({"lifetime": timedelta(0)}, "lifetime 0 s is not positive"),
        ({"scopes": [Scope.GRANTS_APPROVE]}, "scope grants:approve is beyond the role auditor"),
    ],
)
def test_what_no_token_can_be_is_refused(bench: Bench, changes: dict[str, Any], words: str) -> None:
    """A mistake here would be a right that somebody has, or lacks, without anybody's knowing why."""
    with pytest.raises(InvalidRequest, match=words):
        bench.issue(**changes)
    assert bench.tokens.list() == []


def test_tokens_and_their_ends_stay_on_record(bench: Bench) -> None:
    """Who could call when is asked long after."""
    issued = bench.issue()
    bench.tokens.revoke(issued.stored.caller.token_id)

    with sqlite3.connect(bench.folder / "registry.db") as connection:
        for statement in ("DELETE FROM token_ends", "DELETE FROM tokens", "UPDATE tokens SET role = 'admin'"):
            with pytest.raises(sqlite3.IntegrityError, match="insert-only"):
                connection.execute(statement)
    assert [token.caller.token_id for token in bench.tokens.list()] == [issued.stored.caller.token_id]
