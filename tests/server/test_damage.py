"""What a server says when a file of its data folder was lost, exchanged or damaged: the file, and what to do."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from leakscale.client import Client
from leakscale.errors import IntegrityError
from leakscale_server.app import serve
from leakscale_server.config import ConfigError
from leakscale_server.errors import IntegrityFailure
from leakscale_server.store.database import DamagedError, InsertOnlyDatabase, Table
from leakscale_server.translation import to_fault

from .helpers import server_config

TABLE = Table("facts", {"name": str, "value": bytes}, ("name",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder that a server was stopped on."""
    with serve(server_config(tmp_path / "data")) as running, Client(running.target, token=running.token) as client:
        client.ledger.head()
    return tmp_path / "data"


def _other_key(path: Path) -> None:
    path.write_bytes(os.urandom(32))


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _no_database(path: Path) -> None:
    path.write_bytes(b"\0" * 8192)


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("vault.db", Path.unlink, "it lost vault.db, and a new one does not go with what is left; restore the folder"),
        ("signing.key", Path.unlink, "it lost signing.key"),
        ("registry.db", Path.unlink, "it lost registry.db"),
        ("registry.db", _emptied, "it lost registry.db"),
        ("signing.key", _other_key, "signing.key is another one than this registry was begun with"),
        ("registry.db", _no_database, "registry.db is damaged .file is not a database.; restore the data folder"),
    ],
)
def test_a_server_does_not_begin_anew_on_half_a_folder(
    folder: Path, name: str, damage: Callable[[Path], None], words: str
) -> None:
    """Frozen editions could never be scored again, or would be signed by a key that nobody trusts."""
    damage(folder / name)

    with pytest.raises((ConfigError, DamagedError), match=words):
        serve(server_config(folder)).__enter__()

    assert damage is not Path.unlink or not (folder / name).exists()


def a_database(path: Path) -> InsertOnlyDatabase:
    database = InsertOnlyDatabase(path, [TABLE])
    database.add("facts", [{"name": f"{number:05}", "value": bytes(200)} for number in range(2000)])
    return database


def test_a_table_of_another_version_is_said_at_the_start(tmp_path: Path) -> None:
    """And not with every call that needs it, as damage that no copy mends."""
    a_database(tmp_path / "registry.db").close()
    newer = Table("facts", {**TABLE.columns, "time": str}, ("name",))

    with pytest.raises(DamagedError, match=r"registry\.db is of another version of leakscale: its table 'facts' has"):
        InsertOnlyDatabase(tmp_path / "registry.db", [newer])


def test_damage_in_the_middle_of_a_database_is_said_when_it_is_met(tmp_path: Path) -> None:
    """Whatever SQLite makes of it: no caller is told that the server failed for no reason, and none a wrong row."""
    a_database(tmp_path / "vault.db").close()
    sound, draw, faults = (tmp_path / "vault.db").read_bytes(), random.Random(0), []
    for _ in range(40):
        damaged = bytearray(sound)
        begin = draw.randrange(4096, len(damaged) - 4096)
        damaged[begin : begin + 4096] = draw.randbytes(4096)
        (tmp_path / "vault.db").write_bytes(damaged)
        try:
            database = InsertOnlyDatabase(tmp_path / "vault.db", [TABLE])
            database.rows("SELECT * FROM facts ORDER BY name")
        except DamagedError as error:
            faults.append(to_fault(error))
        database.close()

    assert len(faults) > 20
    assert all(isinstance(fault, IntegrityFailure) for fault in faults)
    assert "vault.db is damaged" in faults[0].message


def test_a_client_hears_of_damage_as_such(folder: Path) -> None:
    """And not of an internal error."""
    with serve(server_config(folder)) as running, Client(running.target, token=running.token) as client:
        content = bytearray((folder / "registry.db").read_bytes())
        content[100:] = b"\xff" * (len(content) - 100)
        (folder / "registry.db").write_bytes(content)
        (folder / "registry.db-wal").unlink(missing_ok=True)
        with pytest.raises(IntegrityError, match="damaged"):
            for _ in range(3):
                list(client.editions.list())
                client.editions.get("editions/none")
