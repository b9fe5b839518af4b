"""Whatever is killed between two steps of a deposited audit: the same calls again lead to the same end."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from leakscale.audit.directory import BankRole
from leakscale.client import Client
from leakscale.deposits import AnswerSet, ReleasedScores
from leakscale.errors import AlreadyDoneError, ConflictError, LeakScaleError
from leakscale.sealing import HolderKey
from leakscale_server.errors import IntegrityFailure, Unavailable
from leakscale_server.store.database import InsertOnlyDatabase

from .audit_bench import ROB, Bench, Dying, a_bench
from .deposited import (
    MODELS,
    Locked,
    a_locked,
    answers_to,
    deposit,
    fetched,
    original_only,
    set_names,
    submit_and_seal,
)
from .processes import ServerProcess, memory_of, recovered, running, scorer_of, start

KEY = HolderKey(b"r" * 32)
KINDS = ["audit-deposited", "audit-forms-fetched", *["audit-answers-sealed"] * 4, "audit-scores-released"]


def whole_way(bench: Bench, locked: Locked) -> tuple[list[bytes], list[bytes]]:
    """Deposit, fetch, answer and score; return the tables, and the receipts' digests of answers."""
    bench.deposit(locked)
    list(bench.auditing.forms(locked.audit_id, "audit", holder_key=KEY.public, caller=ROB))
    sealed = bench.answer(locked, say=original_only)
    _, tables = bench.released(locked)
    return tables, [hashlib.sha256(each.key.name.encode()).digest() for each in sealed]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Locked:
    return a_locked(tmp_path_factory.mktemp("locked"))


@pytest.fixture(scope="module")
def undisturbed(locked: Locked, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, int]:
    """What comes out where nothing dies, and how often the scorer is asked."""
    with a_bench(tmp_path_factory.mktemp("undisturbed"), dying=Dying) as bench:
        outcome = whole_way(bench, locked)
        assert isinstance(bench.between, Dying)
        return outcome, bench.between.call_count


@pytest.mark.parametrize("is_after", [False, True])
def test_a_scorer_that_dies_at_any_call_changes_nothing(
    is_after: bool, locked: Locked, undisturbed: tuple[Any, int], tmp_path: Path
) -> None:
    """Before it did what it was asked, or after, with its answer lost: everything again gives what it would have."""
    outcome, call_count = undisturbed
    death_count = 0
    for number in range(call_count):
        folder = tmp_path / str(number)
        folder.mkdir()
        with a_bench(folder, dying=lambda inner, n=number: Dying(inner, call=n, is_after=is_after)) as bench:  # type: ignore[misc]
            try:
                whole_way(bench, locked)
            except Unavailable:
                death_count += 1

            assert whole_way(bench, locked) == outcome
            assert bench.kinds() == KINDS

    assert death_count == call_count > 15


@contextmanager
def dying_commits(registry: InsertOnlyDatabase, *, number: int) -> Iterator[list[int]]:
    """Let the n-th outermost transaction of a registry end without its commit, as a kill does."""
    real, seen, depth = registry.transaction, [0], [0]

    @contextmanager
    def transaction() -> Iterator[None]:
        depth[0] += 1
        try:
            with real():
                yield
                if depth[0] == 1:
                    seen[0] += 1
                    if seen[0] == number:
                        raise Unavailable("killed before the commit")
        finally:
            depth[0] -= 1

    registry.transaction = transaction  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        registry.transaction = real  # type: ignore[method-assign]


def test_a_server_killed_before_any_commit_changes_nothing(
    locked: Locked, undisturbed: tuple[Any, int], tmp_path: Path
) -> None:
    """Row and entry of the ledger are there together or not at all; the vault may know more, and waits."""
    outcome, _ = undisturbed
    number, death_count = 0, 0
    while death_count == number:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        with a_bench(folder) as bench:
            with dying_commits(bench.registry, number=number):
                try:
                    whole_way(bench, locked)
                except Unavailable:
                    death_count += 1

            assert whole_way(bench, locked) == outcome
            assert bench.kinds() == KINDS

    assert death_count >= 11


