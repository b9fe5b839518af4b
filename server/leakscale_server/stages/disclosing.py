"""From sealed banks to the one disclosure of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

from leakscale.models import Family
from leakscale.scoring import choices_of
from leakscale_server.errors import NotSealed
from leakscale_server.registry.disclosures import DisclosureRegistry, Released
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.experiments import Bank, Experiment, ExperimentRegistry, answers_digest
from leakscale_server.scorer.contract import (
    NO_CHOICE,
    ExperimentHead,
    FamilyCell,
    Scoring,
    SealedBank,
    SealedExperiment,
)

__all__ = ["Disclosing"]


class Disclosing:
    """Releases the numbers of experiments."""

    def __init__(
        self,
        editions: EditionRegistry,
        experiments: ExperimentRegistry,
        disclosures: DisclosureRegistry,
        scorer: Scoring,
    ) -> None:
        self._editions = editions
        self._experiments = experiments
        self._disclosures = disclosures
        self._scorer = scorer

    def disclose(self, experiment_id: str) -> Released:
        """Release the numbers of an experiment once; asked again, the same bytes return.

        Raises:
            NotFound: If there is no such experiment.
            NotSealed: If a bank is open.
        """
        experiment = self._experiments.get(experiment_id)
        stored = self._disclosures.get(experiment_id)
        if stored is not None:
            return stored
        for bank in experiment.banks:
            if not bank.is_sealed:
                name = f"experiments/{experiment_id}/banks/{bank.bank_id}"
                raise NotSealed(f"bank {name!r} is not sealed; seal every bank, then disclose", subject=name)
        signed = self._scorer.disclose(self._sealed(experiment))
        return self._disclosures.add(experiment_id, payload=signed.payload, signature=signed.signature)

    def _sealed(self, experiment: Experiment) -> SealedExperiment:
        edition = self._editions.get_frozen(experiment.plan.edition_id)
        families = self._editions.families(edition.edition_id)
        conditions = {each.family_id: each.slot.condition for each in self._editions.certificates(edition.edition_id)}
        return SealedExperiment(
            head=_head(experiment, edition),
            families=tuple(FamilyCell(each.family_id, each.domain, conditions[each.family_id]) for each in families),
            banks=tuple(self._bank(bank, families) for bank in experiment.banks),
        )

    def _bank(self, bank: Bank, families: Sequence[Family]) -> SealedBank:
        answers = self._experiments.answers(bank.experiment_id, bank.bank_id)
        known = {family.family_id: choices_of(family.candidates) for family in families}
        return SealedBank(
            bank_id=bank.bank_id,
            domain=bank.domain,
            state=bank.state,
            ring=bank.ring,
            answers_digest=answers_digest(answers),
            choices=bytes(known[answer.family_id].get(answer.text, NO_CHOICE) for answer in answers),
        )


def _head(experiment: Experiment, edition: Edition) -> ExperimentHead:
    plan = experiment.plan
    return ExperimentHead(
        experiment_id=plan.experiment_id,
        model_label=plan.model_label,
        edition_id=edition.edition_id,
        edition_kind=edition.kind,
        commitment_root=edition.commitment_root,
        certificates_digest=edition.certificates_digest,
        plan_digest=plan.digest(),
        draw_count=plan.draw_count,
        bank_seed=plan.bank_seed,
        resample_count=plan.resample_count,
        bootstrap_seed=plan.bootstrap_seed,
        rings=plan.rings,
    )
