"""A server that is stopped, killed or out of disk at a bad moment, and what is there afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leakscale.errors import AlreadyDoneError, LeakScaleError, StorageFullError, UnavailableError
from leakscale.models import Answer, CertificationRequest, Condition

from .helpers import KEY, World, a_draft, a_frozen_edition, a_plan, a_world, answers_to
from .processes import ServerProcess, containers_of, descendants, filled, remaining, running, small_disk, start

BACKENDS = ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)]


def rows(data_dir: Path, query: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(data_dir / "registry.db")) as connection:
        return connection.execute(query).fetchall()


def kill(server: ServerProcess) -> None:
    server.process.kill()
    server.process.wait()


def test_a_server_stopped_between_all_stages_goes_on(tmp_path: Path) -> None:
    """Every fact is on disk when it is acknowledged; the token and the key stay the same."""
    data = tmp_path / "data"
    with running(data) as server, server.client() as client:
        token, key = server.token, client.server.info().public_key
        draft = a_draft(client, "stages")
        half = [CertificationRequest(shape, Condition.C0, 0) for shape in draft.shape_ids]
        certificates = {outcome.family: outcome.certificate for outcome in client.families.certify(draft.name, half)}
    with running(data) as server, server.client() as client:
        assert (server.token, client.server.info().public_key) == (token, key)
        outcomes = list(client.families.certify_edition(a_draft(client, "stages")))
        assert sum(outcome.is_stored for outcome in outcomes) == 2
        assert certificates.items() <= {outcome.family: outcome.certificate for outcome in outcomes}.items()
    with running(data) as server, server.client() as client:
        edition = client.editions.freeze(draft.name)
        families = client.editions.families(edition.name)
        corpus = client.grants.expose(edition.name, key=KEY, request_id="r")
        (grant,) = client.grants.list(edition.name)
    with running(data) as server, server.client() as client:
        assert list(client.grants.redeem(grant.name, key=KEY, request_id="r")) == corpus
        with pytest.raises(AlreadyDoneError):
            list(client.grants.redeem(grant.name, key=KEY, request_id="other"))
        experiment = client.experiments.create(a_plan(edition, "stages"))
        for bank in experiment.banks:
            client.banks.submit(bank.name, answers_to(bank, families))
    with running(data) as server, server.client() as client:
        receipts = [client.banks.seal(bank.name) for bank in experiment.banks]
        disclosure = client.experiments.disclose(experiment.name)
    with running(data) as server, server.client() as client:
        assert [client.banks.seal(bank.name) for bank in experiment.banks] == receipts
        assert client.experiments.disclose(experiment.name) == disclosure


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_server_killed_in_mid_certification_certifies_the_rest(tmp_path: Path, backend: str) -> None:
    """What was answered is stored, nothing is certified twice, no sandbox outlives its server.

    Killed four times on one folder, each time amid fresh families; `bench/kill_server.py` does it at random moments.
    """
    data = tmp_path / "data"
    answered: dict[str, object] = {}
    killed = []
    for kill_at in (1, 10, 20, 30):
        server = start(data, backend=backend)
        killed.append((server, descendants(server.process.pid)))
        with server.client() as client, contextlib.suppress(LeakScaleError):
            draft = a_draft(client, "killed", families_per_cell=16)
            for outcome in client.families.certify_edition(draft):
                answered[outcome.family] = outcome.certificate
                if len(answered) == kill_at:
                    kill(server)
        assert kill_at <= len(answered) < 64

    with running(data, backend=backend) as again, again.client() as client:
        outcomes = list(client.families.certify_edition(draft))
        for _, family in killed:
            assert remaining(family) == []
            if backend == "docker":
                assert containers_of(family) == []
    stored = {outcome.family: outcome.certificate for outcome in outcomes if outcome.is_stored}
    assert len(outcomes) == 64
    assert all(outcome.is_certified for outcome in outcomes)
    assert answered.items() <= stored.items()
    assert rows(data, "SELECT count(*), count(DISTINCT family_id) FROM certificates") == [(64, 64)]


@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05])
def test_a_server_killed_before_its_first_answer_is_an_error(tmp_path: Path, delay_s: float) -> None:
    """A stream has no deadline: a client that gRPC let wait for a server that is dead would wait for ever."""
    server = start(tmp_path / "data")
    with server.client() as client:
        draft = a_draft(client, "dead", families_per_cell=16)
        killer = threading.Timer(delay_s, server.process.kill)
        killer.start()
        with pytest.raises(UnavailableError):
            list(client.families.certify_edition(draft))
    killer.join()
    server.process.wait()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_server_stopped_in_mid_certification_ends_well(tmp_path: Path, backend: str) -> None:
    """The client hears that the server stops, and no sandbox is opened behind the pool that was closed."""
    data = tmp_path / "data"
    with running(data, backend=backend) as server, server.client() as client:
        draft = a_draft(client, "stopped", families_per_cell=16)
        stream = client.families.certify_edition(draft)
        next(stream)
        jails = descendants(server.process.pid)
        server.process.terminate()

        with pytest.raises(UnavailableError):
            list(stream)
        assert server.process.wait(60) == 0
    if backend == "docker":
        assert containers_of(jails) == []
    else:
        assert jails
        assert remaining(jails) == []


def test_a_server_killed_in_mid_upload_has_each_answer_once(tmp_path: Path) -> None:
    """The client sends all of them again; those that had arrived are known."""
    data = tmp_path / "data"
    server = start(data)
    with server.client() as client:
        edition, _ = a_frozen_edition(client, "upload")
        families = client.editions.families(edition.name)
        experiment = client.experiments.create(a_plan(edition, "upload", draw_count=1000))
        bank = experiment.banks[0]
        answers = answers_to(bank, families, draws=1000)

        def interrupted() -> Iterator[Answer]:
            for number, answer in enumerate(answers):
                if number == 5000:
                    while client.banks.get(bank.name).answered_count < 1024:
                        time.sleep(0.01)
                    kill(server)
                yield answer

        with pytest.raises(LeakScaleError):
            client.banks.submit(bank.name, interrupted())
    arrived = rows(data, "SELECT sum(answer_count) FROM chunks")[0][0]
    assert isinstance(arrived, int)
    assert 1024 <= arrived < len(answers)

    with running(data) as again, again.client() as client:
        assert client.banks.get(bank.name).answered_count == arrived
        assert client.banks.submit(bank.name, answers).answered_count == len(answers)
        assert client.banks.seal(bank.name).case_count == len(answers)
    assert rows(data, "SELECT sum(answer_count) FROM chunks") == [(len(answers),)]


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Certify, answer and seal into a disk that fills up, at many places; free some space, and all of it goes on."""
    with small_disk(tmp_path / "disk", byte_count=3_000_000) as disk:
        data = disk / "data"
        with running(data) as server, server.client() as client:
            draft = a_draft(client, "full")
            acknowledged = {}
            refused = 0
            for step in range(8):
                with filled(disk, leaving_bytes=step * 8192), contextlib.suppress(StorageFullError):
                    refused += 1
                    for outcome in client.families.certify_edition(draft):
                        acknowledged[outcome.family] = outcome.certificate
                    refused -= 1
            assert refused > 0
            outcomes = {outcome.family: outcome for outcome in client.families.certify_edition(draft)}
            assert acknowledged.items() <= {name: each.certificate for name, each in outcomes.items()}.items()
            with filled(disk, leaving_bytes=0), pytest.raises(StorageFullError, match="free some space"):
                client.editions.freeze(draft.name)
            edition = client.editions.freeze(draft.name)
            experiment = client.experiments.create(a_plan(edition, "full", draw_count=200))
            families = client.editions.families(edition.name)
            for bank in experiment.banks:
                answers = answers_to(bank, families, draws=200)
                with filled(disk, leaving_bytes=65_536), pytest.raises(StorageFullError):
                    client.banks.submit(bank.name, answers)
                known = client.banks.get(bank.name).answered_count
                assert known < len(answers)
                assert client.banks.submit(bank.name, answers).answered_count == len(answers)
                with filled(disk, leaving_bytes=0), contextlib.suppress(StorageFullError):
                    client.banks.seal(bank.name)
            receipts = [client.banks.seal(bank.name) for bank in experiment.banks]
            disclosure = client.experiments.disclose(experiment.name)
            head = client.ledger.head()
        with running(data) as server, server.client() as client:
            assert [client.banks.seal(bank.name) for bank in experiment.banks] == receipts
            assert client.experiments.disclose(experiment.name) == disclosure
            assert client.ledger.head() == head


