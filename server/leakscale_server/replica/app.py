"""Put a replica together: an exported directory, tokens of its own, and a listener."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import LeakScaleError
from leakscale.v1 import edition_service_pb2_grpc, ledger_service_pb2_grpc, server_service_pb2_grpc
from leakscale_server.certificates import server_credentials
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.token_book import TokenBook
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.listening import listening, new_server, observers_of
from leakscale_server.replica.services import EverythingElse, ReplicaEditionService
from leakscale_server.replica.state import Replica
from leakscale_server.running import RunningServer
from leakscale_server.scorer.contract import SandboxFacts
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.ledger import LedgerService
from leakscale_server.services.server import ServerService
from leakscale_server.store.data_folder import claim, sole_owner
from leakscale_server.store.registry_tables import open_registry

__all__ = ["serve_replica"]

_FEATURE: Final = "replica"
_SERVICES: Final = tuple(f"leakscale.v1.{name}Service" for name in ("Server", "Ledger", "Edition"))
"""What it does answer; of the others it says only that it is a replica."""
_NONE: Final = SandboxFacts(backend="none", notice="", image_digest="", lane_count=0)


@dataclass(frozen=True, slots=True)
class _NoSandbox:
    sandbox: SandboxFacts


@contextmanager
def serve_replica(config: ServerConfig, root: Path) -> Iterator[RunningServer]:
    """Serve an exported directory until the block ends.

    Args:
        config: Its data folder holds the replica's own tokens and nothing else.
        root: What `leakscale ledger export` wrote; a newer export into it is taken as soon as it holds.

    Raises:
        ConfigError: If a setting cannot work, the address is taken, or the directory does not hold.
    """
    config.check()
    credentials = None if config.tls is None else server_credentials(config.tls)
    with ExitStack() as stack:
        claim(config.data_dir, is_replica=True)
        stack.enter_context(sole_owner(config.data_dir))
        replica = _replica(root)
        registry = open_registry(config.data_dir)
        stack.callback(registry.close)
        executor = stack.enter_context(CallExecutor(config.thread_count, waiting_count_max=config.waiting_count_max))
        bootstrap = BootstrapToken.kept_in(config.data_dir / "token")
        observers, metrics_port = stack.enter_context(observers_of(config, executor))
        identify = TokenBook(TokenRegistry(registry), bootstrap).caller
        server, health_servicer = new_server(config, executor, identify, observers=observers, services=_SERVICES)
        key = replica.public_key
        server_service_pb2_grpc.add_ServerServiceServicer_to_server(
            ServerService(_NoSandbox(_NONE), public_key=key, limits=config.call_limits, features=[_FEATURE]), server
        )
        ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(LedgerService(replica, public_key=key), server)
        edition_service_pb2_grpc.add_EditionServiceServicer_to_server(ReplicaEditionService(replica), server)
        server.add_generic_rpc_handlers([EverythingElse()])
        with listening(config, server, health_servicer, credentials=credentials) as (target, http_target):
            yield RunningServer(target, bootstrap.text, "none", "", metrics_port=metrics_port, http_target=http_target)


def _replica(root: Path) -> Replica:
    try:
        return Replica(root)
    except LeakScaleError as error:
        raise ConfigError(f"--replica-of {error}") from error
