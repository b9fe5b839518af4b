"""Start the scorer as a child, ask it, and start it again when it dies."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Final, Self

import structlog

from leakscale.models import Opening
from leakscale.sealing import SealedPiece
from leakscale_server.config import ConfigError
from leakscale_server.core.edition_keys import EditionKey
from leakscale_server.errors import ServerFault
from leakscale_server.scorer.contract import (
    CorpusOrder,
    FamilyOrder,
    FamilyOutcome,
    RetirementOrder,
    SandboxFacts,
    ScorerSettings,
    SealedExperiment,
    SeedState,
    SignedPayload,
    TraceOrder,
)
from leakscale_server.scorer.operations import OPEN, OPERATIONS
from leakscale_server.scorer_process.audit_calls import AuditCalls
from leakscale_server.scorer_process.connection import Connection, scorer_is_gone
from leakscale_server.scorer_process.key_keeper import KeyKeeper
from leakscale_server.store.ledger import LoggedEntry

__all__ = ["ScorerProcess"]

_log = structlog.get_logger()
_END_S_MAX: Final = 30.0
"""How long a scorer may take to close its sandboxes, after which it is killed."""
_DELAYS_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Before each start that follows a death, the last for all further ones."""
_STEADY_S: Final = 30.0
"""A scorer that lived so long had its trouble anew: the delays begin again."""


class ScorerProcess:
    """A child that answers as `Scoring` says. Safe to use from several threads.

    While the child is down, calls end with `Unavailable` at once; none waits for it. Each child inherits this process's
    environment, the other end of one socket pair, and the pipe with its key where somebody keeps that.
    """

    def __init__(self, settings: ScorerSettings, *, key_keeper: KeyKeeper | None = None) -> None:
        self._settings = settings
        self._key_keeper = key_keeper
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._opening: Connection | None = None
        """The one that `_connection` becomes once its scorer has opened vault and sandboxes."""
        self._sandbox: SandboxFacts | None = None
        self._closing = threading.Event()
        self._watching = threading.Lock()
        self._watchers: list[Callable[[bool], None]] = []
        self._audits = AuditCalls(self._connected)
        self._reviver = threading.Thread(target=self._revive, name="scorer-reviver", daemon=True)

    def __enter__(self) -> Self:
        """Start the child, and wait until it has opened vault and sandboxes.

        Raises:
            ConfigError: If it cannot; the message is the child's.
        """
        self._start()
        self._reviver.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the child, and wait until it is gone with its sandboxes."""
        self._closing.set()
        for connection in (self._connection, self._opening):
            if connection is not None:
                connection.close()
        self._reap()
        self._reviver.join()

    @property
    def sandbox(self) -> SandboxFacts:
        """Tell what runs candidates."""
        if self._sandbox is None:
            scorer_is_gone()
        return self._sandbox

    @property
    def audits(self) -> AuditCalls:
        """Ask about deposited audits."""
        return self._audits

    def watch(self, watcher: Callable[[bool], None]) -> None:
        """Tell somebody whether the scorer can be asked, now and at each change. It must return soon."""
        with self._watching:
            self._watchers.append(watcher)
            watcher(self._connection is not None)

    def fix_seed(self, edition_key: EditionKey, practice_seed: bytes) -> SeedState:
        """See `Scoring`."""
        state: SeedState = self._ask("fix_seed", edition_key, practice_seed)
        return state

    def certify(self, order: FamilyOrder) -> FamilyOutcome:
        """See `Scoring`."""
        outcome: FamilyOutcome = self._ask("certify", order)
        return outcome

    def commit(self, edition_key: EditionKey, family_ids: tuple[str, ...]) -> bytes:
        """See `Scoring`."""
        root: bytes = self._ask("commit", edition_key, family_ids)
        return root

    def retire(self, order: RetirementOrder) -> bytes:
        """See `Scoring`."""
        digest: bytes = self._ask("retire", order)
        return digest

    def openings(self, edition_key: EditionKey, logged: LoggedEntry) -> tuple[Opening, ...]:
        """See `Scoring`."""
        opened: tuple[Opening, ...] = self._ask("openings", edition_key, logged)
        return opened

    def corpus(self, order: CorpusOrder) -> Iterator[SealedPiece]:
        """See `Scoring`."""
        return self._connected().ask_items(OPERATIONS["corpus"], order)

    def trace(self, order: TraceOrder) -> tuple[tuple[str, ...], ...]:
        """See `Scoring`."""
        found: tuple[tuple[str, ...], ...] = self._ask("trace", order)
        return found

    def disclose(self, experiment: SealedExperiment) -> SignedPayload:
        """See `Scoring`."""
        signed: SignedPayload = self._ask("disclose", experiment)
        return signed

    def _ask(self, name: str, *arguments: object) -> Any:
        return self._connected().ask(OPERATIONS[name], *arguments)

    def _connected(self) -> Connection:
        # Read once: another thread may put the next scorer in its place, or nothing yet.
        connection = self._connection
        if connection is None:
            scorer_is_gone()
        return connection

    def _start(self) -> None:
        channel, settings = self._launch()
        self._opening = connection = Connection(channel)
        try:
            self._sandbox = connection.ask(OPEN, settings)
        except ServerFault as fault:
            connection.close()
            connection.wait_until_lost()
            code = self._reap()
            # A child that ends in peace has said why; another one did not come so far.
            said = fault.message if code == 0 else f"the scorer ended with status {code} before it served; see the log"
            raise ConfigError(said) from fault
        self._connect(connection)

    def _connect(self, connection: Connection | None) -> None:
        with self._watching:
            self._connection = connection
            for watcher in self._watchers:
                watcher(connection is not None)

    def _launch(self) -> tuple[socket.socket, ScorerSettings]:
        """Start the child's process, and return the socket to it and what it is to open."""
        settings = dataclasses.replace(self._settings, is_host_known=self._sandbox is not None)
        passed: list[int] = []
        if self._key_keeper is not None:
            passed.append(key := self._key_keeper.pour())
            settings = dataclasses.replace(settings, vault_key_descriptor=key)
        ours, theirs = socket.socketpair()
        try:
            # A session of its own: Ctrl-C is for the API process, which lets calls end before it lets the scorer go.
            self._child = subprocess.Popen(
                [sys.executable, "-m", "leakscale_server.scorer", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), *passed),
                start_new_session=True,
            )
        finally:
            theirs.close()
            for descriptor in passed:
                os.close(descriptor)
        return ours, settings

    def _revive(self) -> None:
        """Start the child again whenever it dies, until this object is closed."""
        death_count, started = 0, time.monotonic()
        while True:
            if self._connection is not None:
                self._connection.wait_until_lost()
                self._connect(None)
                code = self._reap()
                if self._closing.is_set():
                    return
                death_count = 0 if time.monotonic() - started > _STEADY_S else death_count
                _log.error("scorer ended", status=code)
            if self._closing.wait(_DELAYS_S[min(death_count, len(_DELAYS_S) - 1)]):
                return
            death_count += 1
            started = time.monotonic()
            try:
                self._start()
                _log.info("scorer started again")
            except (ConfigError, OSError) as error:
                _log.error("scorer does not start", reason=str(error))
            if self._closing.is_set() and self._connection is not None:
                self._connection.close()

    def _reap(self) -> int:
        assert self._child is not None  # noqa: S101 - it was started before anybody reaps
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._child.wait(_END_S_MAX)
        self._child.kill()
        return self._child.wait()
