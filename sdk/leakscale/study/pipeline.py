"""Run a study from its file to its finding, and go on where an earlier run stopped.

    certify   every family of the edition, on the server, in sandboxes
    freeze    the edition, so that nothing about it can change
    expose    redeem a grant: the corpus of the C2 families
    adapt     the model, with LoRA
    answer    a base and an adapted bank of each domain, submit and seal them
    disclose  the effect, computed by the server
    prove     what the numbers rest on: a tree of evidence, verified
    report    report.html, then summary.json

Every stage may be repeated: the server answers what it knows from its store, an adapter is reused only if it came from
exactly the same, and a bank's log goes on after its last family.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leakscale.adaptation import AdaptationConfig, AdapterIdentity, adapt, read_completion
from leakscale.adaptation.hardware import resolve_hardware
from leakscale.background import recipe_records
from leakscale.client import Client
from leakscale.errors import NotCertifiedError
from leakscale.inference.engines import require_engine
from leakscale.models import (
    CertificationOutcome,
    Edition,
    EditionKind,
    Experiment,
    Family,
    Ring,
    ShapeFile,
    TrainingRecord,
)
from leakscale.reading import read_object
from leakscale.report import DISCLOSURE_FILE, PROVENANCE_FILE, provenance_to_json, read_findings, write_report
from leakscale.report.page import require_extra
from leakscale.results import Disclosure, disclosure_to_json
from leakscale.sealing import HolderKey
from leakscale.study.answering import Answered, answer_banks
from leakscale.study.config import Study
from leakscale.study.layout import StudyDirectory, write_json, write_text
from leakscale.study.models import ResolvedModel, adaptation_config
from leakscale.study.proving import Proof, prove_study, require_evidence
from leakscale.study.registration import registered_plan
from leakscale.study.summary import Evidence, build_provenance, build_summary
from leakscale.study.watching import Watcher

__all__ = ["StudyOutcome", "prepare_study", "run_study"]


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """A finished study."""

    disclosure: Disclosure
    summary: dict[str, Any]
    directory: StudyDirectory
    proof: Proof


def prepare_study(
    study: Study, model: ResolvedModel, *, background: Path | None = None
) -> tuple[AdaptationConfig, list[TrainingRecord]]:
    """Find out what can be found out about a study before anything is certified, answered or written.

    Returns:
        Settings of the adaptation with nothing left at `auto`, and the background records.

    Raises:
        LeakScaleError: Whatever of the settings, the recipe or the engine's name cannot be used. A mistake must not
            show itself after hours of certification and training.
    """
    require_engine(study.model.engine)
    require_evidence()
    require_extra()
    return resolve_hardware(adaptation_config(study, model)), recipe_records(background)


def run_study(
    study: Study,
    *,
    directory: StudyDirectory,
    shapes: list[ShapeFile],
    client: Client,
    model: ResolvedModel,
    watcher: Watcher,
    rerun_command: str,
    background: Path | None = None,
) -> StudyOutcome:
    """Run every stage that is not done yet.

    Args:
        study: What is measured.
        directory: Where its files go.
        shapes: The shape files that the study names, in its order.
        client: Of a running server.
        model: The model that the study names, found and checked.
        watcher: Told how far it is.
        rerun_command: Printed in the report.
        background: Recipe of unrelated supervision, where the study names one.

    Raises:
        NotCertifiedError: If a family breaks the acceptance rule; the message names the first and why.
        LeakScaleError: Whatever the server, the model or a file refuses.
    """
    run = _Run(study, directory, client, watcher)
    config, supervision = prepare_study(study, model, background=background)
    server = client.server.info()
    with run.stage("certify"):
        edition, outcomes = run.certify(shapes)
    with run.stage("freeze"):
        edition, families = run.freeze(edition)
    experiment = run.register(model)
    with run.stage("expose"):
        records = run.expose(edition) + supervision
    with run.stage("adapt"):
        identity = run.adapt(model, records, config, families)
    with run.stage("answer"):
        answered = run.answer(experiment, families, model)
    with run.stage("disclose"):
        disclosure = client.experiments.disclose(experiment.name)
    evidence = Evidence(
        study=study,
        server=server,
        edition=edition,
        outcomes=outcomes,
        identity=identity,
        completion=read_completion(directory.adapter),
        model=model,
        answered=answered,
        disclosure=disclosure,
        rerun_command=rerun_command,
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    proof = run.prove(evidence, background)
    run.report()
    write_json(directory.summary, proof.summary)
    return StudyOutcome(disclosure, proof.summary, directory, proof)


class _Run:
    """The stages of one study, each of which may be repeated."""

    def __init__(self, study: Study, directory: StudyDirectory, client: Client, watcher: Watcher) -> None:
        self._study = study
        self._directory = directory
        self._client = client
        self._watcher = watcher
        self.stage_seconds: dict[str, float] = _read_stages(directory.stages)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; a stage that was finished by an earlier run keeps the time it took then."""
        start = time.monotonic()
        yield
        self.stage_seconds.setdefault(name, round(time.monotonic() - start, 3))
        write_json(self._directory.stages, self.stage_seconds)

    def certify(self, shapes: list[ShapeFile]) -> tuple[Edition, list[CertificationOutcome]]:
        """Open the draft and certify all of its families."""
        plan, seeds = self._study.edition, self._study.seeds
        is_practice = plan.kind is EditionKind.PRACTICE
        edition = self._client.editions.create(
            plan.id,
            kind=plan.kind,
            families_per_cell=plan.families_per_cell,
            public_seed=seeds.public,
            practice_private_seed=seeds.practice_private if is_practice else b"",
            shapes=shapes,
        )
        outcomes = []
        with self._watcher.progress("certify", total=edition.family_count, unit="families") as bar:
            for number, outcome in enumerate(self._client.families.certify_edition(edition), start=1):
                outcomes.append(outcome)
                bar.update(number)
        _require_all_certified(outcomes)
        outcomes.sort(key=lambda outcome: outcome.family)
        _write_certificates(self._directory.certificates, outcomes)
        return edition, outcomes

    def freeze(self, edition: Edition) -> tuple[Edition, tuple[Family, ...]]:
        """Make the edition immutable and fetch its public families in every ring that is asked."""
        frozen = self._client.editions.freeze(edition.name)
        rings = self._study.experiment.rings
        families = (self._client.editions.families(frozen.name, ring=ring) for ring in rings)
        return frozen, tuple(itertools.chain.from_iterable(families))

    def register(self, model: ResolvedModel) -> Experiment:
        """Fix the plan before the first answer."""
        return self._client.experiments.create(registered_plan(self._study, model_label=model.label))

    def expose(self, edition: Edition) -> list[TrainingRecord]:
        """Redeem the study's grant; the records stay in memory."""
        request_id = f"study-{self._study.name}"
        return self._client.grants.expose(
            edition.name,
            key=HolderKey.kept_in(self._directory.holder_key),
            request_id=request_id,
            preservation_count=self._study.model.preservation_count,
        )

    def adapt(
        self,
        model: ResolvedModel,
        records: list[TrainingRecord],
        config: AdaptationConfig,
        families: tuple[Family, ...],
    ) -> AdapterIdentity:
        """Train the adapter, or go on with one that is half trained, or take the one that is done."""
        with self._watcher.progress("adapt", total=None, unit="tokens") as bar:
            return adapt(
                model.path,
                records,
                config,
                output_dir=self._directory.adapter,
                families=[family for family in families if family.ring is Ring.R0],
                progress=lambda at: bar.update(at.token_count, at.token_total),
                note=self._watcher.note,
            )

    def answer(self, experiment: Experiment, families: tuple[Family, ...], model: ResolvedModel) -> Answered:
        """Answer, submit and seal every bank of the experiment."""
        return answer_banks(
            self._study,
            experiment,
            families,
            model,
            directory=self._directory,
            client=self._client,
            watcher=self._watcher,
        )

    def prove(self, evidence: Evidence, background: Path | None) -> Proof:
        """Write numbers and provenance, and the tree of evidence with both; one that is there already is taken."""
        provenance = build_provenance(evidence, stage_seconds=self.stage_seconds)
        write_text(self._directory.root / DISCLOSURE_FILE, disclosure_to_json(evidence.disclosure))
        write_text(self._directory.root / PROVENANCE_FILE, provenance_to_json(provenance))
        summary = build_summary(evidence, stage_seconds=self.stage_seconds)
        return prove_study(self._directory, summary, client=self._client, watcher=self._watcher, background=background)

    def report(self) -> None:
        """Write the report, of what was verified too."""
        write_report(self._directory.report, read_findings(self._directory.root))


def _require_all_certified(outcomes: list[CertificationOutcome]) -> None:
    rejected = [outcome for outcome in outcomes if outcome.rejection is not None]
    if rejected:
        first = rejected[0]
        assert first.rejection is not None  # noqa: S101 - filtered above
        raise NotCertifiedError(
            f"{len(rejected)} of {len(outcomes)} families break the acceptance rule, first {first.request.shape_id} "
            f"{first.request.condition} {first.request.ordinal}: {first.rejection.rule}, {first.rejection.message}"
        )


def _write_certificates(path: Path, outcomes: list[CertificationOutcome]) -> None:
    lines = []
    for outcome in outcomes:
        assert outcome.certificate is not None  # noqa: S101 - all are certified here
        lines.append(
            json.dumps(
                {
                    "family": outcome.family,
                    "payload_digest": outcome.certificate.payload_digest.hex(),
                    "signature": outcome.certificate.signature.hex(),
                    "payload": outcome.certificate.payload.decode(),
                }
            )
        )
    write_text(path, "\n".join(lines) + "\n")


def _read_stages(path: Path) -> dict[str, float]:
    try:
        return read_object(path, advice="delete it and run again")
    except FileNotFoundError:
        return {}
