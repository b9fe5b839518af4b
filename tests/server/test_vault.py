"""The vault: what a stranger sees of it, and what happens when key, rows or file are not what they were."""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from leakscale.models import Condition
from leakscale_server.app import serve
from leakscale_server.config import ConfigError
from leakscale_server.errors import IntegrityFailure
from leakscale_server.store.vault import Association, Vault
from leakscale_server.store.vault_key import KEY_VARIABLE, VaultError, read_vault_key

from .helpers import a_vault, server_config

KEY = bytes(range(32))
SEED = b"0123456789abcdef0123456789abcdef"


def an_association(**changes: object) -> Association:
    association = Association(
        key="K-0011aabb",
        condition=Condition.C2,
        truth=2,
        nonce=b"n" * 32,
        fixture_count=16,
        passed_counts=(3, 12, 16, 0),
        attempt=0,
    )
    return dataclasses.replace(association, **changes)  # type: ignore[arg-type]


@contextmanager
def opened(folder: Path, key: bytes = KEY) -> Iterator[Vault]:
    vault = Vault(folder, key)
    try:
        yield vault
    finally:
        vault.close()


def filled(folder: Path) -> None:
    """A vault of two editions with two families each."""
    with opened(folder) as vault:
        for edition in ("one", "two"):
            vault.fix_seed(edition, SEED if edition == "one" else SEED[::-1])
            for number in range(2):
                vault.add_association(edition, f"f-{number}", an_association(truth=number))


def tamper(folder: Path, *statements: str) -> None:
    """Change rows as somebody would who has the file, past its triggers."""
    with closing(sqlite3.connect(folder / "vault.db")) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
        connection.commit()


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    """Under the same key, by another process, with every field."""
    filled(tmp_path)

    with opened(tmp_path) as vault:
        assert (vault.seed("one"), vault.seed("two"), vault.seed("none")) == (SEED, SEED[::-1], None)
        assert vault.associations("one") == {f"f-{number}": an_association(truth=number) for number in range(2)}
        assert vault.associations("none") == {}


def test_what_was_first_stays(tmp_path: Path) -> None:
    """A certificate commits to the first association; a seed that moved would give other families."""
    filled(tmp_path)

    with opened(tmp_path) as vault:
        vault.add_association("one", "f-0", an_association(truth=3))
        assert vault.fix_seed("one", bytes(32)) == SEED
        assert vault.associations("one")["f-0"].truth == 0


def test_no_byte_of_a_secret_is_in_the_file(tmp_path: Path) -> None:
    """Whoever copies the data folder without the key has nothing."""
    filled(tmp_path)

    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (SEED, SEED.hex().encode(), b"n" * 32, b"6e" * 32, b"K-0011aabb", b"passed_counts", KEY):
        assert secret not in content
    assert b"f-1" in content


@pytest.mark.parametrize("truth", range(4))
def test_every_sealed_row_has_the_same_length(tmp_path: Path, truth: int) -> None:
    """Counts of one and of two digits, and any truth: the size of a row tells nothing."""
    with opened(tmp_path) as vault:
        vault.add_association("one", "f-0", an_association(truth=truth, passed_counts=(0, 0, 0, 0)))
        vault.add_association("one", "f-1", an_association(truth=truth, passed_counts=(16, 12, 11, 10), attempt=7))
        vault.add_association("one", "f-2", an_association(condition=Condition.C0, fixture_count=8))
    with closing(sqlite3.connect(tmp_path / "vault.db")) as connection:
        lengths = {row[0] for row in connection.execute("SELECT length(sealed) FROM associations")}

    assert lengths == {12 + 256 + 16}


def test_two_rows_of_one_content_look_different(tmp_path: Path) -> None:
    """Equal ciphertexts would say which families share a truth."""
    with opened(tmp_path) as vault:
        for number in range(8):
            vault.add_association("one", f"f-{number}", an_association())
    with closing(sqlite3.connect(tmp_path / "vault.db")) as connection:
        rows = [row[0] for row in connection.execute("SELECT sealed FROM associations")]

    assert len({row[:12] for row in rows}) == len({row[12:] for row in rows}) == 8


def at(edition: str, family: str) -> str:
    return f"edition_id='{edition}' AND family_id='{family}'"


