"""Talk to a LeakScale server: one method an RPC, grouped as the services are.

with Client("127.0.0.1:7443", token=token) as client:
    edition = client.editions.get("editions/demo")
    families = client.editions.families(edition.name)
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from leakscale.client.audits import Audits
from leakscale.client.banks import Banks, Experiments
from leakscale.client.editions import Editions, Families
from leakscale.client.grants import Grants
from leakscale.client.ledger import Ledger
from leakscale.client.server import Server
from leakscale.client.tls import Tls
from leakscale.client.transport import Transport

__all__ = ["Client", "Tls"]


class Client:
    """A connection to one server. Thread-safe; close it, or use it as a context manager.

    Args:
        target: `host:port` or `unix:/path`.
        token: Bearer token; without one every call but the health check is refused.
        tls: What to trust and to show. None: to another machine TLS with the authorities that gRPC trusts, on this
            machine none.
        timeout_s: Deadline of a unary call, and how long a busy server is waited for.
        stream_timeout_s: Deadline of a call that streams: certification, a corpus, an upload.

    Raises:
        LeakScaleError: From every method, one of the classes in `leakscale.errors`.
    """

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        tls: Tls | None = None,
        timeout_s: float = 60.0,
        stream_timeout_s: float = 4 * 3600.0,
    ) -> None:
        self._transport = Transport(
            target, token=token, tls=tls, timeout_s=timeout_s, stream_timeout_s=stream_timeout_s
        )
        self.server = Server(self._transport)
        self.ledger = Ledger(self._transport)
        self.editions = Editions(self._transport)
        self.families = Families(self._transport)
        self.grants = Grants(self._transport)
        self.experiments = Experiments(self._transport)
        self.banks = Banks(self._transport)
        self.audits = Audits(self._transport)

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
