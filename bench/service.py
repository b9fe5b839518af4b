"""Time the service: a large bank from upload to disclosure, many clients at once, and look-ups beside a bare echo.

    python bench/service.py [--whole-catalog] [--cases 65536] [--clients 256] [--backend bubblewrap] [--cache-dir DIR]

1. Banks of 65,536 cases each, of an edition of 64 families or of the whole catalog (2,048): upload and seal each,
   disclose all; the most memory that either process of the server ever had.
2. 256 clients with a connection each call at once, without a pause; no call may end UNKNOWN or INTERNAL.
3. One client looks the families of an edition up one by one, and calls in turn a gRPC server that gets the same
   requests with the same headers and does nothing but return bytes of the same length: it looks at no token, reads no
   request and counts nothing. How many calls a second the one takes for each of the other: where the server keeps the
   answer encoded, and where it has to make it.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import grpc

from _served import Server, require, running, scorer_of
from leakscale.client import Client
from leakscale.models import Answer, Bank, Edition, EditionKind, Experiment, ExperimentPlan, Family, Ring, ShapeFile
from leakscale.resources import catalog_folder
from leakscale.v1 import (
    edition_service_pb2,
    edition_service_pb2_grpc,
    experiment_service_pb2,
    experiment_service_pb2_grpc,
    ledger_service_pb2,
    ledger_service_pb2_grpc,
    server_service_pb2,
    server_service_pb2_grpc,
)
from leakscale_server.config import ServerConfig

SHAPES = ("sql/threshold.toml", "sql/prefix.toml")
CALLS_A_CLIENT = 40
ROUND_CALLS = 100
ROUNDS = 12
ECHOES = 5
"""Processes of the bare echo, one after the other: which threads and processors one happens on makes a tenth or two."""
UNKNOWN_FIELD = b"\xfd\x07"
"""Tag of field 127 with four bytes, which no request of ours has."""
UNLIMITED = ("--calls-per-second", "0", "--calls-at-once", "4096")
"""One principal stands for all clients here."""


def a_frozen_edition(client: Client, shapes: Sequence[Path]) -> tuple[Edition, tuple[Family, ...]]:
    draft = client.editions.create(
        "bench",
        kind=EditionKind.PRACTICE,
        families_per_cell=16,
        public_seed=b"p" * 32,
        practice_private_seed=b"s" * 32,
        shapes=[ShapeFile(path.name, path.read_text(encoding="utf-8")) for path in shapes],
    )
    outcomes = list(client.families.certify_edition(draft))
    require(all(outcome.is_certified for outcome in outcomes), "a family was rejected")
    edition = client.editions.freeze(draft.name)
    in_rings = [client.editions.families(edition.name, ring=ring) for ring in Ring]  # all that a server keeps in memory
    return edition, in_rings[0]


def answers_to(bank: Bank, families: tuple[Family, ...], draw_count: int) -> list[Answer]:
    return [
        Answer(family.family_id, draw, family.candidates[draw % 4].answer)
        for family in families
        if family.domain is bank.domain
        for draw in range(draw_count)
    ]


def time_banks(client: Client, edition: Edition, families: tuple[Family, ...], *, case_count: int) -> Experiment:
    draw_count = case_count // max(Counter(family.domain for family in families).values())
    plan = ExperimentPlan("bench", edition.name, "any", draw_count=draw_count, resample_count=10_000)
    experiment = client.experiments.create(plan)
    for bank in experiment.banks:
        answers = answers_to(bank, families, draw_count)
        started = time.perf_counter()
        client.banks.submit(bank.name, answers)
        uploaded = time.perf_counter()
        client.banks.seal(bank.name)
        sealed = time.perf_counter()
        print(
            f"bank {bank.name.rpartition('/')[2]}: {len(answers)} cases uploaded in {uploaded - started:.2f} s, sealed "
            f"in {sealed - uploaded:.2f} s: {sealed - started:.2f} s (bar 2 s)"
        )
    started = time.perf_counter()
    client.experiments.disclose(experiment.name)
    print(f"{len(experiment.banks)} banks scored and disclosed in {time.perf_counter() - started:.2f} s (bar 5 s)")
    return experiment


def say_memory(server: Server) -> None:
    for name, pid in (("API process", server.process.pid), ("scorer", scorer_of(server))):
        status = Path(f"/proc/{pid}/status").read_text()
        peak_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        print(f"{name}: at most {peak_kib / 1024:.0f} MiB (bar 300 MB)")


def a_channel(target: str) -> grpc.Channel:
    """Open a connection of its own, which tells every failure as it is."""
    return grpc.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])


def calls_of(channel: grpc.Channel, edition: Edition, experiment: Experiment) -> list[tuple[Callable[..., Any], Any]]:
    editions = edition_service_pb2_grpc.EditionServiceStub(channel)
    experiments = experiment_service_pb2_grpc.ExperimentServiceStub(channel)
    ledger = ledger_service_pb2_grpc.LedgerServiceStub(channel)
    info = server_service_pb2_grpc.ServerServiceStub(channel)
    return [
        (editions.GetEdition, edition_service_pb2.GetEditionRequest(name=edition.name)),
        (editions.ListFamilies, edition_service_pb2.ListFamiliesRequest(edition=edition.name, page_size=20)),
        (experiments.GetExperiment, experiment_service_pb2.GetExperimentRequest(name=experiment.name)),
        (experiments.DiscloseExperiment, experiment_service_pb2.DiscloseExperimentRequest(name=experiment.name)),
        (ledger.GetLedgerHead, ledger_service_pb2.GetLedgerHeadRequest()),
        (info.GetServerInfo, server_service_pb2.GetServerInfoRequest()),
    ]


def crowd(server: Server, edition: Edition, experiment: Experiment, *, client_count: int) -> None:
    metadata = (("authorization", f"Bearer {server.token}"),)
    together = threading.Barrier(client_count)
    codes: Counter[str] = Counter()

    def client(number: int) -> Counter[str]:
        found: Counter[str] = Counter()
        with a_channel(server.target) as channel:
            calls = calls_of(channel, edition, experiment)
            together.wait()
            for turn in range(CALLS_A_CLIENT):
                method, request = calls[(number + turn) % len(calls)]
                try:
                    method(request, metadata=metadata, timeout=120)
                    found["OK"] += 1
                except grpc.RpcError as error:
                    found[error.code().name] += 1
        return found

    started = time.perf_counter()
    with ThreadPoolExecutor(client_count) as threads:
        for found in threads.map(client, range(client_count)):
            codes += found
    seconds = time.perf_counter() - started
    told = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
    print(
        f"{client_count} clients at once, {codes.total()} calls in {seconds:.1f} s: {told} (bar: no UNKNOWN, INTERNAL)"
    )
    require(not codes["UNKNOWN"] and not codes["INTERNAL"], "a call ended UNKNOWN or INTERNAL")


def serve_echo(answer: bytes, ready: Connection) -> None:
    """Return the same bytes to every call, on as many threads as a server of ours has."""
    threads = ServerConfig(Path(), Path(), Path(), "", 2).thread_count  # type: ignore[arg-type]
    server = grpc.server(ThreadPoolExecutor(threads))
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(lambda _, __: answer)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Echo", {"Echo": handler}),))
    ready.send(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    server.wait_for_termination()


@contextmanager
def echoing(answer: bytes) -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_echo, args=(answer, theirs))
    process.start()
    try:
        yield f"127.0.0.1:{ours.recv()}"
    finally:
        process.kill()
        process.join()


def calls_a_second(call: Callable[[bytes], object], requests: Iterator[bytes]) -> float:
    asked = list(itertools.islice(requests, ROUND_CALLS))
    started = time.perf_counter()
    for request in asked:
        call(request)
    return ROUND_CALLS / (time.perf_counter() - started)


def bytes_call(channel: grpc.Channel, method: str, metadata: tuple[tuple[str, str], ...]) -> Callable[[bytes], bytes]:
    """Return a call of which the client neither writes nor reads a message: it would be the slower of the two."""
    method_call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
    return lambda request: method_call(request, metadata=metadata)


def told_apart(requests: Sequence[bytes]) -> Iterator[bytes]:
    """Return the same requests for ever, each with a field that the server does not know: none is kept already."""
    for number, request in enumerate(itertools.cycle(requests)):
        yield request + UNKNOWN_FIELD + number.to_bytes(4, "little")


def look_up(server: Server, families: tuple[Family, ...], edition: Edition) -> None:
    metadata = (("authorization", f"Bearer {server.token}"),)
    names = [f"{edition.name}/families/{family.family_id}" for family in families]
    requests = [edition_service_pb2.GetFamilyRequest(name=name).SerializeToString() for name in names]
    kinds = {"kept": itertools.cycle(requests), "made anew": told_apart(requests)}
    pairs: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    with a_channel(server.target) as channel:
        ours = bytes_call(channel, "/leakscale.v1.EditionService/GetFamily", metadata)
        middle = sorted((ours(request) for request in requests), key=len)[len(requests) // 2]
        for _ in range(ECHOES):
            with echoing(middle) as target, a_channel(target) as echo_channel:
                bare = bytes_call(echo_channel, "/Echo/Echo", metadata)
                for _, (kind, asked) in itertools.product(range(ROUNDS), kinds.items()):
                    pairs[kind].append((calls_a_second(ours, asked), calls_a_second(bare, asked)))
    for kind, rates in pairs.items():
        per_s, bare_per_s = (statistics.median(side) for side in zip(*rates, strict=True))
        share = statistics.median(one / other for one, other in rates)
        print(
            f"look-up of {len(names)} families ({len(requests[0])} and {len(middle)} bytes), answers {kind}: "
            f"{per_s:.0f} calls a second, bare echo {bare_per_s:.0f}: {share:.0%} (bar 80 %)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole-catalog", action="store_true", help="2,048 families in place of 64")
    parser.add_argument("--cases", type=int, default=65_536, help="of each bank")
    parser.add_argument("--clients", type=int, default=256)
    parser.add_argument("--backend", choices=("docker", "bubblewrap"), default="bubblewrap")
    parser.add_argument("--cache-dir", type=Path, default=ServerConfig.default_cache_dir())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with (
            running(data_dir, backend=options.backend, cache_dir=options.cache_dir, arguments=UNLIMITED) as server,
            Client(server.target, token=server.token) as client,
        ):
            shapes = SHAPES if not options.whole_catalog else ("sql/*.toml", "python/*.toml")
            paths = sorted(path for pattern in shapes for path in catalog_folder().glob(pattern))
            edition, families = a_frozen_edition(client, paths)
            experiment = time_banks(client, edition, families, case_count=options.cases)
            say_memory(server)
            look_up(server, families, edition)
            crowd(server, edition, experiment, client_count=options.clients)
            say_memory(server)


if __name__ == "__main__":
    main()
