"""Who gets in: tokens, addresses, and a thread for everybody."""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from leakscale.client import Client
from leakscale.errors import (
    AuthenticationError,
    BusyError,
    InvalidRequestError,
    LeakScaleError,
    UnavailableError,
)
from leakscale.models import CertificationRequest
from leakscale_server.app import RunningServer, serve
from leakscale_server.config import ConfigError
from leakscale_server.limits import CallLimits

from .helpers import KEY, World, a_plan, answers_to, server_config

CALLS: list[Callable[[Client], object]] = [
    lambda client: client.server.info(),
    lambda client: client.ledger.head(),
    lambda client: list(client.editions.list()),
    lambda client: client.editions.families("editions/world"),
    lambda client: list(client.families.certify("editions/world", [])),
    lambda client: list(client.grants.redeem("editions/world/grants/g-0", key=KEY, request_id="r")),
    lambda client: client.banks.submit("experiments/world/banks/sql-base", []),
    lambda client: client.experiments.disclose("experiments/world"),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("token", "kind"), [(None, AuthenticationError), ("", AuthenticationError), ("lsk_wrong", AuthenticationError)]
)
def test_no_call_passes_without_the_token(
    server: RunningServer, call: Callable[[Client], object], token: str | None, kind: type[LeakScaleError]
) -> None:
    """Of all four kinds: one that was forgotten would be the door."""
    with Client(server.target, token=token) as client, pytest.raises(kind) as caught:
        call(client)

    assert "token" in str(caught.value)
    assert server.token not in str(caught.value)


@pytest.mark.parametrize("token", ["two words", "new\nline", "trailing\n", "ümlaut", "\x00"])
def test_a_token_that_no_header_can_carry_is_refused_before_it_is_sent(token: str) -> None:
    """`TOKEN=$(cat token | tr …)` gone wrong must not end in a traceback of the transport."""
    with pytest.raises(InvalidRequestError, match="the token holds"):
        Client("127.0.0.1:1", token=token)


def test_health_needs_no_token(server: RunningServer) -> None:
    """Whoever supervises the process need not be trusted with what it holds."""
    with grpc.insecure_channel(server.target) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        answer = check(health_pb2.HealthCheckRequest(), timeout=20)

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_no_server_is_said_with_the_next_step() -> None:
    """The first mistake that everybody makes."""
    with Client("127.0.0.1:1", token="t") as client, pytest.raises(UnavailableError, match="leakscale server start"):
        client.server.info()


