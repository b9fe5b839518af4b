"""How often a caller without a valid token may be told so. Who has one is never counted here, from whatever address."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from leakscale_server.errors import QueueFull
from leakscale_server.limits import CallLimits
from leakscale_server.services.allowance import Allowance

__all__ = ["Strangers", "network_of"]

_NETWORKS_MAX: Final = 1024
_AT_LEAST_S: Final = 0.2
_IPV6_PREFIX: Final = 64
"""Bits of an IPv6 address that one customer of a provider cannot change."""


class Strangers:
    """Counts refused calls by the network that they come from, as many networks as were met last.

    It does not guard against somebody who has more networks than that.

    Args:
        limits: How many are too many.
        monotonic_s: Clock for the rate.
    """

    def __init__(self, limits: CallLimits, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._allowances: OrderedDict[str, Allowance] = OrderedDict()

    def __len__(self) -> int:
        """Return how many networks are remembered."""
        return len(self._allowances)

    def count(self, peer: str) -> None:
        """Count a call that is refused.

        Args:
            peer: Where it comes from, as gRPC writes it.

        Raises:
            QueueFull: If it is one too many; with the time after which the next one is told what is wrong.
        """
        with self._lock:
            missing_s = self._allowance(network_of(peer)).take(self._monotonic_s())
        if missing_s:
            raise QueueFull(
                f"more than {self._limits.stranger_calls_per_s:g} calls a second come from this address without a "
                "valid token; slow down",
                retry_after_s=max(missing_s, _AT_LEAST_S),
            )

    def _allowance(self, network: str) -> Allowance:
        allowance = self._allowances.pop(network, None)
        if allowance is None:
            limits = self._limits
            allowance = Allowance(per_s=limits.stranger_calls_per_s, burst_s=limits.burst_s, now_s=self._monotonic_s())
        self._allowances[network] = allowance
        if len(self._allowances) > _NETWORKS_MAX:
            self._allowances.popitem(last=False)
        return allowance


def network_of(peer: str) -> str:
    """Return whose address a peer has: an IPv4 address, a /64 of IPv6, or the kind of what is neither.

    Args:
        peer: Such as `ipv4:192.0.2.1:4711`, `ipv6:%5B2001:db8::1%5D:4711` or `unix:`.
    """
    kind, _, rest = peer.partition(":")
    host = unquote(rest).rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return kind
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
