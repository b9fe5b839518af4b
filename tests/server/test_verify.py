"""What a server says of itself is exported and checked offline; whatever was changed is caught and named."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale.client import Client
from leakscale.digests import canonical_json
from leakscale.envelopes import open_envelope
from leakscale.errors import ConflictError, IntegrityError, NotFoundError
from leakscale.models import Edition, LedgerEntry, LedgerHead
from leakscale.statements import Predicate
from leakscale.verify import ServerDirectory, Verification, verify_directory, verify_edition
from leakscale.verify.checks import Checks
from leakscale.verify.directory import head_to_json, line_of_entry
from leakscale.verify.editions import check_edition
from leakscale.verify.exporting import export_server
from leakscale.verify.ledger import check_ledger
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.store.ledger import PUBLIC, Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

from .helpers import World

FILES = [
    "editions/world.sqlite",
    "editions/world.json",
    "editions/spent.retirement.json",
    "editions/spent.openings.jsonl",
    "disclosures/world.json",
]
"""What an entry of the ledger names, of each kind one."""


@pytest.fixture(scope="module")
def exported(client: Client, retired: Edition, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export; tests work on copies of it."""
    root = tmp_path_factory.mktemp("export") / "export"
    export_server(client, root)
    return root


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    root = tmp_path / "copy"
    shutil.copytree(exported, root)
    for path in root.rglob("*.sqlite"):
        path.chmod(0o644)
    return root


@pytest.fixture(scope="module")
def key(client: Client) -> bytes:
    return client.server.info().public_key


