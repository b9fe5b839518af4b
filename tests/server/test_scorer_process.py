"""Two processes: what the API process does not hold, and what happens when either dies."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from leakscale.client import Client
from leakscale.errors import LeakScaleError, UnavailableError
from leakscale.models import Edition, EditionKind, Experiment, Grant
from leakscale.results import Disclosure
from leakscale_server.store.vault_key import KEY_VARIABLE

from .helpers import CACHE, a_draft, a_frozen_edition, a_plan, a_vault, answers_to
from .helpers import KEY as HOLDER
from .processes import ServerProcess, descendants, memory_of, recovered, remaining, running, scorer_of, start

KEY = "5e" * 32


@dataclass(frozen=True, slots=True)
class Stage:
    """A served study that waits for each of its private stages."""

    server: ServerProcess
    client: Client
    data: Path
    draft: Edition
    complete: Edition
    """Certified, not frozen."""
    frozen: Edition
    grant: Grant
    experiment: Experiment


@pytest.fixture
def stage(served: Stage) -> Stage:
    """The server once its scorer is there: the test before may have killed it."""
    recovered(lambda: a_draft(served.client, "draft", families_per_cell=16))
    return served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One server for the tests that kill scorers, which it must survive."""
    data = tmp_path_factory.mktemp("scorer") / "data"
    with running(data) as server, server.client() as client:
        frozen, _ = a_frozen_edition(client, "frozen")
        complete = a_draft(client, "complete")
        list(client.families.certify_edition(complete))
        grant = client.grants.request(frozen.name, holder_key=HOLDER.public, request_id="r")
        client.grants.approve(grant.name)
        experiment = client.experiments.create(a_plan(frozen, "experiment"))
        families = client.editions.families(frozen.name)
        for bank in experiment.banks:
            client.banks.submit(bank.name, answers_to(bank, families))
            client.banks.seal(bank.name)
        draft = a_draft(client, "draft", families_per_cell=16)
        yield Stage(server, client, data, draft, complete, frozen, grant, experiment)


@contextmanager
def held(server: ServerProcess) -> Iterator[int]:
    """Stop a scorer in its tracks, so that what is asked of it is surely under way; kill it at the end."""
    scorer = scorer_of(server)
    os.kill(scorer, signal.SIGSTOP)
    try:
        yield scorer
    finally:
        os.kill(scorer, signal.SIGKILL)


def failure_amid(stage: Stage, act: Callable[[], object]) -> LeakScaleError:
    """Kill the scorer while a call of its waits for it, and return what the caller was told.

    The key is away for so long: a client repeats some calls by itself, and must not find a new scorer yet.
    """
    told: list[LeakScaleError] = []

    def call() -> None:
        try:
            act()
        except LeakScaleError as error:
            told.append(error)

    key = stage.data / "vault.key"
    with held(stage.server):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        key.rename(key.with_suffix(".away"))
    thread.join(60)
    key.with_suffix(".away").rename(key)
    assert not thread.is_alive()
    return told[0]


def retry_delay_s(error: LeakScaleError) -> int | None:
    status = rpc_status.from_call(error.__cause__)  # type: ignore[arg-type]
    assert status is not None
    for detail in status.details:
        info = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            return int(info.retry_delay.seconds)
    return None


