"""One endpoint, asked patiently: what every way of using it has in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Event
from typing import Any, TypeVar

from leakscale.inference.engines.dialect import check_reply_model
from leakscale.inference.engines.options import ConnectionOptions
from leakscale.inference.engines.patience import Patience
from leakscale.inference.engines.transport import HttpTransport, TransportFailure

__all__ = ["ConnectionOptions", "Endpoint", "Request"]

_Answer = TypeVar("_Answer")
Request = tuple[str, dict[str, Any]]
"""Path below the base of the API, and body."""


class Endpoint:
    """Sends requests and reads what comes back; safe to share among threads."""

    def __init__(self, options: ConnectionOptions) -> None:
        """Make ready to send; nothing is sent yet."""
        self._is_any_reply_good = options.any_reply_model
        self.patience = Patience(options.url, options.transport_failures_max, options.backoff_s, options.timeout_s)
        self._transport = HttpTransport(
            options.url,
            api_key=os.environ.get(options.api_key_variable),
            api_key_variable=options.api_key_variable,
            timeout_s=options.timeout_s,
            connections_max=options.concurrency,
        )

    def post(self, request: Request) -> dict[str, Any]:
        """Send one request once.

        Raises:
            TransportFailure: If no whole answer arrived.
            ModelError: If another model answered than was asked for.
            LeakScaleError: If the endpoint refuses the request for what it is.
        """
        path, body = request
        fields = self._transport.post(path, body)
        if not self._is_any_reply_good:
            check_reply_model(fields, body["model"])
        return fields

    def ask(self, request: Request, read: Callable[[dict[str, Any]], _Answer], *, stop: Event | None = None) -> _Answer:
        """Send one request until it is answered.

        Args:
            request: What is asked.
            read: Reads the answer; a `TransportFailure` of it is borne like one of the wire.
            stop: Once it is set, no failure is borne any more.

        Raises:
            UnavailableError: If it failed too often.
            TransportFailure: If it failed after `stop` was set.
            LeakScaleError: As `post`, and as `read` says.
        """
        failure_count, never = 0, stop or Event()
        while True:
            try:
                return read(self.post(request))
            except TransportFailure as failure:
                failure_count += 1
                self.patience.bear(failure, failure_count, never)
                if never.is_set():
                    raise
