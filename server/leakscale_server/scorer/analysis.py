"""From sealed banks to the numbers that leave: integer totals, changes, and the exposure effect with its interval.

A case is correct when the artifact of the candidate it chose passed every hidden fixture at certification. That is a
look-up in what was frozen; nothing is executed again, and an answer outside the four exact strings scores zero.

Where other rings were banked, each has totals and effects of its own, and its effect as a share of that in R0: how much
of what was leaked in one form acts in another. Key, candidates and utilities of a family are one for all rings. Each
cohort that the plan registered has all of these over its own families.

Source: LeakScale B.3 (frozen look-up), E.1 (family-block bootstrap), E.2 (integer totals); CleanScore 7.11 (share).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.statements import Predicate, statement
from leakscale.stats import (
    DidResult,
    Interval,
    Outcomes,
    crossed_contrast,
    difference_in_differences,
    transfer_share,
)
from leakscale.stats.intervals import IntervalState
from leakscale_server.core.disclosure.rounding import round_bounds, round_ends
from leakscale_server.scorer.contract import NO_CHOICE, ExperimentHead, FamilyCell, SealedBank, SealedExperiment
from leakscale_server.store.vault import Association

__all__ = ["analyze"]

_ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class _Tally:
    correct: Mapping[str, int]
    valid: Mapping[str, int]


_Tallies = Mapping[tuple[Domain, ModelState], _Tally]


@dataclass(frozen=True, slots=True)
class _Effect:
    domain: Domain | None
    registered: DidResult
    exact: DidResult


@dataclass(frozen=True, slots=True)
class _Crossed:
    domains: tuple[Domain, Domain]
    mean: Interval
    difference: Interval
    """Effect in the first domain less that in the second."""


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
        "confidence": 1 - _ALPHA,
        # Rounded ends take few values, so that they say little of single families.
        "intervals": "exact" if head.is_open else "rounded_outwards",
        "banks": {bank.bank_id: bank.answers_digest.hex() for bank in experiment.banks},
        **_numbers(head, experiment.families, tallies),
    }
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


def _numbers(head: ExperimentHead, families: Sequence[FamilyCell], tallies: Mapping[Ring, _Tallies]) -> dict[str, Any]:
    """Return everything that is disclosed over some families: totals and effects in R0, and what of it transfers."""
    rings = {ring: _RingScores(head, families, tallies[ring]) for ring in head.rings}
    effects = {ring: scores.effects() for ring, scores in rings.items()}
    written = _Writer(is_exact=head.is_open)
    numbers: dict[str, Any] = {
        "totals": rings[Ring.R0].totals(),
        "effects": [written.effect(effect) for effect in effects[Ring.R0]],
    }
    crossed = rings[Ring.R0].crossed()
    if crossed is not None:
        numbers["crossed"] = written.crossed(crossed)
    others = [ring for ring in head.rings if ring is not Ring.R0]
    if others:
        numbers["transfers"] = [
            {
                "ring": ring.value,
                "totals": rings[ring].totals(),
                "effects": [written.effect(effect) for effect in effects[ring]],
                "shares": [written.share(*pair) for pair in zip(effects[Ring.R0], effects[ring], strict=True)],
            }
            for ring in others
        ]
    return numbers


def _tallies(experiment: SealedExperiment, ring: Ring, associations: Mapping[str, Association]) -> _Tallies:
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
) -> _Tally:
    correct, valid = {}, {}
    for place, family in enumerate(families):
        choices = bank.choices[place * draw_count : (place + 1) * draw_count]
        association = associations[family.family_id]
        correct[family.family_id] = sum(map(association.is_correct, choices))
        valid[family.family_id] = draw_count - choices.count(NO_CHOICE)
    return _Tally(correct, valid)


class _RingScores:
    """What some families scored in the banks of one ring."""

    def __init__(self, head: ExperimentHead, families: Sequence[FamilyCell], tallies: _Tallies) -> None:
        self._head = head
        self._domains = sorted({family.domain for family in families})
        self._families = families
        self._tallies = tallies

    def totals(self) -> list[dict[str, str | int]]:
        """Return the integer outcome of every domain, condition and state."""
        return [
            self._total(domain, condition, state)
            for domain in self._domains
            for condition in Condition
            for state in ModelState
        ]

    def effects(self) -> list[_Effect]:
        """Estimate the effect over all domains, then over each."""
        return list(self._effects())

    def crossed(self) -> _Crossed | None:
        """Estimate the mean of the domains' effects and their difference; None where there is one domain.

        Source: LeakScale Table 17, for the one model of an experiment.
        """
        if len(self._domains) == 1:
            return None
        first, second = self._domains
        cells: Mapping[tuple[str, str], tuple[Outcomes, Outcomes]] = {
            ("", domain): self._cell(domain) for domain in self._domains
        }
        half = Fraction(1, 2)
        weights: Sequence[Mapping[tuple[str, str], Fraction]] = (
            {("", first): half, ("", second): half},
            {("", first): Fraction(1), ("", second): Fraction(-1)},
        )
        mean, difference = (
            crossed_contrast(
                cells,
                each,
                n_resamples=self._head.resample_count,
                seed=self._head.bootstrap_seed,
                alpha=_ALPHA,
            )
            for each in weights
        )
        return _Crossed((first, second), mean, difference)

    def _cell(self, domain: Domain) -> tuple[Outcomes, Outcomes]:
        c0, c2 = (self._outcomes(domain, condition) for condition in Condition)
        return c0, c2

    def _effects(self) -> Iterator[_Effect]:
        for label in (None, *self._domains):
            domains = self._domains if label is None else [label]
            c0, c2 = (
                Outcomes.pooled(*(self._outcomes(each, condition) for each in domains)) for condition in Condition
            )
            yield _Effect(
                domain=label,
                registered=difference_in_differences(
                    c0, c2, n_resamples=self._head.resample_count, seed=self._head.bootstrap_seed, alpha=_ALPHA
                ),
                exact=difference_in_differences(c0, c2, method="exact", alpha=_ALPHA),
            )

    def _ids(self, domain: Domain, condition: Condition) -> list[str]:
        return [
            family.family_id for family in self._families if family.domain is domain and family.condition is condition
        ]

    def _outcomes(self, domain: Domain, condition: Condition) -> Outcomes:
        ids = self._ids(domain, condition)
        base, adapted = (self._tallies[domain, state].correct for state in ModelState)
        return Outcomes([base[each] for each in ids], [adapted[each] for each in ids], self._head.draw_count, ids)

    def _total(self, domain: Domain, condition: Condition, state: ModelState) -> dict[str, str | int]:
        ids = self._ids(domain, condition)
        tally = self._tallies[domain, state]
        return {
            "domain": domain.value,
            "condition": condition.value,
            "state": state.value,
            "family_count": len(ids),
            "draw_count": len(ids) * self._head.draw_count,
            "correct_count": sum(tally.correct[each] for each in ids),
            "valid_count": sum(tally.valid[each] for each in ids),
        }


class _Writer:
    """Writes estimates as they leave: exactly, or with their ends rounded outwards."""

    def __init__(self, *, is_exact: bool) -> None:
        self._is_exact = is_exact

    def effect(self, effect: _Effect) -> dict[str, Any]:
        """Write an effect and the changes that it is the difference of."""
        return {
            "domain": effect.domain.value if effect.domain else None,
            "effect": self._estimate(effect.registered.effect),
            "effect_exact": self._estimate(effect.exact.effect),
            "c0_drift": self._estimate(effect.registered.c0_drift),
            "c2_change": self._estimate(effect.registered.c2_change),
        }

    def crossed(self, crossed: _Crossed) -> dict[str, Any]:
        """Write the mean of two domains' effects and their difference."""
        return {
            "domains": [domain.value for domain in crossed.domains],
            "mean": self._estimate(crossed.mean),
            "difference": self._estimate(crossed.difference),
        }

    def share(self, exact_public: _Effect, other: _Effect) -> dict[str, Any]:
        """Divide the effect in another ring by that in R0, families joined by id, unless a rule withholds the share."""
        found = transfer_share(exact_public.registered, other.registered, alpha=_ALPHA)
        bounds = found.bounds if self._is_exact or found.bounds is None else round_bounds(found.bounds)
        return {
            "domain": other.domain.value if other.domain else None,
            "share": found.share,
            "bounds": bounds.to_dict() if bounds else None,
            "withheld": found.withheld.value if found.withheld else None,
            "reason": found.reason,
            "is_censored": found.is_fresh_censored,
            "method": found.method,
        }

    def _estimate(self, interval: Interval) -> dict[str, Any]:
        low, high, state = interval.low, interval.high, interval.state
        if not self._is_exact:
            low, high = round_ends(interval.estimate, low=low, high=high)
            # Which kind of flat it is would be one more number over the families.
            state = IntervalState.CONSTANT if low == high else IntervalState.ESTIMATED
        return {"value": interval.estimate, "low": low, "high": high, "state": state.value}