CALLS: dict[str, Callable[[Stage], object]] = {
    "create": lambda stage: a_draft(stage.client, "another"),
    "certify": lambda stage: sorted(each.family for each in stage.client.families.certify_edition(stage.draft)),
    "freeze": lambda stage: stage.client.editions.freeze(stage.complete.name),
    "redeem": lambda stage: list(stage.client.grants.redeem(stage.grant.name, key=HOLDER, request_id="r")),
    "disclose": lambda stage: stage.client.experiments.disclose(stage.experiment.name),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_whose_scorer_is_killed_is_unavailable_and_then_succeeds(stage: Stage, name: str) -> None:
    """Nothing half done stays behind: repeated, the call gives what it would have given, and gives it again."""
    first = scorer_of(stage.server)

    error = failure_amid(stage, lambda: CALLS[name](stage))
    assert type(error) is UnavailableError
    assert "the scorer ended and is being started again; repeat the call" in str(error)
    assert retry_delay_s(error) == 5

    answer = recovered(lambda: CALLS[name](stage))
    assert answer == CALLS[name](stage)
    assert scorer_of(stage.server) != first


def test_what_needs_no_truth_is_served_while_the_scorer_is_down(stage: Stage) -> None:
    """Public families, banks and the ledger are the API process's own."""
    with held(stage.server):
        assert stage.client.editions.get(stage.frozen.name).commitment_root == stage.frozen.commitment_root
        assert stage.client.editions.families(stage.frozen.name)
        assert stage.client.ledger.head().entry_count > 0
        assert stage.client.experiments.get(stage.experiment.name).banks
        assert stage.client.server.info().lane_count == 2


def test_a_scorer_killed_again_and_again_certifies_all_in_the_end(stage: Stage) -> None:
    """Whatever was answered stays as it was, and each family has one certificate and one association."""
    draft = a_draft(stage.client, "stubborn", families_per_cell=16)
    answered: dict[str, object] = {}
    for kill_at in (1, 9, 20):
        with pytest.raises(UnavailableError):
            for number, outcome in enumerate(recovered(lambda: stage.client.families.certify_edition(draft))):
                assert answered.setdefault(outcome.family, outcome.certificate) == outcome.certificate
                if number == kill_at:
                    os.kill(scorer_of(stage.server), signal.SIGKILL)
        recovered(lambda: a_draft(stage.client, "stubborn", families_per_cell=16))

    outcomes = list(stage.client.families.certify_edition(draft))
    assert len(outcomes) == 64
    assert answered.items() <= {each.family: each.certificate for each in outcomes}.items()
    assert stage.client.editions.freeze(draft.name).is_frozen
    vault = a_vault(stage.data)
    assert len(vault.associations("stubborn")) == 64
    vault.close()


def test_results_do_not_depend_on_which_scorer_gave_them(stage: Stage) -> None:
    """The same seeds under another scorer: the same certificates, root and numbers."""
    _, before = a_frozen_edition(stage.client, "before")
    os.kill(scorer_of(stage.server), signal.SIGKILL)
    recovered(lambda: a_draft(stage.client, "after"))
    _, after = a_frozen_edition(stage.client, "after")

    def disclosed(edition: str) -> Disclosure:
        experiment = stage.client.experiments.create(a_plan(stage.client.editions.get(f"editions/{edition}"), edition))
        families = stage.client.editions.families(f"editions/{edition}")
        for bank in experiment.banks:
            stage.client.banks.submit(bank.name, answers_to(bank, families))
            stage.client.banks.seal(bank.name)
        return stage.client.experiments.disclose(experiment.name)

    assert [each.request for each in before] == [each.request for each in after]
    assert disclosed("before").totals == disclosed("after").totals


def test_the_api_process_holds_no_truth_and_no_key(tmp_path: Path) -> None:
    """Memory, open files and environment, after a private edition was made; the search itself is shown to find."""
    data = tmp_path / "data"
    with running(data, environ={KEY_VARIABLE: KEY}) as server, server.client() as client:
        draft = a_draft(client, "private", kind=EditionKind.PRIVATE, practice_private_seed=b"")
        outcomes = list(client.families.certify_edition(draft))
        client.editions.freeze(draft.name)
        os.kill(scorer_of(server), signal.SIGKILL)
        recovered(lambda: a_draft(client, "again"))
        vault = a_vault(data, key=bytes.fromhex(KEY))
        seed = vault.seed("private")
        nonces = [association.nonce for association in vault.associations("private").values()]
        vault.close()
        api, scorer = server.process.pid, scorer_of(server)
        memory = memory_of(api)
        opened = [str(path.readlink()) for path in Path(f"/proc/{api}/fd").iterdir()]
        environ = {pid: Path(f"/proc/{pid}/environ").read_bytes() for pid in (api, scorer)}

    assert len(nonces) == len(outcomes) == 16
    assert seed is not None
    secrets = [seed, *nonces, bytes.fromhex(KEY)]
    certificate = outcomes[0].certificate
    assert certificate is not None
    assert server.token.encode() in memory  # the search finds what is there
    assert certificate.signature in memory
    assert not [secret for secret in secrets if secret in memory or secret.hex().encode() in memory]
    assert any(name.endswith("registry.db") for name in opened)
    assert not [name for name in opened if "vault" in name]
    assert all(KEY.encode() not in block for block in environ.values())
    assert not (data / "vault.key").exists()


def test_the_scorer_listens_on_nothing(stage: Stage) -> None:
    """It speaks with its parent over one socket pair; a port would be a second door."""
    scorer = scorer_of(stage.server)
    links = [str(path.readlink()) for path in Path(f"/proc/{scorer}/fd").iterdir()]
    sockets = {link.removeprefix("socket:[").rstrip("]") for link in links if link.startswith("socket:")}
    on_network = {
        line.split()[9]
        for table in ("tcp", "tcp6", "udp", "udp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    }
    listening = {
        fields[6]
        for line in Path("/proc/net/unix").read_text().splitlines()[1:]
        if len(fields := line.split()) > 6 and fields[3] == "00010000"
    }

    assert any("vault.db" in link for link in links)
    assert sockets
    assert not sockets & (on_network | listening)


def test_a_scorer_goes_with_its_server(tmp_path: Path) -> None:
    """After kill -9 nobody tells it to stop; the end of its socket does, and its sandboxes go with it."""
    server = start(tmp_path / "data", environ={KEY_VARIABLE: KEY})
    family = descendants(server.process.pid)
    scorer = scorer_of(server)
    with server.client() as client:
        draft = a_draft(client, "draft", families_per_cell=16)
        stream = client.families.certify_edition(draft)
        next(stream)
        server.process.kill()
        server.process.wait()

    assert scorer in family
    assert len(family) >= 4  # the scorer, the keeper of its key, two sandboxes
    assert remaining(family) == []


def test_a_scorer_that_cannot_start_again_says_why_until_it_can(tmp_path: Path) -> None:
    """The server goes on with what needs no truth, and heals without a restart once the key is back."""
    data = tmp_path / "data"
    with running(data) as server, server.client() as client:
        draft = a_draft(client, "draft")
        (data / "vault.key").rename(tmp_path / "key")
        os.kill(scorer_of(server), signal.SIGKILL)
        deadline = time.monotonic() + 60
        while "the key was lost" not in server.log.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        with pytest.raises(UnavailableError):
            list(client.families.certify_edition(draft))
        assert client.editions.get(draft.name) == draft

        (tmp_path / "key").rename(data / "vault.key")
        assert len(recovered(lambda: list(client.families.certify_edition(draft)))) == 16
        log = server.log.read_text()

    assert '"event": "scorer does not start"' in log
    assert '"event": "scorer started again"' in log


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: (data / "vault.key").unlink(), "the key was lost"),
        (lambda data: (data / "vault.key").write_text("ab" * 32), "the vault key does not open"),
        (lambda data: (data / "vault.key").write_text("short"), "that are no key"),
        (lambda data: (data / "vault.db").write_bytes(b"no database" * 900), "is damaged or no vault"),
        (lambda data: (data / "signing.key").write_bytes(b"x"), "a signing key has 32"),
    ],
)
def test_a_server_that_cannot_open_its_vault_ends_with_one_line(
    tmp_path: Path, spoil: Callable[[Path], object], words: str
) -> None:
    """The scorer's word is the command's: no trace, no riddle."""
    data = tmp_path / "data"
    with running(data):
        pass
    spoil(data)
    command = [sys.executable, "-m", "leakscale_server", "--data-dir", str(data), "--listen", "127.0.0.1:0"]
    command += ["--backend", "bubblewrap", "--cache-dir", str(CACHE), "--lanes", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 3
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_row_ends_the_call_and_not_the_server(tmp_path: Path) -> None:
    """DATA_LOSS with edition and family, and not a word of what the row held."""
    from leakscale.errors import IntegrityError

    data = tmp_path / "data"
    with running(data) as server, server.client() as client:
        draft = a_draft(client, "draft")
        list(client.families.certify_edition(draft))
        connection = sqlite3.connect(data / "vault.db")
        connection.execute("DROP TRIGGER associations_refuses_update")
        connection.execute("UPDATE associations SET sealed = zeroblob(284)")
        connection.commit()
        connection.close()

        with pytest.raises(IntegrityError, match="of edition 'draft' is damaged or stood in another place"):
            client.editions.freeze(draft.name)
        assert client.editions.get(draft.name).certified_count == 16