def killed(server: ServerProcess) -> None:
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()


def test_a_server_killed_between_all_steps_goes_on(tmp_path: Path) -> None:
    """A process, a signal, a new process over the same folder: after each step, and in the midst of a deposit."""
    data, locked = tmp_path / "data", a_locked(tmp_path / "locked")
    server = start(data)

    def after_a_kill(act: Callable[[Client], Any]) -> Any:
        nonlocal server
        killed(server)
        server = start(data)
        with server.client() as client:
            return act(client)

    def half_a_deposit(client: Client) -> None:
        def pieces() -> Iterator[Any]:
            for number, piece in enumerate(locked.pieces(client.audits.deposit_key().public_key)):
                if number == 2:
                    killed(server)
                yield piece

        with pytest.raises(LeakScaleError):
            client.audits.deposit(
                "demo", registration=locked.registration, author_key=locked.author_key, pieces=pieces()
            )

    def answer(role: BankRole, model: str) -> Callable[[Client], AnswerSet]:
        name = f"audits/demo/variants/registered/banks/{role}/models/{model}"
        return lambda client: submit_and_seal(client, name, answers_to(locked.banks[role], original_only))

    def scores(client: Client) -> ReleasedScores:
        return client.audits.scores("audits/demo/variants/registered")

    def answer_the_rest(client: Client) -> list[AnswerSet]:
        return [answer(role, model)(client) for role in locked.banks for model in MODELS]

    try:
        with server.client() as client:
            half_a_deposit(client)
        audit = after_a_kill(lambda client: deposit(client, locked))
        bank = after_a_kill(lambda client: fetched(client, "demo", BankRole.AUDIT, key=KEY))
        first = after_a_kill(answer(BankRole.AUDIT, MODELS[0]))
        receipts = after_a_kill(answer_the_rest)
        released = after_a_kill(scores)
        again, now = after_a_kill(lambda client: (scores(client), client.audits.get("audits/demo")))
    finally:
        killed(server)

    assert audit.name == "audits/demo"
    assert bank == locked.banks[BankRole.AUDIT].without_golds()
    assert [each.name for each in receipts] == set_names("demo")
    assert receipts[0] == first
    assert again == released
    assert list(now.answer_sets) == receipts


@pytest.mark.parametrize("kind", ["deposit", "piece", "marks", "deposit-key", "release"])
def test_a_damaged_row_of_the_vault_ends_the_call_and_names_the_audit(
    kind: str, locked: Locked, tmp_path: Path
) -> None:
    """And not a word of what the row held; what needs it not goes on."""
    with a_bench(tmp_path) as bench:
        whole_way(bench, locked)
    forget_scores(tmp_path)
    with closing(sqlite3.connect(tmp_path / "vault.db", isolation_level=None)) as vault:
        vault.execute("DROP TRIGGER audits_refuses_update")
        count = vault.execute("UPDATE audits SET sealed = zeroblob(200) WHERE kind = ?", (kind,)).rowcount
    words = "of deposited audits" if kind == "deposit-key" else "of audit 'demo'"
    with a_bench(tmp_path) as bench:
        act = (lambda: bench.auditing.deposit_key(ROB)) if kind == "deposit-key" else (lambda: bench.released(locked))
        with pytest.raises(IntegrityFailure, match=f"{words} is damaged or stood in another place"):
            act()
        assert bench.auditing.get("demo", ROB).name == "audits/demo"

    assert count >= 1


def test_a_row_in_another_place_does_not_open(locked: Locked, tmp_path: Path) -> None:
    """Marks of one model would otherwise be another's."""
    with a_bench(tmp_path) as bench:
        whole_way(bench, locked)
    forget_scores(tmp_path)
    with closing(sqlite3.connect(tmp_path / "vault.db", isolation_level=None)) as vault:
        vault.execute("DROP TRIGGER audits_refuses_update")
        (one,), (other,) = vault.execute("SELECT name FROM audits WHERE kind = 'marks' ORDER BY rowid LIMIT 2")
        row = "(SELECT sealed FROM audits WHERE kind = 'marks' AND name = ?)"
        vault.execute(f"UPDATE audits SET sealed = {row} WHERE kind = 'marks' AND name = ?", (one, other))

    with a_bench(tmp_path) as bench, pytest.raises(IntegrityFailure, match="stood in another place"):
        bench.released(locked)