def test_a_server_that_starts_on_a_full_disk_starts_when_there_is_space(tmp_path: Path) -> None:
    """A half-written key, token or table from the first start would stop every later one."""
    with small_disk(tmp_path / "disk", byte_count=1_000_000) as disk:
        data = disk / "data"
        for leaving in (0, 8192, 40960, 122880):
            with filled(disk, leaving_bytes=leaving), contextlib.suppress(AssertionError):
                server = start(data, log=tmp_path / "log")
                kill(server)
        log = (tmp_path / "log").read_text()
        assert "leakscale-server: " in log
        assert "Traceback" not in log

        with running(data) as server, server.client() as client:
            assert client.ledger.head().entry_count == 0


def test_a_local_server_stops_with_its_parent(tmp_path: Path) -> None:
    """After kill -9 nobody is left to stop it; the end of a pipe does."""
    code = (
        "import sys, time; from pathlib import Path; from leakscale.study.local_server import local_server\n"
        "root = Path(sys.argv[1])\n"
        "with local_server(root / 'data', backend='bubblewrap', log=root / 'log') as server:\n"
        "    print(server.target, flush=True); time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline()
    family = descendants(parent.pid)

    parent.kill()
    parent.wait()

    assert len(family) > 2  # a server and its sandboxes
    assert remaining(family) == []
    assert '"event": "stopping"' in (tmp_path / "log").read_text()


def test_a_local_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    """The reason stands in its log, which nobody has looked into yet."""
    from leakscale.study.local_server import local_server

    with (
        running(tmp_path / "data"),
        pytest.raises(UnavailableError, match="another server holds it"),
        local_server(tmp_path / "data", backend="bubblewrap", log=tmp_path / "log"),
    ):
        pass


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--listen", "0.0.0.0:7443"], "tokens would travel in the clear there"),
        (["--lanes", "0"], "--lanes 0"),
        (["--backend", "nothing"], "choose auto, docker or bubblewrap"),
    ],
)
def test_a_wrong_flag_is_one_line(tmp_path: Path, flags: list[str], words: str) -> None:
    """No trace, no half-made folder."""
    done = subprocess.run(
        [sys.executable, "-m", "leakscale_server", "--data-dir", str(tmp_path / "data"), *flags],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 3
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "data").exists()


def test_the_log_of_a_whole_life_holds_nothing_private(tmp_path: Path) -> None:
    """Logs are copied into tickets: events and classes, no seed, no token, no answer."""
    data = tmp_path / "data"
    with running(data) as server, server.client() as client:
        world: World = a_world(client, edition_id="logged")
        for act in (lambda: client.banks.submit("nowhere", []), lambda: client.editions.get("editions/none")):
            with contextlib.suppress(LeakScaleError):
                act()
        os.kill(server.process.pid, signal.SIGINT)
        server.process.wait(60)
    log = server.log.read_text()

    assert '"event": "serving"' in log
    assert server.token not in log
    assert not any(family.key in log for family in world.families)
