"""Put the server together. Every part is made here and handed to what needs it; nothing is global."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import structlog

from leakscale.v1 import (
    bank_service_pb2_grpc,
    certification_service_pb2_grpc,
    edition_service_pb2_grpc,
    experiment_service_pb2_grpc,
    grant_service_pb2_grpc,
    ledger_service_pb2_grpc,
    server_service_pb2_grpc,
)
from leakscale_server.certificates import server_credentials
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.token_book import TokenBook
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.listening import listening, new_server, observers_of
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.experiments import ExperimentRegistry
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.registry.retirement import Retirements
from leakscale_server.running import RunningServer
from leakscale_server.scorer.contract import ScorerSettings, Scoring
from leakscale_server.scorer_process.key_keeper import KeyKeeper
from leakscale_server.scorer_process.process import ScorerProcess
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.editions import CertificationService, EditionService
from leakscale_server.services.experiments import BankService, ExperimentService
from leakscale_server.services.grants import GrantService
from leakscale_server.services.ledger import LedgerService
from leakscale_server.services.server import ServerService
from leakscale_server.stages.disclosing import Disclosing
from leakscale_server.stages.editions import EditionStages
from leakscale_server.stages.exposure import Exposure
from leakscale_server.store.data_folder import claim, sole_owner
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
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
        executor = stack.enter_context(CallExecutor(config.thread_count, waiting_count_max=config.waiting_count_max))
        bootstrap = BootstrapToken.kept_in(config.data_dir / "token")
        # A connection of its own: who comes in must not wait until somebody's answers are written.
        tokens = open_registry(config.data_dir)
        stack.callback(tokens.close)
        identify = TokenBook(TokenRegistry(tokens), bootstrap).caller
        observers, metrics_port = stack.enter_context(observers_of(config, executor))
        server, health_servicer = new_server(config, executor, identify, observers=observers)
        stages = _add_services(server, config, scorer=scorer, registry=registry, signer=signer)
        stack.callback(stages.close)
        with listening(config, server, health_servicer, credentials=credentials, on_stop=stages.stop) as (
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


def _add_services(
    server: grpc.Server, config: ServerConfig, *, scorer: Scoring, registry: InsertOnlyDatabase, signer: Signer
) -> EditionStages:
    key = signer.public_key
    ledger = Ledger(registry, signer)
    editions = EditionRegistry(registry, ledger, signer, editions_dir=config.data_dir / "editions")
    experiments = ExperimentRegistry(registry, ledger, editions)
    grants = GrantRegistry(registry, ledger)
    retirements = Retirements(registry, ledger, signer, editions)
    stages = EditionStages(editions, retirements, scorer)
    exposure = Exposure(editions, grants, scorer)
    disclosing = Disclosing(editions, experiments, grants, scorer, public_key=key)
    info = ServerService(scorer, public_key=key, limits=config.call_limits, features=config.features)
    server_service_pb2_grpc.add_ServerServiceServicer_to_server(info, server)
    ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(LedgerService(ledger, public_key=key), server)
    edition_service_pb2_grpc.add_EditionServiceServicer_to_server(EditionService(editions, retirements, stages), server)
    certification_service_pb2_grpc.add_CertificationServiceServicer_to_server(
        CertificationService(editions, stages), server
    )
    grant_service_pb2_grpc.add_GrantServiceServicer_to_server(GrantService(exposure), server)
    experiment_service_pb2_grpc.add_ExperimentServiceServicer_to_server(
        ExperimentService(experiments, disclosing), server
    )
    bank_service_pb2_grpc.add_BankServiceServicer_to_server(BankService(experiments), server)
    return stages


def _make_cache(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--cache-dir {folder}: no folder for sandbox images can be made there ({error.strerror}); pass "
            "another, or set XDG_CACHE_HOME"
        ) from error
