"""Two servers over one data folder that differ in their associations alone, each asked over a wire of its own.

Both have the same ids, keys, seeds, nonces, clock and salts, and the real services, gate, log and metrics. One finds
another candidate right than the other in every family: in those that its vault holds, and in those that it certifies.

A commitment hides a truth under a nonce that never leaves before retirement; that SHA-256 keeps it is taken for
granted. So both commit to nothing (`hiding`), and every root, file, statement and head must be the same to the byte.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from structlog.testing import capture_logs

from leakscale.commitments import truth_leaf
from leakscale_server.assembly import Services, make_services
from leakscale_server.attack.material import EDITION_ID
from leakscale_server.attack.victim import OWNER, Arena
from leakscale_server.core.building.construction import Construction
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.scopes import Role
from leakscale_server.identity.token_book import TokenBook
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.limits import CallLimits
from leakscale_server.listening import bind, new_server
from leakscale_server.metrics import Metrics
from leakscale_server.sandbox_pool import Job, SandboxPool
from leakscale_server.sandbox_pool.contract import Backend, JobResult
from leakscale_server.scorer import certifier, scorer
from leakscale_server.scorer.prover import FamilyRequest, build
from leakscale_server.scorer.scorer import Scorer
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.observing import CallLog, Observer
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Association, Vault

from .helpers import server_config
from .wire import Reply, converse, decoded

__all__ = ["PROJECTS", "WHO", "RememberingPool", "Tokens", "Told", "World", "hiding", "issue_tokens", "twins"]

PROJECTS = (OWNER, "north", "south")
"""The first is that of the edition that is there from the start."""
WHO = ("nobody", "unknown", *(f"{role}/{project}" for role in Role for project in PROJECTS))
"""Who calls: without a token, with one that is none, or in a role of a project."""
Tokens = Mapping[str, str]
Leak = Callable[["World"], None]
"""Makes a server tell."""
_START = datetime(2030, 1, 1, tzinfo=UTC)
_VAULT_KEY = b"v" * 32
_TIMED = re.compile(r"leakscale_call_seconds_(bucket|sum)|\w+_created\b")
"""Lines of the page with metrics that say how long calls took, or when a counter was made."""


@dataclass(frozen=True, slots=True)
class Told:
    """All that one call left where somebody but the vault's holder can see it."""

    reply: Reply
    log: tuple[str, ...]
    page: tuple[str, ...]
    leaves: tuple[bytes, ...]
    """Of the ledger."""