def test_a_message_that_is_too_large_is_the_senders_mistake(client: Client) -> None:
    """gRPC calls it exhausted resources; to try again later would never help."""
    from leakscale.models import EditionKind, ShapeFile

    with pytest.raises(InvalidRequestError, match="too large"):
        client.editions.create(
            "large",
            kind=EditionKind.PRIVATE,
            families_per_cell=4,
            public_seed=b"x" * 16,
            shapes=[ShapeFile("s", "#" * 5_000_000)],
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"listen": "0.0.0.0:0"}, "tokens would travel in the clear there; pass --tls-certificate"),
        ({"listen": "192.0.2.1:7443"}, "loopback"),
        ({"listen": "example.org:7443"}, "loopback"),
        ({"listen": "::1:7443"}, "loopback"),
        ({"listen": "127.0.0.1"}, "port must be a number"),
        ({"listen": "127.0.0.1:99999"}, "port must be a number"),
        ({"listen": "127.0.0.1:²"}, "port must be a number"),
        ({"lane_count": 0}, "--lanes 0"),
        ({"lane_count": 3}, "--lanes 3"),
        ({"lane_count": 66}, "--lanes 66"),
        ({"backend": "chroot"}, "--backend chroot"),
        ({"metrics_listen": "0.0.0.0"}, "--metrics-listen 0.0.0.0: no page is served there; pass --metrics-port too"),
        ({"metrics_port": 0, "metrics_listen": "localhost"}, "--metrics-listen localhost: pass an IP address"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_flag(tmp_path: Path, change: dict[str, object], words: str) -> None:
    """Without TLS nobody may listen to a network by mistake."""
    with pytest.raises(ConfigError, match=words), serve(server_config(tmp_path / "data", **change)):
        pass

    assert not (tmp_path / "data").exists()


def test_two_servers_do_not_share_a_data_folder(server: RunningServer, data_dir: Path) -> None:
    """Each would believe in its own ledger."""
    with pytest.raises(ConfigError, match="another server holds it"), serve(server_config(data_dir)):
        pass


def test_a_folder_of_somebody_elses_is_not_taken(tmp_path: Path) -> None:
    """`--data-dir ~` would make a home folder private to root, and fill it."""
    (tmp_path / "thesis.tex").write_text("x")
    tmp_path.chmod(0o755)

    with pytest.raises(ConfigError, match="holds other files"), serve(server_config(tmp_path)):
        pass

    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_taken_port_is_said_and_nothing_stays_open(server: RunningServer, tmp_path: Path) -> None:
    """A second server on the port would take every other call."""
    with (
        pytest.raises(ConfigError, match="the address is taken"),
        serve(server_config(tmp_path / "data", listen=server.target)),
    ):
        pass


def test_a_unix_socket_serves_too(tmp_path: Path) -> None:
    """Where even loopback is shared."""
    listen = f"unix:{tmp_path}/s"

    with (
        serve(server_config(tmp_path / "data", listen=listen)) as running,
        Client(running.target, token=running.token) as client,
    ):
        assert client.server.info().lane_count == 2


def test_idle_streams_leave_threads_for_everybody_else(tmp_path: Path) -> None:
    """Clients that open a stream and say nothing must neither stop health checks nor other clients."""
    config = server_config(tmp_path / "data", thread_count=4, call_limits=CallLimits(stream_count_max=2))
    release = threading.Event()

    def silence() -> Iterator[CertificationRequest]:
        release.wait(60)
        yield from ()

    with serve(config) as running, contextlib.ExitStack() as stack:
        client = stack.enter_context(Client(running.target, token=running.token, timeout_s=3))
        stack.callback(release.set)
        idle = [threading.Thread(target=drain, args=(client, silence)) for _ in range(2)]
        for thread in idle:
            thread.start()
        with pytest.raises(BusyError, match="2 streams are open"):
            for _ in range(10_000):  # until both have begun
                list(client.families.certify("editions/none", []))
        assert client.server.info().lane_count == 2
        release.set()
        for thread in idle:
            thread.join(60)

        assert list(client.families.certify("editions/none", [])) == []


def test_a_silent_stream_is_ended_and_its_place_is_free(tmp_path: Path) -> None:
    """Whatever deadline its client chose."""
    config = server_config(tmp_path / "data", call_limits=CallLimits(stream_count_max=1, idle_stream_s=0.5))
    release = threading.Event()

    def silence() -> Iterator[CertificationRequest]:
        release.wait(120)
        yield from ()

    with serve(config) as running, Client(running.target, token=running.token) as client:
        try:
            with pytest.raises(UnavailableError, match="heard nothing of this client"):
                list(client.families.certify("editions/none", silence()))
        finally:
            release.set()
        assert list(client.families.certify("editions/none", [])) == []


def drain(client: Client, requests: Callable[[], Iterator[CertificationRequest]]) -> None:
    while True:
        try:
            list(client.families.certify("editions/none", requests()))
            return
        except BusyError:  # the call that asks whether both have begun is a stream too
            continue


def test_sixty_four_clients_at_once_get_their_own_answers(server: RunningServer, client: Client, world: World) -> None:
    """All kinds of calls, good and wrong tokens mixed: nobody gets another's identity, answer or bank."""
    failures: list[str] = []
    start = threading.Barrier(64)

    def one(number: int) -> None:
        start.wait()
        if number % 4 == 3:
            intruder = Client(server.target, token=f"lsk_{number}")
            with intruder, contextlib.suppress(AuthenticationError):
                intruder.editions.get(world.edition.name)
                failures.append(f"{number}: let in")
            return
        with Client(server.target, token=server.token) as own:
            experiment = own.experiments.create(a_plan(world.edition, f"crowd-{number}"))
            bank = experiment.banks[number % 4]
            answers = answers_to(bank, world.families, position=number % 4)
            own.banks.submit(bank.name, answers)
            own.banks.seal(bank.name)
            again = list(own.families.certify_edition(world.edition))
            if own.banks.get(bank.name).answered_count != len(answers) or len(again) != 16:
                failures.append(f"{number}: wrong answer")

    def guarded(number: int) -> None:
        try:
            one(number)
        except Exception as error:
            failures.append(f"{number}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert failures == []
    head = client.ledger.head()
    assert client.ledger.head() == head


def test_a_crowd_of_clients_is_served_or_told_to_come_back(server: RunningServer, world: World) -> None:
    """Never UNKNOWN and never INTERNAL: what a server cannot do now it says, and the client asks again."""
    ended: list[str] = []
    start = threading.Barrier(256)

    def one(number: int) -> None:
        token = f"lsk_{number}" if number % 8 == 0 else server.token
        with Client(server.target, token=token) as client:
            start.wait()
            for _ in range(4):
                try:
                    ended.append(client.editions.get(world.edition.name).name)
                except LeakScaleError as error:
                    ended.append(type(error).__name__)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(256)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert collections.Counter(ended) == {world.edition.name: 224 * 4, "AuthenticationError": 32 * 4}


def test_a_client_that_leaves_in_mid_stream_frees_the_lanes(client: Client, world: World) -> None:
    """Ctrl-C of one author must not stop the certification of the next."""
    from .helpers import a_draft

    draft = a_draft(client, "left", families_per_cell=8)
    stream = client.families.certify_edition(draft)
    next(stream)
    stream.close()

    outcomes = list(client.families.certify_edition(draft))

    assert len(outcomes) == 32
    assert all(outcome.is_certified for outcome in outcomes)