def first_fault(verification: Verification) -> str:
    """The first check that fails, in one line."""
    check = next(check for check in verification.checks if not check.holds)
    return f"{check.subject}: {check.fault}"


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def some_places(content: bytes) -> list[int]:
    """Both ends and forty places between."""
    return sorted({0, len(content) - 1, *range(1, len(content), max(1, len(content) // 40))})


def test_an_export_holds(exported: Path, key: bytes) -> None:
    """Head, entries, order, edition, disclosure, and nothing else."""
    verification = verify_directory(exported, public_key=key)

    assert [check for check in verification.checks if not check.holds] == []
    assert verification.holds
    subjects = {check.subject for check in verification.checks}
    assert {"head.json", "ledger.jsonl", *FILES} <= subjects


def test_every_byte_of_the_ledger_counts(copy: Path, key: bytes) -> None:
    """Each is flipped in turn, in entries and in the head; the file at fault is named.

    All of the head and of the first and the last entry, and one of each entry between: what other tests wrote into the
    shared server's ledger is checked anew for each byte.
    """
    directory = ServerDirectory(copy)
    for path in (directory.head, directory.ledger):
        content = path.read_bytes()
        for place in places_in(content):
            path.write_bytes(flipped(content, place))
            checks = Checks()
            check_ledger(directory, checks, public_key=key)
            failed = [check.subject for check in checks.made if not check.holds]
            assert failed, f"byte {place} of {path.name}"
            assert failed[0] == path.name, f"byte {place} of {path.name}"
        path.write_bytes(content)


def places_in(content: bytes) -> Iterator[int]:
    """Yield every place of the first and the last line, and one of each line between, further on in each."""
    lines = content.splitlines(keepends=True)
    start = 0
    for number, line in enumerate(lines):
        if number in {0, len(lines) - 1}:
            yield from range(start, start + len(line))
        else:
            yield start + 7 * number % len(line)
        start += len(line)


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        ("disclosures/world.json", Predicate.DISCLOSURE),
        ("editions/world.json", Predicate.EDITION),
        ("editions/spent.retirement.json", Predicate.RETIREMENT),
    ],
)
def test_every_byte_of_an_envelope_counts(exported: Path, key: bytes, name: str, predicate: Predicate) -> None:
    """Also one that no signature covers."""
    content = (exported / name).read_bytes()
    open_envelope(content, predicate, public_key=key, source=name)

    for place in range(len(content)):
        with pytest.raises(IntegrityError, match="changed after it was signed"):
            open_envelope(flipped(content, place), predicate, public_key=key, source=name)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json")])
def test_the_tools_of_others_verify_an_envelope(exported: Path, key: bytes, name: str) -> None:
    """An exported file as it is, read by securesystemslib, which in-toto's and TUF's own tools are built on."""
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey

    envelope = Envelope.from_dict(json.loads((exported / name).read_bytes()))
    (key_id,) = envelope.signatures

    assert envelope.verify([SSlibKey(key_id, "ed25519", "ed25519", {"public": key.hex()})], 1).keys() == {key_id}
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert json.loads(envelope.payload)["_type"] == "https://in-toto.io/Statement/v1"


@pytest.mark.parametrize("name", ["head.json", "ledger.jsonl", *FILES])
def test_a_flipped_byte_is_named_by_its_file(copy: Path, key: bytes, name: str) -> None:
    """The whole verification, as a person runs it."""
    path = copy / name
    content = path.read_bytes()
    for place in some_places(content):
        path.write_bytes(flipped(content, place))
        assert first_fault(verify_directory(copy, public_key=key)).startswith(f"{name}: "), place
    path.write_bytes(content)

    assert verify_directory(copy, public_key=key).holds


@pytest.mark.parametrize("name", ["head.json", "ledger.jsonl", *FILES])
def test_a_missing_file_is_named(copy: Path, key: bytes, name: str) -> None:
    """What the ledger names has to be there."""
    (copy / name).unlink()

    assert first_fault(verify_directory(copy, public_key=key)) == f"{name}: the file is missing; export it again"


def test_a_file_that_the_ledger_does_not_name_is_named(copy: Path, key: bytes) -> None:
    """Numbers that were never released could be laid beside those that were."""
    shutil.copy(copy / "disclosures" / "world.json", copy / "disclosures" / "other.json")

    assert first_fault(verify_directory(copy, public_key=key)) == ".: disclosures/other.json is none"


def test_a_cut_ledger_is_caught(copy: Path, key: bytes) -> None:
    """Whole lines gone from the end, and half a line."""
    content = (copy / "ledger.jsonl").read_bytes()
    (copy / "ledger.jsonl").write_bytes(content[: content[:-1].rindex(b"\n") + 1])
    assert "entries, the head is over" in first_fault(verify_directory(copy, public_key=key))

    (copy / "ledger.jsonl").write_bytes(content[:-20])
    assert "the file was cut" in first_fault(verify_directory(copy, public_key=key))


def test_another_key_verifies_nothing(exported: Path, key: bytes) -> None:
    """Whoever signs everything anew has another key."""
    assert "not of" in first_fault(verify_directory(exported, public_key=bytes(32)))


def test_what_is_not_there_is_refused(tmp_path: Path, key: bytes) -> None:
    with pytest.raises(NotFoundError, match="leakscale ledger export"):
        verify_directory(tmp_path / "nothing", public_key=key)


def rewritten(root: Path, statement: str, *arguments: Any) -> dict[str, Any]:
    """Change the edition file, and return the ledger's entry as a server would write it that wanted to hide that."""
    path = root / "editions" / "world.sqlite"
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement, arguments).rowcount > 0
    connection.close()
    entries = [json.loads(json.loads(line).get("entry", "{}")) for line in (root / "ledger.jsonl").open()]
    entry = next(each for each in entries if each.get("kind") == "edition-frozen" and each["edition"] == "world")
    return {**entry, "file": hashlib.sha256(path.read_bytes()).hexdigest()}


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "UPDATE forms SET public = replace(public, 'the', 'tha') WHERE ring = 'R1'"
            " AND family_id = (SELECT min(family_id) FROM forms)",
            "it is for another task",
        ),
        ("UPDATE families SET certificate_signature = zeroblob(64)", "its signature does not hold"),
        ("UPDATE families SET certificate_payload = certificate_payload || ' '", "its signature does not hold"),
        (
            "UPDATE families SET (certificate_payload, certificate_signature) ="
            " (SELECT certificate_payload, certificate_signature FROM families LIMIT 1)",
            "it is about another family",
        ),
        ("DELETE FROM families WHERE family_id = (SELECT max(family_id) FROM families)", "have a form in R0"),
        ("DELETE FROM forms WHERE family_id = (SELECT max(family_id) FROM forms)", "it lacks"),
        ("UPDATE atoms SET family_count = 8", "families in C"),
        ("DELETE FROM atoms WHERE condition = 'C0'", "the atoms do not have the families"),
        ("UPDATE meta SET value = '17' WHERE name = 'family_count'", "it says 17 families and has 16"),
        ("UPDATE meta SET value = 'other' WHERE name = 'edition_id'", "it is of edition 'other'"),
        ("UPDATE meta SET value = 'ab' WHERE name = 'commitment_root'", "the file says ab"),
        ("UPDATE meta SET value = '1' WHERE name = 'format'", "its format is 1"),
        ("DROP TABLE atoms", "no such table"),
    ],
)
def test_a_server_that_rewrites_an_edition_is_caught(copy: Path, key: bytes, statement: str, fault: str) -> None:
    """Even with the ledger on its side: families, certificates, atoms and roots hang together."""
    entry = rewritten(copy, statement) if not statement.startswith("DROP") else dropped(copy, statement)
    checks = Checks()

    assert check_edition(ServerDirectory(copy), entry, checks, public_key=key) is None
    assert fault in " ".join(check.fault for check in checks.made)