class RememberingPool(SandboxPool):
    """Runs each job once and then knows its results. Programs and fixtures are the same whatever the truth is."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, lane_count=2)
        self._results: dict[tuple[Job, int | None], JobResult] = {}

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        """Run a job, or remember it."""
        if (job, lane) not in self._results:
            self._results[job, lane] = super().run(job, lane=lane)
        return self._results[job, lane]


class World:
    """One of the two servers. `truth` is what nobody may learn from it.

    Args:
        folder: Its data folder.
        pool: Runs candidates; both servers may share it.
        is_moved: Whether it finds the next candidate right than the seeds say.
        leak: Makes it tell.
    """

    def __init__(self, folder: Path, pool: SandboxPool, *, is_moved: bool, leak: Leak) -> None:
        self._stack = ExitStack()
        ticks, salts, seeds = itertools.count(), itertools.count(), itertools.count(1)
        signer = Signer.load_or_create(folder / "signing.key")
        self.registry = self._stack.enter_context(closing(open_registry(folder)))
        self.vault = self._stack.enter_context(closing(Vault(folder, _VAULT_KEY)))
        made = Scorer(
            vault=self.vault,
            signer=signer,
            pool=pool,
            build=_build_moved if is_moved else build,
            random=lambda size: next(seeds).to_bytes(size, "big"),
        )
        clock: dict[str, Any] = {
            "now": lambda: _START + timedelta(seconds=next(ticks)),
            "random": lambda size: next(salts).to_bytes(size, "big"),
        }
        self.ledger = Ledger(self.registry, signer, **clock)
        self.services: Services = make_services(
            self.registry, made, signer, editions_dir=folder / "editions", limits=CallLimits(), features=(), **clock
        )
        self._stack.callback(self.services.stages.close)
        self._executor = CallExecutor(4, waiting_count_max=16)
        self.metrics = Metrics(calls_in_hand=lambda: 0)
        self.observers: list[Observer] = [CallLog(), self.metrics.count]
        self._request_ids = (f"r-{number}" for number in itertools.count())
        self._listen(folder, leak)

    @property
    def truth(self) -> int:
        """Display index of the candidate that is right in the first family."""
        return min(self.vault.associations(EDITION_ID).items())[1].truth

    def close(self) -> None:
        """End it."""
        self._stack.close()

    def tell(self, name: str, requests: Sequence[Message], *, token: str) -> Told:
        """Call a method by its name, and gather what can be seen afterwards."""
        metadata = [
            ("x-request-id", next(self._request_ids)),
            *([("authorization", f"Bearer {token}")] if token else []),
        ]
        with capture_logs() as events, _captured_records() as records:
            reply = converse(self._channel, name, requests, metadata)
        if name == "GrantService/RedeemGrant":
            reply = dataclasses.replace(reply, messages=tuple(map(_outside, reply.messages)))
        return Told(
            reply=reply,
            log=tuple(json.dumps(event, default=str) for event in events) + tuple(records),
            page=tuple(line for line in self.metrics.page().splitlines() if not _TIMED.match(line)),
            leaves=tuple(row["leaf"] for row in self.registry.rows("SELECT leaf FROM ledger ORDER BY position")),
        )

    def _listen(self, folder: Path, leak: Leak) -> None:
        leak(self)
        config = server_config(folder, call_limits=CallLimits(principal_calls_per_s=0, stranger_calls_per_s=0))
        identify = TokenBook(TokenRegistry(self.registry), BootstrapToken(f"lsk_{'0' * 64}")).caller
        self._stack.callback(self._executor.shutdown)
        server, _ = new_server(config, self._executor, identify, observers=self.observers)
        self.services.add_to(server)
        target = bind(server, config.listen, credentials=None)
        server.start()
        self._stack.callback(lambda: server.stop(0).wait())
        self._channel = self._stack.enter_context(grpc.insecure_channel(target))


@contextmanager
def twins(arena: Arena, pool: SandboxPool, *, leak: Leak = lambda _: None) -> Iterator[tuple[World, World]]:
    """Open two servers over copies of one data folder, with another truth in the vault of the second."""
    with ExitStack() as stack:
        folders = [arena.copy() for _ in range(2)]
        for folder in folders:
            stack.callback(shutil.rmtree, folder)
        for path in folders[1].glob("vault.db*"):
            path.unlink()
        with closing(Vault(folders[1], _VAULT_KEY)) as vault, vault.transaction():
            vault.fix_seed(EDITION_ID, arena.material.private_seed)
            for each in arena.material.families:
                vault.add_association(EDITION_ID, each.family_id, _moved(each.association))
        one, other = (
            stack.enter_context(closing(World(folder, pool, is_moved=is_moved, leak=leak)))
            for folder, is_moved in zip(folders, (False, True), strict=True)
        )
        yield one, other


def issue_tokens(folder: Path) -> Tokens:
    """Issue a token for everybody who has one, into a data folder that is copied afterwards."""
    with closing(open_registry(folder)) as registry:
        issued = {
            f"{role}/{project}": TokenRegistry(registry).create(
                principal=f"{role}-{project}", project=project, role=role, lifetime=None
            )
            for role in Role
            for project in PROJECTS
        }
    return {"nobody": "", "unknown": f"lsk_{'1' * 64}", **{who: each.text for who, each in issued.items()}}


def hiding(patch: pytest.MonkeyPatch, leaf: Callable[..., bytes] | None = None) -> None:
    """Let every commitment to a truth be the same whatever the truth is, as one is for whoever lacks its nonce."""
    chosen = leaf or (lambda **opening: truth_leaf(**{**opening, "truth": 0}))
    for module in (certifier, scorer):
        patch.setattr(module, "truth_leaf", chosen)


def _build_moved(request: FamilyRequest, *, attempt: int) -> Construction:
    family = build(request, attempt=attempt)
    return dataclasses.replace(family, truth=(family.truth + 1) % 4)


def _moved(association: Association) -> Association:
    one, two, three, four = association.passed_counts
    return dataclasses.replace(association, truth=(association.truth + 1) % 4, passed_counts=(four, one, two, three))


def _outside(message: bytes) -> bytes:
    """Return what is seen of a sealed piece from outside: it is sealed under a fresh key each time."""
    piece = decoded("GrantService/RedeemGrant", message)
    return f"{len(piece.sealed)} bytes, last: {piece.is_last}".encode()


@contextmanager
def _captured_records() -> Iterator[list[str]]:
    """Gather what is logged past structlog, such as by a library."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(f"{record.name}: {record.getMessage()}")  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        yield records
    finally:
        logging.getLogger().removeHandler(handler)
