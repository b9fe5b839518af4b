"""A server that holds an attacked edition: its real parts, put together without sandboxes, sockets and threads."""

from __future__ import annotations

import hashlib
import itertools
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from leakscale.answers import chunks_of
from leakscale.models import Answer, Family, TrainingRecord
from leakscale.sealing import HolderKey, open_pieces
from leakscale.statements import Predicate, predicate_of
from leakscale.training_records import records_from_bytes
from leakscale_server.attack.material import EDITION_ID, FAMILIES_PER_CELL, FamilyMaterial, Material
from leakscale_server.core.disclosure.atoms import Cohort
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role
from leakscale_server.registry.editions import EditionDraft, EditionRegistry, SignedCertificate
from leakscale_server.registry.experiments import (
    AnswerChunk,
    Bank,
    Experiment,
    ExperimentPlan,
    ExperimentRegistry,
    Party,
    Receipt,
    StoredChunk,
)
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.sandbox_pool import SandboxPool
from leakscale_server.sandbox_pool.contract import Channel
from leakscale_server.sandbox_pool.lanes import LaneError, LaneSettings
from leakscale_server.scorer.scorer import Scorer
from leakscale_server.stages.disclosing import Disclosing
from leakscale_server.stages.exposure import Exposure
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault

__all__ = ["OWNER", "Arena", "Client", "Victim"]

OWNER: Final = "author"
"""Principal and project that the edition belongs to."""
_VAULT_KEY: Final = b"v" * 32
_CHUNKS_LISTED: Final = 1_000_000


class _NoSandbox:
    """A backend without lanes: nothing is certified here."""

    name = "none"
    runtime = ""
    image_digest = ""

    def start_lane(self, settings: LaneSettings) -> Channel:
        raise LaneError(f"an attacked server runs nothing, and was asked for lane {settings}")

    def close(self) -> None:
        """Nothing is open."""