def forget_scores(data: Path) -> None:
    """Put the registry back to before the release, as an older copy of it is."""
    with closing(sqlite3.connect(data / "registry.db", isolation_level=None)) as registry:
        for table in ("audit_scores", "audit_tables"):
            registry.execute(f"DROP TRIGGER {table}_refuses_delete")
            registry.execute(f"DELETE FROM {table}")


def test_a_scorer_killed_before_each_answer_set_loses_nothing(locked: Locked, tmp_path: Path) -> None:
    """UNAVAILABLE, and then it succeeds; nothing that was acknowledged is lost."""
    with running(tmp_path / "data") as server, server.client() as client:
        deposit(client, locked)
        names = set_names("demo")
        for name in names:
            os.kill(scorer_of(server), signal.SIGKILL)
            answers = answers_to(locked.banks[BankRole(name.split("/")[5])])
            recovered(lambda name=name, answers=answers: submit_and_seal(client, name, answers))  # type: ignore[misc]
        released = client.audits.scores("audits/demo/variants/registered")

    assert len(released.files) == 4


def test_the_api_process_holds_no_form_no_gold_and_no_answer(locked: Locked, tmp_path: Path) -> None:
    """After all went through it, sealed. The search itself is shown to find what may be there."""
    with running(tmp_path / "data") as server, server.client() as client:
        deposit(client, locked)
        fetched(client, "demo", BankRole.AUDIT, key=KEY)
        for name in set_names("demo"):
            bank = locked.banks[BankRole(name.split("/")[5])]
            submit_and_seal(client, name, answers_to(bank, lambda form, _: f"So {form} makes sixty-one."))
        client.audits.scores("audits/demo/variants/registered")
        api = memory_of(server.process.pid)

    secrets = [b"gives 5 away", b"makes sixty-one", b"went missing", locked.nonce, locked.nonce.hex().encode()]
    assert locked.registration[100:200] in api
    assert not [secret for secret in secrets if secret in api]


def in_parallel(acts: list[Callable[[], Any]]) -> list[Any]:
    """Do all at once; return answers and errors."""

    def done(act: Callable[[], Any]) -> Any:
        try:
            return act()
        except LeakScaleError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(done, acts))


def test_of_two_writers_one_is_first_and_the_other_hears_of_it(client: Client, tmp_path: Path) -> None:
    """Two registrations under one id, two seals of one set, one chunk twice: one of each stands, whole."""
    one, two = (a_locked(tmp_path / folder, "raced") for folder in ("one", "two"))
    deposits = in_parallel([lambda each=each: deposit(client, each) for each in (one, two) * 3])  # type: ignore[misc]
    (stands,) = {each.registration for each in deposits if not isinstance(each, Exception)}
    locked = one if stands == one.registration else two
    name, *_ = set_names("raced")
    answers = answers_to(locked.banks[BankRole.AUDIT])
    submit_and_seal(client, name, answers)
    seals = in_parallel(
        [lambda n=number: client.audits.seal(name, chunk_count=1, request_id=f"r-{n}") for number in range(6)]  # type: ignore[misc]
    )
    other = set_names("raced")[1]
    submitted = in_parallel([lambda: submit_and_seal(client, other, answers)] * 6)

    assert all(isinstance(each, ConflictError) for each in deposits if isinstance(each, Exception))
    assert sum(isinstance(each, ConflictError) for each in deposits) == 3
    assert all(isinstance(each, AlreadyDoneError) for each in seals)
    assert len({each.receipt.payload for each in submitted}) == 1
    assert list(client.audits.chunks(other)) == [0]