def moved(source: str, target: str) -> str:
    """Put one association into the place of another."""
    return f"UPDATE associations SET sealed = (SELECT sealed FROM associations WHERE {source}) WHERE {target}"


SEED_AS_ASSOCIATION = f"UPDATE associations SET sealed = (SELECT sealed FROM seeds) WHERE {at('one', 'f-0')}"
OTHER_SEED = "UPDATE seeds SET sealed = (SELECT sealed FROM seeds WHERE edition_id='two') WHERE edition_id='one'"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (moved(at("one", "f-1"), at("one", "f-0")), "f-0"),
        (moved(at("two", "f-1"), at("one", "f-1")), "f-1"),
        (SEED_AS_ASSOCIATION, "f-0"),
        (f"UPDATE associations SET sealed = substr(sealed, 1, 40) WHERE {at('one', 'f-1')}", "f-1"),
        (f"UPDATE associations SET sealed = x'' WHERE {at('one', 'f-1')}", "f-1"),
        (f"UPDATE associations SET family_id = 'f-9' WHERE {at('one', 'f-1')}", "f-9"),
    ],
)
def test_a_row_in_another_place_or_cut_does_not_open(tmp_path: Path, statement: str, named: str) -> None:
    """Swapped truths would score every answer against another family, and no signature would tell."""
    filled(tmp_path)
    tamper(tmp_path, statement)

    with opened(tmp_path) as vault, pytest.raises(IntegrityFailure) as caught:
        vault.associations("one")

    message = str(caught.value)
    assert f"of family '{named}' of edition 'one' is damaged or stood in another place; restore the vault" in message
    assert "\n" not in message


@pytest.mark.parametrize("place", [0, 11, 12, 150, 267, 283])
def test_one_flipped_bit_is_noticed(tmp_path: Path, place: int) -> None:
    """In nonce, text and tag alike."""
    filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / "vault.db")) as connection:
        query = "SELECT sealed FROM associations WHERE edition_id='one' AND family_id='f-0'"
        (sealed,) = connection.execute(query).fetchone()
    flipped = bytearray(sealed)
    flipped[place] ^= 1
    tamper(tmp_path, f"UPDATE associations SET sealed = x'{flipped.hex()}' WHERE edition_id='one' AND family_id='f-0'")

    with opened(tmp_path) as vault, pytest.raises(IntegrityFailure, match="of family 'f-0'"):
        vault.associations("one")


def test_a_seed_of_another_edition_does_not_open(tmp_path: Path) -> None:
    """Two editions under one private seed would share their truths."""
    filled(tmp_path)
    tamper(
        tmp_path, "UPDATE seeds SET sealed = (SELECT sealed FROM seeds WHERE edition_id='two') WHERE edition_id='one'"
    )

    with opened(tmp_path) as vault, pytest.raises(IntegrityFailure, match="of edition 'one' is damaged or stood in"):
        vault.seed("one")


def test_a_row_of_another_vault_does_not_open(tmp_path: Path) -> None:
    """Servers that share a key by the environment must not take each other's rows for their own."""
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        filled(tmp_path / name)
    with closing(sqlite3.connect(tmp_path / "other" / "vault.db")) as connection:
        (sealed,) = connection.execute("SELECT sealed FROM seeds WHERE edition_id='one'").fetchone()
    tamper(tmp_path / "mine", f"UPDATE seeds SET sealed = x'{sealed.hex()}' WHERE edition_id='one'")

    with opened(tmp_path / "mine") as vault, pytest.raises(IntegrityFailure):
        vault.seed("one")


def test_another_key_is_named_as_such(tmp_path: Path) -> None:
    """A wrong key is no damage: nobody should restore backups because of a mixed-up variable."""
    filled(tmp_path)

    with pytest.raises(VaultError, match=r"the vault key does not open .*: it is another vault's") as caught:
        Vault(tmp_path, bytes(32))

    assert "\n" not in str(caught.value)
    with opened(tmp_path) as vault:
        assert vault.seed("one") == SEED


