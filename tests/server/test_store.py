"""Insert-only databases, secret files and the edition file."""

from __future__ import annotations

import dataclasses
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from leakscale.client import Client
from leakscale.edition_files import Atom, EditionFacts, open_edition_file
from leakscale.errors import IntegrityError
from leakscale.models import Candidate as PublicCandidate
from leakscale.models import Condition, Domain, EditionKind, Family, Ring
from leakscale.whole_files import load_or_create
from leakscale_server.app import serve
from leakscale_server.config import ConfigError
from leakscale_server.store.database import InsertOnlyDatabase, Table
from leakscale_server.store.edition_file import FrozenFamily, SeenFile, write_edition_file
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.remembered import Remembered
from leakscale_server.store.signing import Signer

from .helpers import KEY, a_frozen_edition, a_vault, server_config

FACTS = EditionFacts("e", EditionKind.PRACTICE, 4, 3, b"r" * 32, b"c" * 32)
ATOM = Atom(Domain.SQL, "sql-x", Condition.C2, 4)
TABLE = Table("facts", {"name": str, "other": str, "value": int}, ("name",), unique=("other",))


def a_fact(name: str = "a", other: str = "x", value: int = 1) -> dict[str, object]:
    return {"name": name, "other": other, "value": value}


def in_rings(family_id: str) -> tuple[Family, Family, Family]:
    """A family in its three rings."""
    first, second, third = (dataclasses.replace(a_family(family_id), ring=ring) for ring in Ring)
    return first, second, third


def a_family(family_id: str) -> Family:
    candidates = tuple(PublicCandidate(text, f'{{"choice":"{text}"}}') for text in "abcd")
    return Family(family_id, Domain.SQL, "sql-x", Ring.R0, "Täsk", ("t(a)",), "K-1", candidates)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET value = 2",
        "DELETE FROM facts",
        "INSERT OR REPLACE INTO facts VALUES ('a', 'y', 2)",
        "INSERT OR REPLACE INTO facts VALUES ('b', 'x', 2)",
        "REPLACE INTO facts VALUES ('a', 'x', 2)",
        "INSERT INTO facts VALUES ('a', 'x', 2) ON CONFLICT (name) DO UPDATE SET value = 2",
        "UPDATE OR REPLACE facts SET value = 2",
    ],
)
def test_a_fact_once_written_stays(tmp_path: Path, statement: str) -> None:
    """From any connection, by any verb: REPLACE deletes past a DELETE trigger."""
    database = InsertOnlyDatabase(tmp_path / "facts.db", [TABLE])
    database.add("facts", [a_fact()])
    stranger = sqlite3.connect(tmp_path / "facts.db", isolation_level=None)

    try:
        stranger.execute(statement)
    except sqlite3.Error as error:
        assert "insert-only" in str(error)
    stranger.close()

    assert database.rows("SELECT * FROM facts") == [a_fact()]
    database.close()


@pytest.mark.parametrize("opener", [open_registry, a_vault])
def test_every_table_has_its_triggers(tmp_path: Path, opener: object) -> None:
    """A table without them would be the one that changes."""
    opener(tmp_path).close()  # type: ignore[operator]

    (path,) = tmp_path.glob("*.db")
    connection = sqlite3.connect(path)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    triggers = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    connection.close()

    ends = ("_refuses_update", "_refuses_delete", "_keeps_what_it_has")
    assert tables
    assert triggers == {table + end for table in tables for end in ends}


def test_adding_counts_what_is_new(tmp_path: Path) -> None:
    """Repeated uploads rest on this count."""
    database = InsertOnlyDatabase(tmp_path / "facts.db", [TABLE])

    assert database.add("facts", [a_fact(), a_fact("b", "y")]) == 2
    assert database.add("facts", [a_fact(value=9), a_fact("c", "z")]) == 1
    assert database.add("facts", []) == 0
    assert database.row("SELECT value FROM facts WHERE name = 'a'") == {"value": 1}
    database.close()


