"""A process that forks after it called: the child of a data loader, of a pool, of a notebook."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import multiprocessing, sys
from concurrent.futures import ThreadPoolExecutor
import grpc
from leakscale.client import Client
from leakscale.v1 import server_service_pb2

def parent_and_child(target, queue):
    with Client(target, token="t", timeout_s=20) as fresh:
        queue.put((client.server.info().version, fresh.server.info().version))

if sys.argv[1] == "serve":
    handler = grpc.unary_unary_rpc_method_handler(
        lambda *_: server_service_pb2.GetServerInfoResponse(version="here").SerializeToString()
    )
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("leakscale.v1.ServerService", {"GetServerInfo": handler}),)
    )
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
else:
    context = multiprocessing.get_context("fork")
    with Client(sys.argv[1], token="t", timeout_s=20) as client:
        before = client.server.info().version
        queue = context.Queue()
        child = context.Process(target=parent_and_child, args=(sys.argv[1], queue), daemon=True)
        child.start()
        print(before, *queue.get(timeout=60), client.server.info().version)
        child.join(60)
"""


def test_a_forked_child_calls_and_its_parent_goes_on() -> None:
    """The channel it inherits has threads that the fork did not copy; a loader's worker would hang for ever."""
    serve = [sys.executable, "-c", PROGRAM, "serve"]
    with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        target = f"127.0.0.1:{server.stdout.readline().strip()}"
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, target], capture_output=True, text=True, timeout=120, check=False
        )
        server.terminate()

    assert done.stdout.split() == ["here"] * 4, done.stderr
