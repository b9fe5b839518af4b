"""How far an exposure effect moved between two measurements: stored and new.

    drift = effect of the new measurement - effect of the stored one

Families that answered both are one draw, whatever they did in each, so that what is peculiar to a family does not count
as drift. Families of one measurement alone (another version of a benchmark) are drawn apart from those of the other.

Source: METHODS 10.8 (joint resampling over models), 13.5 (the exact limit).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from leakscale.stats import parameters
from leakscale.stats.errors import DesignError, EnumerationError, UnsupportedMethodError
from leakscale.stats.exposure.contrasts import Contrasts, Weights, draw_contrasts
from leakscale.stats.exposure.joint import JointChanges, joint_changes
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.intervals import Interval

__all__ = ["Arms", "EffectDrift", "Pairing", "effect_drift"]

Arms = Mapping[str, tuple[Outcomes, Outcomes]]
"""C0 and C2 outcomes of each domain, with ids."""


class Pairing(enum.StrEnum):
    """Which families answered both measurements."""

    ALL = "all"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class EffectDrift:
    """One effect measured twice, and how far it moved."""

    domain: str | None
    """None: the mean over all domains, each weighing the same."""
    stored: Interval
    new: Interval
    drift: Interval
    """New less stored."""
    exact: Interval | None
    """The drift in the limit of infinitely many resamples; None where only some families answered both."""
    pairing: Pairing
    common_count: int
    """Families that answered both, controls and exposed."""
    stored_count: int
    new_count: int


def effect_drift(
    stored: Arms,
    new: Arms,
    *,
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> tuple[EffectDrift, ...]:
    """Estimate how far the exposure effect moved, in every domain and, of several, in their mean.

    Args:
        stored: Of the earlier measurement.
        new: Of the later one, in the same domains. Families are matched by id, controls with controls.
        n_resamples: Resamples of each block of families.
        seed: Seeds one generator, which draws domain after domain (sorted by name), C0 before C2; families of the
            stored measurement before those of the new one where none answered both.
        alpha: Probability left outside each interval, in (0, 1); the intervals are not simultaneous.

    Raises:
        DesignError: If the measurements are of different domains, or outcomes have no ids.
        EnumerationError, ParameterError, SeedRequiredError: As for `crossed_summary`.
    """
    if stored.keys() != new.keys() or not stored:
        raise DesignError(f"stored effect is of {sorted(stored)}, new one of {sorted(new)}; compare the same domains")
    parts = [part for domain in sorted(stored) for part in _parts(domain, stored[domain], new[domain])]
    blocks = [part.block for part in parts]
    contrasts = draw_contrasts(blocks, method="percentile", n_resamples=n_resamples, seed=seed, alpha=alpha)
    limit = draw_contrasts(blocks, method="exact", n_resamples=n_resamples, seed=None, alpha=alpha)
    domains: list[str | None] = [*([None] if len(stored) > 1 else []), *sorted(stored)]
    return tuple(_drift(domain, parts, len(stored), contrasts, limit) for domain in domains)


@dataclass(frozen=True, slots=True)
class _Part:
    """Families of one condition and domain that are drawn together."""

    domain: str
    sign: int
    """Of its changes in the effect: -1 for C0."""
    block: JointChanges
    roles: tuple[int, ...]
    """Of each outcome of the block: 0 stored, 1 new."""
    counts: tuple[int, int, int]
    """Families in common, stored and new."""


def _parts(domain: str, stored: tuple[Outcomes, Outcomes], new: tuple[Outcomes, Outcomes]) -> Sequence[_Part]:
    parts = []
    for sign, name, before, after in ((-1, "C0", stored[0], new[0]), (1, "C2", stored[1], new[1])):
        subject = f"{name} of {domain!r}"
        if before.ids is None or after.ids is None:
            raise DesignError(
                f"{subject}: families have no ids; give them, so that the two measurements can be matched"
            )
        common = len(set(before.ids) & set(after.ids))
        counts = (common, before.family_count, after.family_count)
        if common:
            parts.append(_Part(domain, sign, joint_changes((before, after), subject=subject), (0, 1), counts))
            continue
        parts.append(_Part(domain, sign, joint_changes((before,), subject=subject), (0,), (0, counts[1], 0)))
        parts.append(_Part(domain, sign, joint_changes((after,), subject=subject), (1,), (0, 0, counts[2])))
    return parts


def _drift(
    domain: str | None, parts: Sequence[_Part], domain_count: int, contrasts: Contrasts, limit: Contrasts
) -> EffectDrift:
    def weights(of_stored: int, of_new: int) -> Weights:
        share = Fraction(1, domain_count) if domain is None else Fraction(1)
        return tuple(
            tuple(
                (of_stored, of_new)[role] * part.sign * share * (domain in (None, part.domain)) for role in part.roles
            )
            for part in parts
        )

    own = [part for part in parts if domain in (None, part.domain)]
    common, before, after = (sum(part.counts[place] for part in own) for place in range(3))
    try:
        exact = limit.interval(weights(-1, 1)) if all(part.block.is_complete for part in own) else None
    except (EnumerationError, UnsupportedMethodError):
        exact = None
    return EffectDrift(
        domain,
        stored=contrasts.interval(weights(1, 0)),
        new=contrasts.interval(weights(0, 1)),
        drift=contrasts.interval(weights(-1, 1)),
        exact=exact,
        pairing=Pairing.NONE if not common else Pairing.ALL if common == before == after else Pairing.SOME,
        common_count=common,
        stored_count=before,
        new_count=after,
    )