def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path: Path) -> None:
    """Later writes would be acknowledged inside it and lost with it."""
    database = InsertOnlyDatabase(tmp_path / "facts.db", [TABLE])
    blocker = sqlite3.connect(tmp_path / "facts.db", isolation_level=None)
    database._connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
    database._connection.execute("CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
    database._connection.execute("PRAGMA foreign_keys = ON")

    with pytest.raises(sqlite3.IntegrityError), database.transaction():
        database._connection.execute("INSERT INTO child VALUES (1)")  # shows at commit, like a full disk

    database.add("facts", [a_fact()])
    assert blocker.execute("SELECT count(*) FROM facts").fetchone() == (1,)
    blocker.close()
    database.close()


def test_a_secret_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """Half a key, left by a full disk, would be believed for ever."""

    def fails() -> bytes:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        load_or_create(tmp_path / "key", fails)
    assert list(tmp_path.iterdir()) == []

    assert load_or_create(tmp_path / "key", lambda: b"first") == b"first"
    assert load_or_create(tmp_path / "key", fails) == b"first"
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_damaged_signing_key_is_not_replaced(tmp_path: Path) -> None:
    """A new one would disown every certificate; the old one is to be restored."""
    (tmp_path / "key").write_bytes(b"half")

    with pytest.raises(ValueError, match="has 4 bytes"):
        Signer.load_or_create(tmp_path / "key")

    assert (tmp_path / "key").read_bytes() == b"half"


def test_an_empty_token_file_does_not_open_the_door(tmp_path: Path) -> None:
    """A server with an empty token would be one without a token."""
    data = tmp_path / "data"
    with serve(server_config(data)):
        pass
    (data / "token").write_text("")

    with pytest.raises(ConfigError, match="holds no token; delete it"), serve(server_config(data)):
        pass


def test_an_edition_file_is_the_same_bytes_for_the_same_families(tmp_path: Path) -> None:
    """A crash between the file and its record is healed by writing it again."""
    families = [FrozenFamily(in_rings(f"f-{number}"), b"payload", b"signature") for number in range(3)]
    first = write_edition_file(tmp_path / "e.sqlite", facts=FACTS, atoms=[ATOM], families=families)
    (tmp_path / "e.partial").write_bytes(b"left by a crash")
    (tmp_path / "e.partial-journal").write_bytes(b"left by a crash")

    assert write_edition_file(tmp_path / "e.sqlite", facts=FACTS, atoms=[ATOM], families=families) == first
    assert SeenFile.at(tmp_path / "e.sqlite").digest == first
    for ring, family in zip(Ring, in_rings("f-1"), strict=True):
        assert SeenFile.at(tmp_path / "e.sqlite").forms(ring).page(after="f-0", limit=1) == [family]
    with open_edition_file(tmp_path / "e.sqlite") as file:
        assert (file.facts(), file.atoms()) == (FACTS, (ATOM,))


def test_an_edition_file_cannot_be_written_by_who_opens_it(tmp_path: Path) -> None:
    """It is opened immutable: without a lock, a journal or a change."""
    path = tmp_path / "e.sqlite"
    write_edition_file(path, facts=FACTS, atoms=[ATOM], families=[FrozenFamily(in_rings("f-1"), b"p", b"s")])
    connection = sqlite3.connect(f"{path.as_uri()}?immutable=1&mode=ro", uri=True)

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM families")
    connection.close()

    assert path.stat().st_mode & 0o222 == 0


def test_freezing_after_a_crash_between_file_and_record_works(tmp_path: Path) -> None:
    """The file without its record is no frozen edition; the record is what counts."""
    data = tmp_path / "data"
    with serve(server_config(data)) as running, Client(running.target, token=running.token) as client:
        edition, _ = a_frozen_edition(client, "crash")
        written = (data / "editions" / "crash.sqlite").read_bytes()
    connection = sqlite3.connect(data / "registry.db")
    connection.executescript(
        "DROP TRIGGER freezes_refuses_delete; DELETE FROM freezes;"
        "DROP TRIGGER transitions_refuses_delete; DELETE FROM transitions WHERE phase = 'frozen';"
    )
    connection.close()

    with serve(server_config(data)) as running, Client(running.target, token=running.token) as client:
        assert not client.editions.get(edition.name).is_frozen
        again = client.editions.freeze(edition.name)

    assert again.commitment_root == edition.commitment_root
    assert (data / "editions" / "crash.sqlite").read_bytes() == written


@pytest.mark.parametrize("damage", ["missing", "changed", "cut"])
def test_a_damaged_edition_file_is_noticed(tmp_path: Path, damage: str) -> None:
    """Families of another file under the same certificates would be another benchmark."""
    data = tmp_path / "data"
    with serve(server_config(data)) as running, Client(running.target, token=running.token) as client:
        edition, _ = a_frozen_edition(client, "damaged")
        path = data / "editions" / "damaged.sqlite"
        content = path.read_bytes()
        path.unlink()
        if damage == "changed":
            path.write_bytes(content.replace(b"policy value", b"policy vaLue"))
        elif damage == "cut":
            path.write_bytes(content[: len(content) // 2])

        with pytest.raises(IntegrityError, match="restore it from a copy"):
            client.editions.families(edition.name)
        with pytest.raises(IntegrityError):
            client.grants.expose(edition.name, key=KEY, request_id="r")


def test_what_was_read_is_read_again_after_any_write(tmp_path: Path) -> None:
    """By this process or another: an answer that outlived a write would be an answer of yesterday."""
    database = InsertOnlyDatabase(tmp_path / "facts.db", [TABLE])
    remembered: Remembered[int] = Remembered(database)
    reads: list[int] = []

    def count() -> int:
        reads.append(len(database.rows("SELECT * FROM facts")))
        return reads[-1]

    assert [remembered.get("count", count) for _ in range(3)] == [0, 0, 0]
    assert reads == [0]
    database.add("facts", [a_fact()])
    assert [remembered.get("count", count) for _ in range(3)] == [1, 1, 1]
    assert reads == [0, 1]
    with closing(sqlite3.connect(tmp_path / "facts.db", isolation_level=None)) as stranger:
        stranger.execute("INSERT INTO facts VALUES ('b', 'y', 2)")
    time.sleep(0.15)  # what another process writes shows within a tenth of a second
    assert [remembered.get("count", count) for _ in range(2)] == [2, 2]
    database.close()


def test_nothing_is_remembered_of_a_transaction_that_was_taken_back(tmp_path: Path) -> None:
    """What it saw never was."""
    database = InsertOnlyDatabase(tmp_path / "facts.db", [TABLE])
    remembered: Remembered[int] = Remembered(database)

    def count() -> int:
        return len(database.rows("SELECT * FROM facts"))

    with pytest.raises(ZeroDivisionError), database.transaction():
        database.add("facts", [a_fact()])
        assert remembered.get("count", count) == 1
        raise ZeroDivisionError
    assert remembered.get("count", count) == 0
    database.close()


def test_what_a_read_raises_is_not_remembered(tmp_path: Path) -> None:
    """An edition that is not there yet may be there next time, without a write in between that we would see."""
    database = InsertOnlyDatabase(tmp_path / "facts.db", [TABLE])
    remembered: Remembered[int] = Remembered(database)

    def lacking() -> int:
        raise KeyError

    with pytest.raises(KeyError):
        remembered.get("x", lacking)
    assert remembered.get("x", lambda: 5) == 5
    database.close()
