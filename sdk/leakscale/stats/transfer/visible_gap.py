"""What an audit can see of a planted effect: the effect on the public form less the effect on fresh forms.

It equals the exposure effect on the gap D of each parent, and says nothing about what moved both forms alike.

Source: CleanScore 7.11 and 7.13; METHODS 9.2 and 9.13.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leakscale.stats import parameters
from leakscale.stats.exposure.contrasts import Weights, draw_contrasts
from leakscale.stats.exposure.did import DidResult
from leakscale.stats.exposure.joint import joint_changes
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.intervals import Interval
from leakscale.stats.transfer.transfer_share import FRESH, PUBLIC, paired_contrasts

__all__ = ["VisibleGap", "gap_movement", "visible_gap"]

_APART: Weights = ((Fraction(1), Fraction(-1)),)
_GAP: Weights = tuple(
    tuple(p - f for p, f in zip(public, fresh, strict=True)) for public, fresh in zip(PUBLIC, FRESH, strict=True)
)
_NOTHING = (Fraction(), Fraction())
_C0_GAP: Weights = (_APART[0], _NOTHING)
_C2_GAP: Weights = (_NOTHING, _APART[0])


@dataclass(frozen=True, slots=True, eq=False)
class VisibleGap:
    """The visible gap and how far the mean gap moved in each group."""

    gap: Interval
    """Public effect less fresh effect, in [-4, 4]; the C2 movement less the C0 movement."""
    c0_movement: Interval
    """Change of the mean gap of the untouched parents, in [-2, 2]."""
    c2_movement: Interval
    """Change of the mean gap of the exposed parents, in [-2, 2]."""
    public: float
    fresh: float
    method: str
    alpha: float
    n_resamples: int | None
    seed: int | None

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "gap": self.gap.to_dict(),
            "c0_movement": self.c0_movement.to_dict(),
            "c2_movement": self.c2_movement.to_dict(),
            "public": self.public,
            "fresh": self.fresh,
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        return f"visible gap {self.gap}, of public {100 * self.public:+.1f} and fresh {100 * self.fresh:+.1f} points"


def visible_gap(
    public: DidResult,
    fresh: DidResult,
    *,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> VisibleGap:
    """Estimate the gap that an audit of public against fresh forms would see of an effect.

    Args:
        public: Effect on the public form.
        fresh: Effect on fresh forms of the same parents, matched by id where the outcomes have ids.
        method: `percentile` with a seed, or `exact`, its infinite-resample limit.
        n_resamples: Resamples of each group.
        seed: Seeds `Generator(PCG64(seed))`; C0 is drawn before C2, a parent with all its forms and both states.
        alpha: Probability left outside the interval, in (0, 1).

    Raises:
        PairingError: If the results are of different parents.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `difference_in_differences`; `exact` needs
            every parent in both results.
    """
    contrasts = paired_contrasts(public, fresh, method=method, n_resamples=n_resamples, seed=seed, alpha=alpha)
    return VisibleGap(
        gap=contrasts.interval(_GAP),
        c0_movement=contrasts.interval(_C0_GAP),
        c2_movement=contrasts.interval(_C2_GAP),
        public=float(contrasts.estimate(PUBLIC)),
        fresh=float(contrasts.estimate(FRESH)),
        method=method,
        alpha=contrasts.alpha,
        n_resamples=contrasts.n_resamples,
        seed=contrasts.seed,
    )


def gap_movement(
    first: Outcomes,
    second: Outcomes,
    *,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> Interval:
    """Estimate how much more one form of the same parents moved than another, in one group.

    With public and fresh forms of a bank that training never touched, this is the off-target check; with deep and
    fresh forms of the control parents, the assumption behind a borrowed counterfactual.

    Raises:
        PairingError: If the outcomes are of different parents.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `visible_gap`.
    """
    block = joint_changes([first, second], subject="the two forms")
    drawn = draw_contrasts([block], method=method, n_resamples=n_resamples, seed=seed, alpha=alpha)
    return drawn.interval(_APART)
