"""The services of a server over its registry and its scorer, each part handed to what needs it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc

from leakscale.v1 import (
    audit_service_pb2_grpc,
    bank_service_pb2_grpc,
    certification_service_pb2_grpc,
    edition_service_pb2_grpc,
    experiment_service_pb2_grpc,
    grant_service_pb2_grpc,
    ledger_service_pb2_grpc,
    server_service_pb2_grpc,
)
from leakscale_server.limits import CallLimits
from leakscale_server.registry.audits import AuditRegistry, FormChunks, FormSeals, Scores
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.experiments import ExperimentRegistry
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.registry.retirement import Retirements
from leakscale_server.scorer.contract import Scoring
from leakscale_server.services.audits import AuditService
from leakscale_server.services.editions import CertificationService, EditionService
from leakscale_server.services.experiments import BankService, ExperimentService
from leakscale_server.services.grants import GrantService
from leakscale_server.services.ledger import LedgerService
from leakscale_server.services.server import ServerService
from leakscale_server.stages.audits import Auditing
from leakscale_server.stages.disclosing import Disclosing
from leakscale_server.stages.editions import EditionStages
from leakscale_server.stages.exposure import Exposure
from leakscale_server.stages.retiring import Retiring
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.signing import Signer

__all__ = ["Services", "make_services"]


@dataclass(frozen=True, slots=True)
class Services:
    """Every service of one server, and the stages that must be closed before its scorer is."""

    info: ServerService
    ledger: LedgerService
    editions: EditionService
    certification: CertificationService
    grants: GrantService
    experiments: ExperimentService
    banks: BankService
    audits: AuditService
    stages: EditionStages

    def add_to(self, server: grpc.Server) -> None:
        """Let a server answer with them."""
        server_service_pb2_grpc.add_ServerServiceServicer_to_server(self.info, server)
        ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(self.ledger, server)
        edition_service_pb2_grpc.add_EditionServiceServicer_to_server(self.editions, server)
        certification_service_pb2_grpc.add_CertificationServiceServicer_to_server(self.certification, server)
        grant_service_pb2_grpc.add_GrantServiceServicer_to_server(self.grants, server)
        experiment_service_pb2_grpc.add_ExperimentServiceServicer_to_server(self.experiments, server)
        bank_service_pb2_grpc.add_BankServiceServicer_to_server(self.banks, server)
        audit_service_pb2_grpc.add_AuditServiceServicer_to_server(self.audits, server)


def make_services(
    registry: InsertOnlyDatabase,
    scorer: Scoring,
    signer: Signer,
    *,
    editions_dir: Path,
    limits: CallLimits,
    features: Sequence[str],
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    random: Callable[[int], bytes] = secrets.token_bytes,
) -> Services:
    """Put the services together.

    Args:
        registry: Of the server.
        scorer: Holds the vault.
        signer: Signs statements and heads.
        editions_dir: Where the files of frozen editions lie.
        limits: Told to who asks what this server is.
        features: The same.
        now: Clock, in UTC, of everything that is recorded.
        random: Draws so many random bytes; the salts of the ledger come from it.
    """
    key = signer.public_key
    ledger = Ledger(registry, signer, now=now, random=random)
    editions = EditionRegistry(registry, ledger, signer, editions_dir=editions_dir, now=now)
    experiments = ExperimentRegistry(registry, ledger, editions, now=now)
    grants = GrantRegistry(registry, ledger, now=now)
    retirements = Retirements(registry, ledger, signer, editions)
    stages = EditionStages(editions, scorer)
    disclosing = Disclosing(editions, experiments, grants, scorer, public_key=key)
    retiring = Retiring(editions, retirements, disclosing, scorer)
    chunks = FormChunks(registry)
    auditing = Auditing(
        AuditRegistry(registry, ledger, signer, now=now),
        chunks,
        FormSeals(registry, ledger, signer, chunks, now=now),
        Scores(registry, ledger, public_key=key, now=now),
        scorer,
    )
    return Services(
        info=ServerService(scorer, public_key=key, limits=limits, features=features),
        ledger=LedgerService(ledger, public_key=key),
        editions=EditionService(editions, retirements, stages, retiring),
        certification=CertificationService(editions, stages),
        grants=GrantService(Exposure(editions, grants, scorer)),
        experiments=ExperimentService(experiments, disclosing),
        banks=BankService(experiments),
        audits=AuditService(auditing, public_key=key),
        stages=stages,
    )
