"""Callers without a valid token: told what is wrong, so many times a second and address, at nobody else's cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import httpx
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from leakscale.client import Client
from leakscale_server.app import RunningServer, serve
from leakscale_server.errors import QueueFull
from leakscale_server.limits import CallLimits
from leakscale_server.services.strangers import Strangers, network_of

from .helpers import server_config


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def refused(strangers: Strangers, peer: str = "ipv4:192.0.2.1:4711") -> QueueFull:
    with pytest.raises(QueueFull) as caught:
        strangers.count(peer)
    return caught.value


def test_an_address_that_hammers_is_told_when_to_come_back() -> None:
    """Whoever guesses, and whoever's job loops with a token that ended, is slowed down alike."""
    clock = Clock()
    strangers = Strangers(CallLimits(stranger_calls_per_s=2, burst_s=2), monotonic_s=clock)
    for port in range(4):
        strangers.count(f"ipv4:192.0.2.1:{port}")
    fault = refused(strangers)

    assert fault.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert fault.retry_after_s == pytest.approx(0.5)
    strangers.count("ipv4:192.0.2.2:4711")
    clock.now_s += 0.5
    strangers.count("ipv4:192.0.2.1:4711")
    refused(strangers)


def test_no_rate_lets_every_stranger_hear_what_is_wrong() -> None:
    """For whoever stands behind a proxy that counts itself."""
    strangers = Strangers(CallLimits(stranger_calls_per_s=0), monotonic_s=Clock())
    for _ in range(1000):
        strangers.count("unix:")


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        ("ipv4:192.0.2.1:4711", "192.0.2.1"),
        ("ipv4:[192.0.2.1]:4711", "192.0.2.1"),
        ("ipv6:%5B2001:db8::1%5D:4711", "2001:db8::/64"),
        ("ipv6:[2001:db8:0:0:9::7]:4711", "2001:db8::/64"),
        ("ipv6:%5B2001:db8:0:1::1%5D:4711", "2001:db8:0:1::/64"),
        ("ipv6:%5B::ffff:192.0.2.1%5D:4711", "192.0.2.1"),
        ("ipv6:%5Bfe80::1%25eth0%5D:4711", "fe80::/64"),
        ("unix:", "unix"),
        ("unknown", "unknown"),
    ],
)
def test_a_network_is_what_its_owner_cannot_change(peer: str, network: str) -> None:
    """A port is free for all, and so are the lower 64 bits of IPv6."""
    assert network_of(peer) == network


def test_the_addresses_of_a_whole_network_do_not_fill_the_memory() -> None:
    """The addresses met last are remembered, and one that goes on hammering is among them."""
    strangers = Strangers(CallLimits(stranger_calls_per_s=1, burst_s=1), monotonic_s=Clock())
    strangers.count("ipv4:192.0.2.1:4711")
    for number in range(5000):
        strangers.count(f"ipv4:10.0.{number // 250}.{number % 250}:1")
        refused(strangers)

    assert len(strangers) <= 1024


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that tells a stranger once in a long time."""
    limits = CallLimits(stranger_calls_per_s=0.01, burst_s=300)
    config = server_config(tmp_path_factory.mktemp("strict") / "data", call_limits=limits, http_listen="127.0.0.1:0")
    with serve(config) as running:
        yield running


@contextmanager
def asking(server: RunningServer, token: str) -> Iterator[Any]:
    with grpc.insecure_channel(server.target) as channel:
        method: Any = channel.unary_unary("/leakscale.v1.LedgerService/GetLedgerHead")
        yield lambda: method(b"", metadata=[("authorization", f"Bearer {token}")], timeout=20)


def test_who_has_a_token_is_served_beside_a_stranger_at_the_same_address(strict: RunningServer) -> None:
    """Or a colleague's broken job behind the same gateway would be everybody's."""
    codes = []
    with asking(strict, "lsk_guess") as ask:
        for _ in range(6):
            with pytest.raises(grpc.RpcError) as caught:
                ask()
            codes.append(caught.value.code())
    by_http = httpx.post(f"http://{strict.http_target}/leakscale.v1.LedgerService/GetLedgerHead", json={}, timeout=20)

    assert codes == [grpc.StatusCode.UNAUTHENTICATED] * 3 + [grpc.StatusCode.RESOURCE_EXHAUSTED] * 3
    assert (by_http.status_code, int(by_http.headers["retry-after"]) > 0) == (429, True)
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]
    assert status is not None
    retry = error_details_pb2.RetryInfo()
    assert any(detail.Unpack(retry) for detail in status.details if detail.Is(retry.DESCRIPTOR))
    with Client(strict.target, token=strict.token) as client:
        assert client.ledger.head()