class Victim:
    """The parts that clients reach, over one data folder. Close it at the end.

    Args:
        folder: Made if it is not there.
        now: Clock, in UTC.
        random: Draws so many random bytes.
    """

    def __init__(
        self,
        folder: Path,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.registry = open_registry(folder)
        self.vault = Vault(folder, _VAULT_KEY)
        self.signer = Signer.load_or_create(folder / "signing.key")
        self.scorer = scorer = Scorer(
            vault=self.vault, signer=self.signer, pool=SandboxPool(_NoSandbox(), lane_count=1)
        )
        self.ledger = Ledger(self.registry, self.signer, now=now, random=random)
        self.editions = EditionRegistry(self.registry, self.ledger, self.signer, editions_dir=folder / "editions")
        self.experiments = ExperimentRegistry(self.registry, self.ledger, self.editions, now=now)
        grants = GrantRegistry(self.registry, self.ledger, now=now)
        self.exposure = Exposure(self.editions, grants, scorer)
        self.disclosing = Disclosing(self.editions, self.experiments, grants, scorer, public_key=self.signer.public_key)

    def freeze(self, material: Material, *, kind: str) -> None:
        """Take an edition from draft to frozen as the stages do, with certificates that nothing was run for."""
        draft = EditionDraft(EDITION_ID, kind, FAMILIES_PER_CELL, material.public_seed, material.shapes, project=OWNER)
        edition = self.editions.create(draft, principal=OWNER, check=lambda _: None)
        if kind == "practice":
            self.scorer.fix_seed(edition.key, material.private_seed)
        self.keep_truths(material)
        with self.registry.transaction():
            for each in material.families:
                self.editions.add_certificate(edition, self._signed(each), principal=OWNER)
        root = self.scorer.commit(edition.key, tuple(each.family_id for each in material.families))
        rings = [each.rings for each in material.families]
        self.editions.freeze(edition, rings, commitment_root=root, principal=OWNER)

    def keep_truths(self, material: Material) -> None:
        """Put seed and associations into the vault; what it has of them stays."""
        with self.vault.transaction():
            self.vault.fix_seed(EDITION_ID, material.private_seed)
            for each in material.families:
                self.vault.add_association(EDITION_ID, each.family_id, each.association)

    def client(self, role: Role, *, principal: str = "mallory", project: str = "attackers") -> Client:
        """Return what somebody of a role is given."""
        return Client(self, Caller("attack", principal, project, role, ROLE_SCOPES[role]))

    def author(self) -> Caller:
        """Return somebody of the edition's own project, who approves grants."""
        return Caller("author", OWNER, OWNER, Role.AUTHOR, ROLE_SCOPES[Role.AUTHOR])

    def close(self) -> None:
        """Close both databases."""
        self.vault.close()
        self.registry.close()

    def _signed(self, family: FamilyMaterial) -> SignedCertificate:
        payload = family.certificate
        digest, signature = hashlib.sha256(payload).digest(), self.signer.sign_statement(payload)
        return SignedCertificate(family.slot, family.family_id, payload, digest, signature)


class Arena:
    """One edition, frozen once; every attack gets a server of its own over a copy.

    Args:
        material: The edition.
        folder: Empty, for all servers.
        kind: `private` or `practice`.
    """

    def __init__(self, material: Material, folder: Path, *, kind: str = "private") -> None:
        self.material = material
        self._folder = folder
        self._numbers = itertools.count()
        with closing(Victim(folder / "frozen")) as victim:
            victim.freeze(material, kind=kind)

    def copy(self) -> Path:
        """Return a data folder that nobody has used yet."""
        copy = self._folder / f"victim-{next(self._numbers)}"
        shutil.copytree(self._folder / "frozen", copy)
        return copy

    @contextmanager
    def victim(self) -> Iterator[Victim]:
        """Open a server that nobody has asked anything yet; it is gone afterwards."""
        copy = self.copy()
        try:
            with closing(Victim(copy)) as victim:
                yield victim
        finally:
            shutil.rmtree(copy)


class Client:
    """What a principal is answered: the same calls, in values, that the services pass on for it."""

    def __init__(self, victim: Victim, caller: Caller) -> None:
        self._victim = victim
        self.caller = caller
        self._party = Party(caller.principal, caller.project)

    def families(self) -> Sequence[Family]:
        """List the public families in R0."""
        return self._victim.editions.families(EDITION_ID)

    def register(
        self,
        experiment_id: str,
        *,
        draw_count: int = 1,
        resample_count: int = 100,
        cohorts: Sequence[Cohort] = (),
        families_min: int = 1,
    ) -> Experiment:
        """Register an experiment in R0; by default it demands so little that the policy alone decides."""
        plan = ExperimentPlan(
            experiment_id=experiment_id,
            edition_id=EDITION_ID,
            model_label="an attack",
            draw_count=draw_count,
            bank_seed=0,
            resample_count=resample_count,
            bootstrap_seed=0,
            cohorts=tuple(cohorts),
            cohort_families_min=families_min,
        )
        return self._victim.experiments.create(plan, party=self._party)

    def submit(self, bank: Bank, answers: Iterable[Answer], *, first_chunk: int = 0) -> Bank:
        """Add answers to a bank."""
        chunks = (
            AnswerChunk(number, digest, chunk)
            for number, (chunk, digest) in enumerate(chunks_of(answers), start=first_chunk)
        )
        return self._victim.experiments.answers.submit(bank.experiment_id, bank.bank_id, chunks, party=self._party)

    def chunks(self, bank: Bank) -> list[StoredChunk]:
        """List the chunks of a bank."""
        return self._victim.experiments.answers.chunks(self._party.project, bank, start=0, limit=_CHUNKS_LISTED)

    def seal(self, bank: Bank, *, request_id: str = "seal") -> Receipt:
        """Seal a bank."""
        registry = self._victim.experiments.answers
        return registry.seal(self._party.project, bank.experiment_id, bank.bank_id, request_id=request_id)

    def disclose(self, experiment: Experiment) -> dict[str, Any]:
        """Disclose an experiment, and read what was signed."""
        released = self._victim.disclosing.disclose(self._party.project, experiment.plan.experiment_id)
        return dict(predicate_of(released.payload, Predicate.DISCLOSURE))

    def public_bytes(self) -> bytes:
        """Return everything else that is for all: the edition's file, its statement, and the ledger as it is shown."""
        edition = self._victim.editions.get(EDITION_ID, project=self._party.project)
        entries = self._victim.ledger.entries(project=self._party.project, start=0, limit=_CHUNKS_LISTED)
        statement = edition.freeze_statement
        parts = [self._victim.editions.frozen_file(EDITION_ID).read_bytes(), statement.payload if statement else b""]
        return b"\n".join([*parts, *(entry.leaf + entry.content for entry in entries)])

    def certificates(self) -> dict[str, dict[str, Any]]:
        """Return what the certificate of each family says, by family id."""
        return {
            each.family_id: json.loads(each.payload)["predicate"]
            for each in self._victim.editions.certificates.of(self._victim.editions.get_frozen(EDITION_ID))
        }

    def corpus(self) -> list[TrainingRecord]:
        """Ask for a grant, have it approved by the edition's author, and redeem it."""
        exposure, key = self._victim.exposure, HolderKey()
        grant = exposure.request(
            EDITION_ID, self.caller, holder_key=key.public, preservation_count=64, request_id="attack"
        )
        exposure.approve(EDITION_ID, grant.grant_id, self._victim.author(), lifetime=timedelta(days=1))
        pieces = exposure.redeem(EDITION_ID, grant.grant_id, self.caller, request_id="attack")
        return [
            record for piece in open_pieces(pieces, key=key, subject=grant.name) for record in records_from_bytes(piece)
        ]
