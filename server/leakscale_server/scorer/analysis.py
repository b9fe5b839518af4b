"""From sealed banks to the numbers that leave: integer totals, changes, and the exposure effect with its interval.

A case is correct when the artifact of the candidate it chose passed every hidden fixture at certification. That is a
look-up in what was frozen; nothing is executed again, and an answer outside the four exact strings scores zero.

Source: LeakScale B.3 (frozen look-up), E.1 (family-block bootstrap), E.2 (integer totals).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.models import Answer, Condition, Domain, Family, ModelState
from leakscale.scoring import choice_index
from leakscale.stats import Interval, Outcomes, difference_in_differences
from leakscale_server.registry.editions import Edition
from leakscale_server.registry.experiments import Experiment, answers_digest

__all__ = ["Association", "analyze"]

_ALPHA: Final = 0.05
_ASSURANCE_LEVEL: Final = "L0"
"""One party, one machine: this version has one token, so nothing tells author, trainer and auditor apart."""


@dataclass(frozen=True, slots=True)
class Association:
    """The private part of a certified family."""

    truth: int
    nonce: bytes
    fixture_count: int
    passed_counts: tuple[int, int, int, int]
    """Fixtures that each candidate passes, in display order."""

    def is_correct(self, choice: int | None) -> bool:
        """Tell whether the chosen candidate passed every fixture."""
        return choice is not None and self.passed_counts[choice] == self.fixture_count


@dataclass(frozen=True, slots=True)
class _Tally:
    correct: Mapping[str, int]
    valid: Mapping[str, int]


def analyze(
    experiment: Experiment,
    edition: Edition,
    *,
    families: Mapping[Condition, Sequence[Family]],
    associations: Mapping[str, Association],
    answers: Mapping[str, Sequence[Answer]],
) -> bytes:
    """Score every bank and write the payload of the disclosure.

    Args:
        families: Of each condition, in the order of their ids.
        associations: By family id.
        answers: Of each bank, by bank id.

    Returns:
        Canonical JSON.
    """
    plan = experiment.plan
    known = {family.family_id: family for each in families.values() for family in each}
    tallies = {bank.bank_id: _tally(answers[bank.bank_id], known, associations) for bank in experiment.banks}
    domains = sorted({bank.domain for bank in experiment.banks})
    outcomes = {
        (domain, condition): _outcomes(domain, families[condition], tallies, plan.draw_count)
        for domain in domains
        for condition in Condition
    }
    body: dict[str, Any] = {
        "type": "leakscale-disclosure",
        "v": 1,
        "experiment_id": plan.experiment_id,
        "model_label": plan.model_label,
        "edition_id": edition.edition_id,
        "edition_kind": edition.kind,
        "commitment_root": edition.commitment_root.hex(),
        "certificates_digest": edition.certificates_digest.hex(),
        "assurance_level": _ASSURANCE_LEVEL,
        "plan_digest": plan.digest(),
        "draw_count": plan.draw_count,
        "bank_seed": str(plan.bank_seed),
        "resample_count": plan.resample_count,
        "bootstrap_seed": str(plan.bootstrap_seed),
        "confidence": 1 - _ALPHA,
        "banks": {bank.bank_id: answers_digest(answers[bank.bank_id]).hex() for bank in experiment.banks},
        "totals": [
            _total(domain, condition, state, families=families[condition], tallies=tallies, draw_count=plan.draw_count)
            for domain in domains
            for condition in Condition
            for state in ModelState
        ],
        "effects": [_effect(None, domains, outcomes, experiment)]
        + [_effect(domain, [domain], outcomes, experiment) for domain in domains],
    }
    return canonical_json(body)


def _tally(
    answers: Iterable[Answer], families: Mapping[str, Family], associations: Mapping[str, Association]
) -> _Tally:
    correct = dict.fromkeys(families, 0)
    valid = dict.fromkeys(families, 0)
    for answer in answers:
        choice = choice_index(answer.text, families[answer.family_id].candidates)
        valid[answer.family_id] += choice is not None
        correct[answer.family_id] += associations[answer.family_id].is_correct(choice)
    return _Tally(correct, valid)


def _bank_id(domain: Domain, state: ModelState) -> str:
    return f"{domain.value}-{state.value}"


def _outcomes(domain: Domain, families: Sequence[Family], tallies: Mapping[str, _Tally], draw_count: int) -> Outcomes:
    ids = [family.family_id for family in families if family.domain is domain]
    base, adapted = (tallies[_bank_id(domain, state)].correct for state in ModelState)
    return Outcomes([base[each] for each in ids], [adapted[each] for each in ids], draw_count)


def _total(
    domain: Domain,
    condition: Condition,
    state: ModelState,
    *,
    families: Sequence[Family],
    tallies: Mapping[str, _Tally],
    draw_count: int,
) -> dict[str, str | int]:
    ids = [family.family_id for family in families if family.domain is domain]
    tally = tallies[_bank_id(domain, state)]
    return {
        "domain": domain.value,
        "condition": condition.value,
        "state": state.value,
        "family_count": len(ids),
        "draw_count": len(ids) * draw_count,
        "correct_count": sum(tally.correct[each] for each in ids),
        "valid_count": sum(tally.valid[each] for each in ids),
    }


def _effect(
    label: Domain | None,
    domains: Sequence[Domain],
    outcomes: Mapping[tuple[Domain, Condition], Outcomes],
    experiment: Experiment,
) -> dict[str, Any]:
    c0, c2 = (Outcomes.pooled(*(outcomes[domain, condition] for domain in domains)) for condition in Condition)
    result = difference_in_differences(
        c0, c2, n_resamples=experiment.plan.resample_count, seed=experiment.plan.bootstrap_seed, alpha=_ALPHA
    )
    exact = difference_in_differences(c0, c2, method="exact", alpha=_ALPHA)
    return {
        "domain": label.value if label else None,
        "effect": _estimate(result.effect),
        "effect_exact": _estimate(exact.effect),
        "c0_drift": _estimate(result.c0_drift),
        "c2_change": _estimate(result.c2_change),
    }


def _estimate(interval: Interval) -> dict[str, Any]:
    return {"value": interval.estimate, "low": interval.low, "high": interval.high, "state": interval.state.value}
