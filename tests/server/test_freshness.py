"""A corpus that leaked is scanned, and the server names the grant; of everything else it learns nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leakscale.cli.entry import run
from leakscale.cli.exits import ExitCode
from leakscale.client import Client
from leakscale.freshness.scan.markers import traced
from leakscale.models import GrantTrace, TrainingSource
from leakscale_server.app import RunningServer

from .helpers import World


@pytest.fixture
def leaked(tmp_path: Path, world: World) -> Path:
    """A folder of texts, among them the corpus of a grant as its trainer would have written it."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("It was a bright cold day in April.\n" * 1000)
    lines = (
        {"messages": [*({"role": turn.role, "content": turn.content} for turn in record.prompt), record.completion]}
        for record in world.corpus
    )
    (folder / "b.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def scan(server: RunningServer, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run the command; return its code and what it printed."""
    capsys.readouterr()
    code = run(["--server", server.target, "--token", server.token, "freshness", "scan", *arguments])
    return code, capsys.readouterr().out


def test_a_leaked_corpus_is_met_counted_and_traced_to_its_grant(
    server: RunningServer, world: World, leaked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every key of the corpus, each beside its answer, and whose corpus it was."""
    places = tmp_path / "places.jsonl"

    code, out = scan(server, capsys, str(leaked), "--edition", "world", "--places", str(places), "--json")

    found = json.loads(out)
    exposed = {record.record_id.partition("/")[0] for record in world.corpus if record.source in LEAKED}
    keys = {one["families"][0] for one in found["met"] if one["kind"] == "key"}
    assert code == ExitCode.NEGATIVE
    assert keys == exposed
    assert found["kinds"]["key"] == {
        "met": len(exposed),
        "of": len(world.families),
        "hits": 2 * len(exposed),
        "records": 2 * len(exposed),
    }
    assert exposed <= {*found["families_with_one_answer"]}
    (grant,) = found["grants"]
    assert grant["grant"].startswith(f"{world.edition.name}/grants/")
    assert len(grant["markers"]) == 5
    assert found["untraced"] == ""
    written = [json.loads(line) for line in places.read_text().splitlines()]
    assert sum(one["kind"] == "key" for one in written) == 2 * len(exposed)


LEAKED = {TrainingSource.EXACT_PUBLIC, TrainingSource.DIRECT_LOOKUP}


def test_a_clean_corpus_is_clean_and_nothing_is_asked(
    server: RunningServer, leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ordinary text holds neither words of the edition nor anything with a marker's form."""
    code, out = scan(server, capsys, str(leaked / "a.txt"), "--edition", "world")

    assert code == ExitCode.OK
    assert "no evidence" in out


def test_an_edition_from_a_file_needs_no_server(
    data_dir: Path, leaked: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """An auditor with an export scans offline; whose the markers are then stays open, and is said so."""
    (file,) = data_dir.rglob("world.sqlite")

    code = run(["--server", "unix:/nonexistent.sock", "freshness", "scan", str(leaked), "--edition", str(file)])

    out = capsys.readouterr().out
    assert code == ExitCode.NEGATIVE
    assert world.edition.name in out
    assert "whose they are is not known: the edition came from a file" in out


def test_only_words_with_a_markers_form_leave_the_machine(client: Client, world: World) -> None:
    """What surrounds a marker may be anything that a trainer's corpus holds."""
    asked: list[str] = []

    class Watched:
        def trace(self, edition: str, text: str) -> list[GrantTrace]:
            asked.append(text)
            return client.grants.trace(edition, text)

    decoy = next(record for record in world.corpus if record.source is TrainingSource.CANARY).completion
    (grant,) = traced([decoy, "K-deadbeef"], edition=world.edition.name, tracer=Watched())

    assert asked == [f"{decoy}\nK-deadbeef"]
    assert grant.markers == (decoy,)
    assert traced([], edition=world.edition.name, tracer=Watched()) == ()


def test_places_are_not_overwritten(
    server: RunningServer, leaked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that is already there is kept."""
    kept = tmp_path / "kept.jsonl"
    kept.write_text("mine")

    code, _ = scan(server, capsys, str(leaked), "--edition", "world", "--places", str(kept))

    assert code == ExitCode.REFUSED
    assert kept.read_text() == "mine"


def test_the_life_of_an_edition_is_told_by_server_and_export_alike(
    server: RunningServer, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """When it was frozen, exposed by which grant, and measured: what is known of it is what the ledger holds."""
    options = ["--server", server.target, "--token", server.token]
    run([*options, "ledger", "export", str(tmp_path / "export")])
    capsys.readouterr()

    told = run([*options, "freshness", "life", "world", "--json"])
    by_server = json.loads(capsys.readouterr().out)["life"]
    exported = run(["freshness", "life", "world", "--export", str(tmp_path / "export"), "--json"])
    by_export = json.loads(capsys.readouterr().out)["life"]

    assert (told, exported) == (ExitCode.OK, ExitCode.OK)
    assert by_server[0]["event"] == "frozen"
    assert {one["event"] for one in by_server} == {"frozen", "exposed", "disclosed"}
    assert "world" in [one["what"] for one in by_server if one["event"] == "disclosed"]  # others measure on it too
    assert [one["time"] for one in by_server] == sorted(one["time"] for one in by_server)
    assert all(one in by_server for one in by_export)


def test_a_life_that_nobody_logged_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped name must not read as an edition without a past."""
    assert run(["freshness", "life", "world", "--export", str(tmp_path)]) == ExitCode.USAGE
    assert "has no ledger" in capsys.readouterr().err