def dropped(root: Path, statement: str) -> dict[str, Any]:
    with sqlite3.connect(root / "editions" / "world.sqlite") as connection:
        connection.execute(statement)
    connection.close()
    return rewritten(root, "UPDATE meta SET value = value")


class Log:
    """A ledger of the test's own, exported by hand."""

    def __init__(self, root: Path) -> None:
        self.directory = ServerDirectory(root / "export")
        self.directory.root.mkdir()
        self._registry = open_registry(root)
        self._signer = Signer.load_or_create(root / "key")
        self.ledger = Ledger(self._registry, self._signer)
        self.key = self._signer.public_key

    def write(self, change: Callable[[list[LedgerEntry]], list[LedgerEntry]] = list) -> list[str]:
        """Write it down and return what does not hold."""
        found = self.ledger.entries(project="one", start=0, limit=1000)
        entries = change([LedgerEntry(each.position, each.leaf, each.content) for each in found])
        head = self.ledger.head()
        self.directory.ledger.write_bytes(b"".join(line_of_entry(each) + b"\n" for each in entries))
        self.directory.head.write_bytes(head_to_json(LedgerHead(head.entry_count, head.root, head.signature, self.key)))
        checks = Checks()
        check_ledger(self.directory, checks, public_key=self.key)
        return [check.fault for check in checks.made if not check.holds]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


HEX = "00" * 32
FROZEN = ("edition-frozen", {"edition": "e", "file": HEX, "root": HEX, "certificates": HEX, "envelope": HEX})
RETIRED = ("edition-retired", {"edition": "e", "openings": HEX, "envelope": HEX})
REGISTERED = ("experiment-registered", {"experiment": "x", "edition": "e", "plan": HEX})
DEPOSITED = ("audit-deposited", {"audit": "a", "registration": HEX})
AMENDED = ("audit-amended", {"audit": "a", "amendment": HEX})
FETCHED = ("audit-forms-fetched", {"audit": "a", "bank": "audit"})
ANSWERED = (
    "audit-answers-sealed",
    {"audit": "a", "variant": "registered", "bank": "audit", "model": "m", "answers": HEX},
)
SCORED = ("audit-scores-released", {"audit": "a", "variant": "registered", "scores": HEX})
SEALED = ("bank-sealed", {"experiment": "x", "bank": "b", "answers": HEX})


