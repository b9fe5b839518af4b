"""From sealed banks to the numbers that leave: integer totals, changes, and the exposure effect with its interval.

A case is correct when the artifact of the candidate it chose passed every hidden fixture at certification. That is a
look-up in what was frozen; nothing is executed again, and an answer outside the four exact strings scores zero.

Where other rings were banked, each has totals and effects of its own, and its effect as a share of that in R0: how much
of what was leaked in one form acts in another. Key, candidates and utilities of a family are one for all rings. Each
cohort that the plan registered has all of these over its own families.

The author of a practice edition gets the tables that tell families apart, too (`family_tables`).

On a private edition totals are rounded to whole families here, before anything else that is told follows from them.

Source: LeakScale B.3 (frozen look-up), E.1 (family-block bootstrap), E.2 (integer totals); CleanScore 7.11 (share).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leakscale.models import Ring
from leakscale.statements import Predicate, statement
from leakscale_server.scorer.contract import NO_CHOICE, ExperimentHead, FamilyCell, SealedBank, SealedExperiment
from leakscale_server.scorer.family_tables import family_tables
from leakscale_server.scorer.numbers import numbers_of
from leakscale_server.scorer.ring_scores import ALPHA, RingScores, Tallies, Tally, count_step
from leakscale_server.store.vault import Association

__all__ = ["analyze"]


def analyze(experiment: SealedExperiment, *, associations: Mapping[str, Association]) -> bytes:
    """Score every bank and write the payload of the disclosure.

    Args:
        experiment: With the answers of every bank.
        associations: By family id.

    Returns:
        An in-toto statement about the experiment, whose digest is that of the plan.
    """
    head = experiment.head
    tallies = {ring: _tallies(experiment, ring, associations) for ring in head.rings}
    body: dict[str, Any] = {
        "experiment_id": head.experiment_id,
        "model_label": head.model_label,
        "edition_id": head.edition_id,
        "edition_kind": head.edition_kind,
        "commitment_root": head.commitment_root.hex(),
        "certificates_digest": head.certificates_digest.hex(),
        "assurance_level": head.assurance_level,
        "plan_digest": head.plan_digest,
        "draw_count": head.draw_count,
        "bank_seed": str(head.bank_seed),
        "resample_count": head.resample_count,
        "bootstrap_seed": str(head.bootstrap_seed),
        "confidence": 1 - ALPHA,
        "count_step": count_step(head),
        # Rounded ends take few values, so that they say little of single families.
        "intervals": "exact" if head.is_open else "rounded_outwards",
        "banks": {bank.bank_id: bank.answers_digest.hex() for bank in experiment.banks},
        **_numbers(head, experiment.families, tallies),
    }
    if head.is_open:
        body["family_tables"] = family_tables(head, experiment.families, tallies[Ring.R0], associations)
    if head.cohorts:
        body["cohorts"] = [
            {
                "cohort_id": cohort.cohort_id,
                "shape_ids": list(cohort.shape_ids),
                **_numbers(head, [each for each in experiment.families if each.shape_id in cohort.shape_ids], tallies),
            }
            for cohort in head.cohorts
        ]
    return statement(
        Predicate.DISCLOSURE,
        subject=f"experiments/{head.experiment_id}",
        digest=bytes.fromhex(head.plan_digest),
        predicate=body,
    )


def _numbers(head: ExperimentHead, families: Sequence[FamilyCell], tallies: Mapping[Ring, Tallies]) -> dict[str, Any]:
    rings = {ring: RingScores(head, families, tallies[ring]) for ring in head.rings}
    return numbers_of(rings, is_exact=head.is_open)


def _tallies(experiment: SealedExperiment, ring: Ring, associations: Mapping[str, Association]) -> Tallies:
    """Count the banks of one ring."""
    return {
        (bank.domain, bank.state): _tally(
            bank,
            [family for family in experiment.families if family.domain is bank.domain],
            experiment.head.draw_count,
            associations,
        )
        for bank in experiment.banks
        if bank.ring is ring
    }


def _tally(
    bank: SealedBank, families: Sequence[FamilyCell], draw_count: int, associations: Mapping[str, Association]
) -> Tally:
    correct, valid = {}, {}
    for place, family in enumerate(families):
        choices = bank.choices[place * draw_count : (place + 1) * draw_count]
        association = associations[family.family_id]
        correct[family.family_id] = sum(map(association.is_correct, choices))
        valid[family.family_id] = draw_count - choices.count(NO_CHOICE)
    return Tally(correct, valid)
