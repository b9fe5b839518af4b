"""Put the server together. Every part is made here and handed to what needs it; nothing is global."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import structlog

from leakscale_server.assembly import make_services
from leakscale_server.certificates import server_credentials
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.health import SCORER
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.token_book import TokenBook
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.listening import SERVICES, listening, new_server, observers_of
from leakscale_server.running import RunningServer
from leakscale_server.scorer.contract import ScorerSettings
from leakscale_server.scorer_process.key_keeper import KeyKeeper
from leakscale_server.scorer_process.process import ScorerProcess
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.store.data_folder import claim, sole_owner
from leakscale_server.store.registry_tables import open_registry, require_key
from leakscale_server.store.signing import Signer

__all__ = ["RunningServer", "serve"]

_log = structlog.get_logger()


@contextmanager
def serve(config: ServerConfig, *, key_keeper: KeyKeeper | None = None) -> Iterator[RunningServer]:
    """Start a server and its scorer, and stop them at the end: not serving, drain, scorer with sandboxes, databases.

    Args:
        config: Settings of both.
        key_keeper: Who has the key of the vault, where that came by the environment of the command.

    Raises:
        ConfigError: If a setting cannot work or the address is taken; if this host cannot run the sandbox, or there is
            no key that opens the vault.
    """
    if config.replica_of is not None:
        # Apart from the rest, which a replica does without.
        from leakscale_server.replica.app import serve_replica  # noqa: PLC0415

        with serve_replica(config, config.replica_of) as running:
            yield running
        return
    config.check()
    credentials = None if config.tls is None else server_credentials(config.tls)
    _make_cache(config.cache_dir)
    with ExitStack() as stack:
        claim(config.data_dir)
        stack.enter_context(sole_owner(config.data_dir))
        signer = Signer.load_or_create(config.data_dir / "signing.key")
        scorer = stack.enter_context(_scorer(config, key_keeper))
        registry = open_registry(config.data_dir)
        stack.callback(registry.close)
        require_key(registry, signer.public_key)
        executor = stack.enter_context(CallExecutor(config.thread_count, waiting_count_max=config.waiting_count_max))
        bootstrap = BootstrapToken.kept_in(config.data_dir / "token")
        # A connection of its own: who comes in must not wait until somebody's answers are written.
        tokens = open_registry(config.data_dir)
        stack.callback(tokens.close)
        identify = TokenBook(TokenRegistry(tokens), bootstrap).caller
        observers, metrics_port = stack.enter_context(observers_of(config, executor))
        server, health_servicer = new_server(
            config, executor, identify, observers=observers, services=(SCORER, *SERVICES)
        )
        scorer.watch(health_servicer.scorer_changed)
        services = make_services(
            registry,
            scorer,
            signer,
            editions_dir=config.data_dir / "editions",
            limits=config.call_limits,
            features=config.features,
        )
        stack.callback(services.stages.close)
        services.add_to(server)
        with listening(config, server, health_servicer, credentials=credentials, on_stop=services.stages.stop) as (
            target,
            http_target,
        ):
            yield RunningServer(
                target,
                bootstrap.text,
                scorer.sandbox.backend,
                scorer.sandbox.notice,
                metrics_port=metrics_port,
                http_target=http_target,
            )


@contextmanager
def _scorer(config: ServerConfig, key_keeper: KeyKeeper | None) -> Iterator[ScorerProcess]:
    settings = ScorerSettings(
        data_dir=config.data_dir.absolute(),
        cache_dir=config.cache_dir.absolute(),
        backend=config.backend,
        docker_runtime=config.docker_runtime,
        ray_address=config.ray_address,
        lane_count=config.lane_count,
        vault_key_command=config.vault_key_command,
    )
    with ScorerProcess(settings, key_keeper=key_keeper) as scorer:
        if scorer.sandbox.notice:
            _log.warning(scorer.sandbox.notice)
        yield scorer


def _make_cache(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--cache-dir {folder}: no folder for sandbox images can be made there ({error.strerror}); pass "
            "another, or set XDG_CACHE_HOME"
        ) from error