@pytest.mark.parametrize(
    ("story", "fault"),
    [
        ([FROZEN, REGISTERED, SEALED, RETIRED], ""),
        ([REGISTERED, FROZEN], "line 1: experiment 'x' is registered before its edition 'e' is frozen"),
        ([FROZEN, FROZEN], "line 2: edition 'e' is frozen twice"),
        ([RETIRED], "line 1: edition 'e' is retired before it is frozen"),
        ([FROZEN, RETIRED, RETIRED], "line 3: edition 'e' is retired twice"),
        ([FROZEN, RETIRED, REGISTERED], "line 3: experiment 'x' is registered after its edition 'e' is retired"),
        ([FROZEN, SEALED], "line 2: bank 'b' is sealed before its experiment 'x' is registered"),
        ([FROZEN, REGISTERED, SEALED, SEALED], "line 4: bank 'b' of experiment 'x' is sealed twice"),
        ([FROZEN, REGISTERED, RETIRED, SEALED], "line 4: bank 'b' of experiment 'x' is sealed after its edition"),
        ([DEPOSITED, FETCHED, ANSWERED, SCORED, AMENDED], ""),
        ([DEPOSITED, DEPOSITED], "line 2: audit 'a' is deposited twice"),
        ([AMENDED], "line 1: audit 'a' has an entry 'audit-amended' before it is deposited"),
        ([FETCHED, DEPOSITED], "line 1: audit 'a' has an entry 'audit-forms-fetched' before it is deposited"),
        ([DEPOSITED, ANSWERED, ANSWERED], "line 3: answers of model 'm' to bank 'audit' of audit 'a' are sealed twice"),
        ([DEPOSITED, SCORED], "line 2: scores of 'registered' of audit 'a' left before any answers were sealed"),
        ([DEPOSITED, ANSWERED, SCORED, SCORED], "line 4: scores of 'registered' of audit 'a' left twice"),
        (
            [DEPOSITED, ANSWERED, SCORED, (ANSWERED[0], {**ANSWERED[1], "model": "n"})],
            "line 4: answers of model 'n' to bank 'audit' of audit 'a' are sealed after the scores",
        ),
        ([(SCORED[0], {"audit": "a"})], "line 1: the entry lacks variant, scores"),
    ],
)
def test_what_happened_happened_in_order(log: Log, story: list[tuple[str, dict[str, str]]], fault: str) -> None:
    """The root of commitments was logged before the first bank, and no bank was sealed with the truth in the open."""
    for kind, body in story:
        log.ledger.append(kind, body, project="one")

    faults = log.write()

    assert (not faults) if not fault else (len(faults) == 1 and faults[0].startswith(fault))


def test_entries_of_others_are_checked_by_their_leaves(log: Log) -> None:
    """Their contents are not there, and the root holds all the same."""
    log.ledger.append(*FROZEN, project=PUBLIC)
    log.ledger.append(*REGISTERED, project="two")

    assert log.write() == []
    assert b"experiment" not in log.directory.ledger.read_bytes()


def test_an_entry_in_another_place_or_form_is_caught(log: Log) -> None:
    """Each names its place, and is the canonical JSON that its leaf is the hash of."""
    for number in range(3):
        log.ledger.append("test", {"number": number}, project=PUBLIC)

    assert "the entry says position 1, it stands at 0" in log.write(lambda entries: [entries[1], entries[0]])[0]
    spaced = log.write(lambda entries: [dataclasses.replace(entries[0], content=entries[0].content + b" ")])
    assert "the entry is not the one of its leaf" in spaced[0]


def test_an_entry_that_lacks_a_field_is_caught(log: Log) -> None:
    """A server could sign anything; what is checked against the ledger has to be in it."""
    log.ledger.append("edition-frozen", {"edition": "e"}, project=PUBLIC)

    assert log.write()[0] == "line 1: the entry lacks file, root, certificates, envelope"


def test_an_id_that_leads_out_of_the_directory_is_no_id(exported: Path) -> None:
    """Names of files come out of the ledger."""
    for name in ("../../etc", "", "A", "a/b", "."):
        with pytest.raises(ValueError, match="is no id"):
            ServerDirectory(exported).edition(name)


