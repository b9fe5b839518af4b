"""From sealed banks to the one disclosure of an experiment: charge, score, release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from leakscale.answers import read_lines
from leakscale.scoring import choices_of
from leakscale_server.core.disclosure.assurance import assurance_level
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.experiments import Bank, Experiment, ExperimentRegistry, Released, Statement
from leakscale_server.registry.experiments.plans import is_open
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.scorer.contract import (
    NO_CHOICE,
    ExperimentHead,
    FamilyCell,
    Scoring,
    SealedBank,
    SealedExperiment,
)
from leakscale_server.scorer.sealed import sealed_digest

__all__ = ["Disclosing"]


class Disclosing:
    """Releases the numbers of experiments."""

    def __init__(
        self,
        editions: EditionRegistry,
        experiments: ExperimentRegistry,
        grants: GrantRegistry,
        scorer: Scoring,
        *,
        public_key: bytes,
    ) -> None:
        self._editions = editions
        self._grants = grants
        self._experiments = experiments
        self._scorer = scorer
        self._public_key = public_key

    def disclose(self, project: str, experiment_id: str) -> Released:
        """Release the numbers of an experiment once; asked again, the same bytes return.

        Whatever is killed in between, the same call goes on: the budget is charged once, before anything is scored, and
        the first statement that was signed is the one that leaves.

        Raises:
            NotFound: If there is no such experiment.
            NotSealed: If a bank is open.
            Expired: If the experiment is.
        """
        experiment = self._experiments.releases.charge(project, experiment_id)
        stored = self._experiments.releases.released(project, experiment_id)
        if stored is not None:
            return stored
        signed = self._scorer.disclose(self._sealed(experiment))
        self._experiments.releases.score(experiment, Statement(signed.payload, signed.signature, self._public_key))
        return self._experiments.releases.release(experiment)

    def sealed_digests(self, edition_id: str) -> tuple[bytes, ...]:
        """Identify every experiment on an edition whose banks are all sealed and whose numbers may still leave."""
        return tuple(sealed_digest(self._sealed(each)) for each in self._experiments.releases.awaiting(edition_id))

    def _sealed(self, experiment: Experiment) -> SealedExperiment:
        edition = self._editions.get_frozen(experiment.plan.edition_id)
        families = self._editions.families(edition.edition_id)
        slots = {each.family_id: each.slot for each in self._editions.certificates.of(edition)}
        answers = self._experiments.answers.sealed_answers(experiment)
        choices = {family.family_id: choices_of(family.candidates) for family in families}
        return SealedExperiment(
            head=_head(experiment, edition, level=self._assurance_level(experiment, edition)),
            families=tuple(
                FamilyCell(each.family_id, each.domain, slots[each.family_id].condition, each.shape_id)
                for each in families
            ),
            banks=tuple(_bank(bank, answers[bank.bank_id], choices) for bank in experiment.banks),
        )

    def _assurance_level(self, experiment: Experiment, edition: Edition) -> str:
        return assurance_level(
            is_practice=edition.kind == "practice",
            is_self_administered=experiment.plan.is_self_administered,
            submitters=self._experiments.answers.submitters(experiment),
            redeemers=self._grants.redeemers(edition.edition_id),
        )


def _bank(bank: Bank, lines: bytes, choices: Mapping[str, Mapping[str, int]]) -> SealedBank:
    return SealedBank(
        bank_id=bank.bank_id,
        domain=bank.domain,
        state=bank.state,
        ring=bank.ring,
        answers_digest=hashlib.sha256(lines).digest(),
        choices=bytes(choices[answer.family_id].get(answer.text, NO_CHOICE) for answer in read_lines(lines)),
    )


def _head(experiment: Experiment, edition: Edition, *, level: str) -> ExperimentHead:
    plan = experiment.plan
    return ExperimentHead(
        project=experiment.project,
        experiment_id=plan.experiment_id,
        model_label=plan.model_label,
        edition_key=edition.key,
        edition_kind=edition.kind,
        commitment_root=edition.commitment_root,
        certificates_digest=edition.certificates_digest,
        plan_digest=plan.digest(),
        draw_count=plan.draw_count,
        bank_seed=plan.bank_seed,
        resample_count=plan.resample_count,
        bootstrap_seed=plan.bootstrap_seed,
        rings=plan.rings,
        cohorts=plan.cohorts,
        assurance_level=level,
        is_open=is_open(edition, project=experiment.project),
    )