@pytest.mark.parametrize("damage", ["text", "cut", "headless"])
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, damage: str) -> None:
    """Half a file, another file, or rows whose head is gone."""
    filled(tmp_path)
    path = tmp_path / "vault.db"
    if damage == "text":
        path.write_text("no database at all\n" * 300)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:6000])
    else:
        tamper(tmp_path, "DELETE FROM head")

    with pytest.raises(VaultError, match="restore it from a copy") as caught:
        Vault(tmp_path, KEY)

    assert "\n" not in str(caught.value)


def test_an_empty_file_is_a_new_vault(tmp_path: Path) -> None:
    """A first start that was killed before its first table leaves one."""
    (tmp_path / "vault.db").touch()
    filled(tmp_path)

    with opened(tmp_path) as vault:
        assert vault.seed("one") == SEED


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """256 bits, mode 0600, the same at every start."""
    key = read_vault_key(tmp_path, environ={})

    assert len(key) == 32
    assert read_vault_key(tmp_path, environ={}) == key
    assert (tmp_path / "vault.key").read_text() == f"{key.hex()}\n"
    assert (tmp_path / "vault.key").stat().st_mode & 0o777 == 0o600


def test_a_lost_key_is_not_replaced(tmp_path: Path) -> None:
    """A new one would open nothing and hide that the old one is missed."""
    a_vault(tmp_path).close()
    (tmp_path / "vault.key").unlink()

    with pytest.raises(VaultError, match="the key was lost, and without it nothing in the vault can be read"):
        read_vault_key(tmp_path, environ={})
    assert not (tmp_path / "vault.key").exists()


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    read_vault_key(tmp_path, environ={})
    (tmp_path / "vault.key").chmod(0o640)

    with pytest.raises(VaultError, match="has mode 0640 and is open to others; run `chmod 600"):
        read_vault_key(tmp_path, environ={})


def test_a_command_comes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    """One rule, so that nobody has to guess which key a vault was made under."""
    environ = {KEY_VARIABLE: "bb" * 32}
    command = f"/bin/echo {'aa' * 32}"

    assert read_vault_key(tmp_path, command=command, environ=environ) == b"\xaa" * 32
    assert read_vault_key(tmp_path, environ=environ) == b"\xbb" * 32
    assert not (tmp_path / "vault.key").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/bin/false", "ended with status 1 and gave no key"),
        ("/does/not/exist", "cannot be run (No such file or directory)"),
        ("/bin/echo secret", "gives 6 characters that are no key"),
        ("'", "cannot be run (ValueError)"),
        ("/bin/true", "gives 0 characters"),
    ],
)
def test_a_command_that_gives_no_key_is_one_clear_line(tmp_path: Path, command: str, words: str) -> None:
    """Nor is what it printed repeated: it may be half a key."""
    with pytest.raises(VaultError) as caught:
        read_vault_key(tmp_path, command=command, environ={})

    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_variable_that_is_no_key_is_refused(tmp_path: Path) -> None:
    """A passphrase would be used as it is, with all of its few bits."""
    with pytest.raises(VaultError, match="LEAKSCALE_VAULT_KEY gives 8 characters that are no key; a vault key is 64"):
        read_vault_key(tmp_path, environ={KEY_VARIABLE: "password"})


@pytest.mark.parametrize("version", [None, "3", "two\n"])
def test_a_folder_of_another_format_is_refused_by_name(tmp_path: Path, version: str | None) -> None:
    """No silent migration: format 1 kept its vault in the clear."""
    data = tmp_path / "data"
    with serve(server_config(data)):
        pass
    content = (data / "vault.db").read_bytes()
    if version is None:
        (data / "version").unlink()
    else:
        (data / "version").write_text(version)

    expected = f"--data-dir {data}: the folder has format '{(version or '1').strip()}' and this version reads 2; choose"
    with pytest.raises(ConfigError, match=expected), serve(server_config(data)):
        pass
    assert (data / "vault.db").read_bytes() == content


def test_a_server_says_what_is_wrong_with_its_vault(tmp_path: Path) -> None:
    """Before it serves anything."""
    data = tmp_path / "data"
    with serve(server_config(data)):
        pass
    shutil.copy(data / "vault.key", tmp_path / "copy")
    (data / "vault.key").write_text("ab" * 32)

    with pytest.raises(ConfigError, match="the vault key does not open"), serve(server_config(data)):
        pass

    shutil.copy(tmp_path / "copy", data / "vault.key")
    with serve(server_config(data)):
        pass
