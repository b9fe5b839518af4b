"""From sealed banks to the numbers that leave: integer totals, changes, and the exposure effect with its interval.

A case is correct when the artifact of the candidate it chose passed every hidden fixture at certification. That is a
look-up in what was frozen; nothing is executed again, and an answer outside the four exact strings scores zero.

Where other rings were banked, each has totals and effects of its own, and its effect as a share of that in R0: how much
of what was leaked in one form acts in another. Key, candidates and utilities of a family are one for all rings.

Source: LeakScale B.3 (frozen look-up), E.1 (family-block bootstrap), E.2 (integer totals); CleanScore 7.11 (share).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.statements import Predicate, statement
from leakscale.stats import DidResult, Interval, Outcomes, difference_in_differences, transfer_share
from leakscale_server.scorer.contract import NO_CHOICE, FamilyCell, SealedBank, SealedExperiment
from leakscale_server.store.vault import Association

__all__ = ["analyze"]

_ALPHA: Final = 0.05
_ASSURANCE_LEVEL: Final = "L0"
"""One party, one machine: this version has one token, so nothing tells author, trainer and auditor apart."""


@dataclass(frozen=True, slots=True)
class _Tally:
    correct: Mapping[str, int]
    valid: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Effect:
    domain: Domain | None
    registered: DidResult
    exact: DidResult


def analyze(experiment: SealedExperiment, *, associations: Mapping[str, Association]) -> bytes:
    """Score every bank and write the payload of the disclosure.

    Args:
        associations: By family id.

    Returns:
        An in-toto statement about the experiment, whose digest is that of the plan.
    """
    head = experiment.head
    rings = {ring: _RingScores(experiment, ring, associations) for ring in head.rings}
    exact_public = rings[Ring.R0]
    effects = {ring: scores.effects() for ring, scores in rings.items()}
    body: dict[str, Any] = {
        "experiment_id": head.experiment_id,
        "model_label": head.model_label,
        "edition_id": head.edition_id,
        "edition_kind": head.edition_kind,
        "commitment_root": head.commitment_root.hex(),
        "certificates_digest": head.certificates_digest.hex(),
        "assurance_level": _ASSURANCE_LEVEL,
        "plan_digest": head.plan_digest,
        "draw_count": head.draw_count,
        "bank_seed": str(head.bank_seed),
        "resample_count": head.resample_count,
        "bootstrap_seed": str(head.bootstrap_seed),
        "confidence": 1 - _ALPHA,
        "banks": {bank.bank_id: bank.answers_digest.hex() for bank in experiment.banks},
        "totals": exact_public.totals(),
        "effects": [_effect(effect) for effect in effects[Ring.R0]],
    }
    others = [ring for ring in head.rings if ring is not Ring.R0]
    if others:
        body["transfers"] = [
            {
                "ring": ring.value,
                "totals": rings[ring].totals(),
                "effects": [_effect(effect) for effect in effects[ring]],
                "shares": [_share(*pair) for pair in zip(effects[Ring.R0], effects[ring], strict=True)],
            }
            for ring in others
        ]
    return statement(
        Predicate.DISCLOSURE,
        subject=f"experiments/{head.experiment_id}",
        digest=bytes.fromhex(head.plan_digest),
        predicate=body,
    )


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
    """The banks of one ring, counted."""

    def __init__(self, experiment: SealedExperiment, ring: Ring, associations: Mapping[str, Association]) -> None:
        self._head = experiment.head
        self._domains = sorted({bank.domain for bank in experiment.banks})
        self._families = experiment.families
        self._tallies = {
            (bank.domain, bank.state): _tally(
                bank,
                [family for family in experiment.families if family.domain is bank.domain],
                experiment.head.draw_count,
                associations,
            )
            for bank in experiment.banks
            if bank.ring is ring
        }

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


def _effect(effect: _Effect) -> dict[str, Any]:
    return {
        "domain": effect.domain.value if effect.domain else None,
        "effect": _estimate(effect.registered.effect),
        "effect_exact": _estimate(effect.exact.effect),
        "c0_drift": _estimate(effect.registered.c0_drift),
        "c2_change": _estimate(effect.registered.c2_change),
    }


def _share(exact_public: _Effect, other: _Effect) -> dict[str, Any]:
    """Divide the effect in another ring by that in R0, families joined by id, unless a rule withholds the share."""
    found = transfer_share(exact_public.registered, other.registered, alpha=_ALPHA)
    return {
        "domain": other.domain.value if other.domain else None,
        "share": found.share,
        "bounds": found.bounds.to_dict() if found.bounds else None,
        "withheld": found.withheld.value if found.withheld else None,
        "reason": found.reason,
        "is_censored": found.is_fresh_censored,
        "method": found.method,
    }


def _estimate(interval: Interval) -> dict[str, Any]:
    return {"value": interval.estimate, "low": interval.low, "high": interval.high, "state": interval.state.value}