def test_a_second_export_proves_growth(client: Client, copy: Path, key: bytes) -> None:
    """Into the same directory, nothing is fetched again that is there."""
    files: list[str] = []

    export_server(client, copy, written=files.append)

    assert "editions/world.sqlite" not in files
    assert verify_directory(copy, public_key=key).holds


def test_a_server_that_rewrote_its_past_is_caught_by_the_export(client: Client, copy: Path, key: bytes) -> None:
    """The head that lies there is of another past, or of a longer one."""
    directory = ServerDirectory(copy)
    fields = json.loads(directory.head.read_bytes())
    for change in ({"root": HEX}, {"entry_count": fields["entry_count"] + 1_000}):
        directory.head.write_bytes(canonical_json({**fields, **change}))
        with pytest.raises(IntegrityError, match="does not begin with"):
            export_server(client, copy)


def test_an_export_goes_into_no_other_folder(client: Client, copy: Path, tmp_path: Path) -> None:
    """Nothing of somebody's is written over."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…")
    with pytest.raises(ConflictError, match="holds files and no export"):
        export_server(client, tmp_path / "mine")

    head = ServerDirectory(copy).head
    head.write_bytes(canonical_json({**json.loads(head.read_bytes()), "public_key": HEX}))
    with pytest.raises(ConflictError, match="another server"):
        export_server(client, copy)


def test_what_a_token_does_not_open_is_left_out_by_name(
    server: RunningServer, data_dir: Path, exported: Path, key: bytes, tmp_path: Path
) -> None:
    """A trainer reads no disclosures, and can still check every edition."""
    with closing(open_registry(data_dir)) as registry:
        issued = TokenRegistry(registry).create(
            principal="tom", project="default", role=Role.TRAINER, lifetime=timedelta(days=1)
        )
    left_out: list[str] = []
    with Client(server.target, token=issued.text) as trainer:
        export_server(trainer, tmp_path / "export", left_out=left_out.append)

    assert "disclosures/world.json" in left_out
    assert not (tmp_path / "export" / "disclosures").exists()
    assert verify_edition(tmp_path / "export", "world", public_key=key).holds


def test_one_edition_is_verified_by_name(copy: Path, key: bytes) -> None:
    """Without the rest of the directory."""
    shutil.rmtree(copy / "disclosures")

    assert verify_edition(copy, "world", public_key=key).holds
    assert verify_edition(copy, "spent", public_key=key).holds
    assert first_fault(verify_edition(copy, "none", public_key=key)) == "ledger.jsonl: no entry says so"


@pytest.fixture
def shell(server: RunningServer, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a person who uses the shared server."""
    monkeypatch.setenv("LEAKSCALE_SERVER", server.target)
    monkeypatch.setenv("LEAKSCALE_TOKEN", server.token)


def test_the_commands_export_and_verify(
    shell: None, key: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a person types it; the exit code is the verdict."""
    root, key_file = tmp_path / "export", tmp_path / "key.hex"
    key_file.write_text(key.hex() + "\n")

    assert run(["ledger", "export", str(root)]) == 0
    assert f"leakscale verify {root} --public-key {key.hex()}" in capsys.readouterr().out
    assert run(["ledger", "show"]) == 0
    assert "edition-frozen         edition world" in capsys.readouterr().out
    assert run(["verify", str(root), "--public-key", key.hex()]) == 0
    assert "✓ head.json: the head is signed by the server's key" in capsys.readouterr().out
    assert run(["verify", "edition", str(root), "editions/world", "--public-key", str(key_file)]) == 0
    capsys.readouterr()

    (root / "disclosures" / "world.json").unlink()
    assert run(["verify", str(root), "--public-key", key.hex(), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["holds"]
    assert "the file is missing; export it again" in {check["fault"] for check in told["checks"]}
    assert run(["verify", str(root), "--public-key", "no key"]) == 2
    assert "64 hexadecimal digits" in capsys.readouterr().err
