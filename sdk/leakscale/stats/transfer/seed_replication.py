"""Whether another training seed gives the same effect: every seed is reported, none may be dropped.

Source: CleanScore 7.16 (Table 21); METHODS 9.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leakscale.stats import parameters
from leakscale.stats.errors import EmptyCellError, ParameterError

__all__ = ["SeedReplication", "SeedSpread", "seed_replication"]


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """One form type over all training seeds."""

    effects: Mapping[str, float]
    """Effect under each seed; every seed is here."""
    registered_seed: str

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return sum(self.effects.values()) / len(self.effects)

    @property
    def spread(self) -> float:
        """Greatest less least effect."""
        return max(self.effects.values()) - min(self.effects.values())

    @property
    def registered_rank(self) -> int:
        """Place of the registered seed among all, from the greatest (1) down; ties take the better place."""
        registered = self.effects[self.registered_seed]
        return 1 + sum(effect > registered for effect in self.effects.values())

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "effects": {str(seed): effect for seed, effect in self.effects.items()},
            "mean": self.mean,
            "spread": self.spread,
            "registered": self.effects[self.registered_seed],
            "registered_rank": self.registered_rank,
        }


@dataclass(frozen=True, slots=True)
class SeedReplication:
    """How much the planted effects vary with the training seed."""

    forms: Mapping[str, SeedSpread]
    judged_form: str
    tolerance: float
    method: str = "greatest less least effect over all seeds within the tolerance"

    @property
    def is_stable(self) -> bool:
        """Tell whether the judged form's spread is within the tolerance."""
        return self.forms[self.judged_form].spread <= self.tolerance

    def spread_ratio(self, form: str) -> float | None:
        """Return how many times a form spreads as far as the judged one; None where that does not spread."""
        spread = self.forms[self.judged_form].spread
        return self.forms[form].spread / spread if spread else None

    def to_dict(self) -> dict[str, object]:
        """Return the rule and what it saw as JSON-ready values."""
        return {
            "is_stable": self.is_stable,
            "judged_form": self.judged_form,
            "tolerance": self.tolerance,
            "forms": {form: spread.to_dict() for form, spread in self.forms.items()},
            "method": self.method,
        }

    def __str__(self) -> str:
        judged = self.forms[self.judged_form]
        verdict = "stable" if self.is_stable else "not stable"
        return (
            f"{len(judged.effects)} seeds {verdict}: {self.judged_form} mean {100 * judged.mean:+.1f} points, spread "
            f"{100 * judged.spread:.1f} of {100 * self.tolerance:.1f} allowed, registered seed is number "
            f"{judged.registered_rank} from the top"
        )


def seed_replication(
    runs: Mapping[str, Mapping[str, float]],
    *,
    registered_seed: str,
    judged_form: str = "public",
    tolerance: float = 0.10,
) -> SeedReplication:
    """Compare the effects of runs that differ in the training seed only.

    Args:
        runs: Effect of each form type, by seed. Every seed that was run belongs here.
        registered_seed: The seed that was fixed before the others.
        judged_form: The form type that the rule is about.
        tolerance: Greatest spread of a stable procedure; 0.10 in the paper.

    Raises:
        EmptyCellError: If there are fewer than two runs; one seed says nothing about seeds.
        ParameterError: If the registered seed or the judged form is not among the runs, a run lacks a form, an
            effect is not finite, or the tolerance is not above zero.
    """
    if len(runs) < 2:
        raise EmptyCellError(f"{len(runs)} runs; a replication needs at least two seeds")
    if registered_seed not in runs:
        raise ParameterError(
            f"registered seed {registered_seed!r} is not among {', '.join(map(str, runs))}; report every seed"
        )
    tolerance = parameters.tolerance(tolerance, "tolerance")
    forms = tuple(runs[registered_seed])
    for seed, effects in runs.items():
        if set(effects) != set(forms):
            raise ParameterError(
                f"seed {seed!r} has forms {sorted(effects)} and not {sorted(forms)}; report all of them"
            )
    if judged_form not in forms:
        raise ParameterError(f"judged form {judged_form!r} is not among {', '.join(map(str, forms))}")
    spreads = {
        form: SeedSpread({seed: _effect(runs[seed][form], seed, form) for seed in runs}, registered_seed)
        for form in forms
    }
    return SeedReplication(spreads, judged_form, tolerance)


def _effect(effect: float, seed: str, form: str) -> float:
    return parameters.number(effect, f"the effect of seed {seed!r} on {form!r}")
