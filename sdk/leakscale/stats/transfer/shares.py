"""One effect as a share of another, or the reason why there is no share.

A ratio of two noisy numbers can look healthy while it means nothing, so it is withheld where the manipulation failed or
the denominator is censored at its ceiling.

Source: CleanScore 7.11 to 7.14; METHODS 9.3 and 13.7.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leakscale.stats import parameters
from leakscale.stats.exposure.contrasts import Contrasts, Weights
from leakscale.stats.intervals import IntervalState
from leakscale.stats.transfer.fieller import RatioSet, RatioShape, fieller

__all__ = ["TransferShare", "Withheld", "share_of"]


class Withheld(enum.StrEnum):
    """Why no share is reported."""

    FAILED_MANIPULATION = "failed_manipulation"
    """The public effect is below the registered floor: nothing was planted, so nothing can transfer."""
    CENSORED = "censored"
    """The exposed parents reach the ceiling on the public form: the effect is at least this, the share at most that."""
    NO_VARIATION = "no_variation"
    """One parent, or parents that all changed alike: the effects have no error to compare them with."""


@dataclass(frozen=True, slots=True, eq=False)
class TransferShare:
    """The share with the set of shares that the data allow, or the reason why there is none."""

    share: float | None
    """Fresh effect over public effect; None where withheld."""
    bounds: RatioSet | None
    """None where withheld."""
    withheld: Withheld | None
    reason: str | None
    """The rule and its numbers, where withheld."""
    public: float
    """Exposure effect on the public form, in [-2, 2]."""
    fresh: float
    """Exposure effect on the fresh forms, in [-2, 2]."""
    is_fresh_censored: bool
    """Whether the exposed parents reach the ceiling on the fresh forms, so that the share is at least this."""
    resamples_above: Mapping[float, int] | None
    """Resamples whose share lies above a level; None for the Fieller method, which draws none."""
    method: str
    alpha: float
    n_resamples: int | None
    seed: int | None

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        above = self.resamples_above
        return {
            "share": self.share,
            "bounds": self.bounds.to_dict() if self.bounds else None,
            "withheld": self.withheld.value if self.withheld else None,
            "reason": self.reason,
            "public": self.public,
            "fresh": self.fresh,
            "is_fresh_censored": self.is_fresh_censored,
            "resamples_above": {str(level): count for level, count in above.items()} if above is not None else None,
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        effects = f"fresh {100 * self.fresh:+.1f} of public {100 * self.public:+.1f} points"
        if self.share is None:
            return f"transfer share withheld: {self.reason} ({effects})"
        at_least = "at least " if self.is_fresh_censored else ""
        level = f"{100 * (1 - self.alpha):g} % set {self.bounds}; {self.method}"
        return f"transfer share {at_least}{self.share:.3g} ({level}; {effects})"


def share_of(
    contrasts: Contrasts,
    *,
    public: Weights,
    fresh: Weights,
    censored: tuple[bool, bool],
    method: str,
    floor: float,
    levels: Sequence[float],
    estimates: tuple[Fraction, Fraction] | None = None,
) -> TransferShare:
    """Divide one contrast by another, unless a rule withholds the result.

    Args:
        contrasts: Drawn, for the percentile method.
        public: Weights of the denominator.
        fresh: Weights of the numerator.
        censored: Whether the exposed parents reach the ceiling on the public and on the fresh forms.
        method: One of `TRANSFER_METHODS`.
        floor: Least denominator that counts as planted.
        levels: Shares for which resamples above are counted.
        estimates: Denominator and numerator to go by, where no resamples are drawn; by default the exact ones.

    Raises:
        ParameterError: If a level is no finite number.
    """
    levels = [parameters.number(each, "a level") for each in levels]
    effect, transferred = estimates or (contrasts.estimate(public), contrasts.estimate(fresh))
    why = _why_withheld(contrasts, public, float(effect), is_censored=censored[0], floor=floor)
    bounds, above = (None, None) if why else _bounds(contrasts, public, fresh, (effect, transferred), levels)
    return TransferShare(
        share=None if why else float(transferred / effect),
        bounds=bounds,
        withheld=why[0] if why else None,
        reason=why[1] if why else None,
        public=float(effect),
        fresh=float(transferred),
        is_fresh_censored=censored[1],
        resamples_above=above,
        method=method,
        alpha=contrasts.alpha,
        n_resamples=contrasts.n_resamples,
        seed=contrasts.seed,
    )


def _why_withheld(
    contrasts: Contrasts, public: Weights, effect: float, *, is_censored: bool, floor: float
) -> tuple[Withheld, str] | None:
    # A negated comparison, so that nothing but an effect that reaches the floor passes.
    if not effect >= floor or effect <= 0:
        return (
            Withheld.FAILED_MANIPULATION,
            f"the public effect of {100 * effect:+.1f} points is below the floor of {100 * floor:+.1f}; "
            "nothing was planted that could transfer",
        )
    if is_censored:
        return (
            Withheld.CENSORED,
            "the exposed parents are at the ceiling on the public form; its effect is at least "
            f"{100 * effect:+.1f} points, and a share of it would be too large",
        )
    if contrasts.state(public) is not IntervalState.ESTIMATED:
        return Withheld.NO_VARIATION, f"the public effect has no error to go by ({contrasts.state(public).value})"
    return None


def _bounds(
    contrasts: Contrasts,
    public: Weights,
    fresh: Weights,
    estimates: tuple[Fraction, Fraction],
    levels: Sequence[float],
) -> tuple[RatioSet, dict[float, int] | None]:
    if contrasts.drawn is None:
        ratios = fieller(
            float(estimates[1]),
            float(estimates[0]),
            numerator_variance=contrasts.covariance(fresh, fresh),
            denominator_variance=contrasts.covariance(public, public),
            covariance=contrasts.covariance(fresh, public),
            alpha=contrasts.alpha,
        )
        return ratios, None
    numerators, denominators = contrasts.resampled(fresh), contrasts.resampled(public)
    has_share = denominators > 0
    shares = numerators[has_share] / denominators[has_share]
    return _percentiles(shares, denominators.size, contrasts.alpha), {
        float(level): int(np.count_nonzero(shares > level)) for level in levels
    }


def _percentiles(shares: NDArray[np.float64], n_resamples: int, alpha: float) -> RatioSet:
    """Bound the share, taking resamples without one as below everything for `low` and above everything for `high`."""
    lost = n_resamples - shares.size
    if lost > alpha / 2 * (n_resamples - 1):
        return RatioSet(RatioShape.EVERYTHING, None, None)
    ordered = np.sort(shares)
    padded_low = np.concatenate((np.full(lost, ordered[0]), ordered))
    padded_high = np.concatenate((ordered, np.full(lost, ordered[-1])))
    return RatioSet(
        RatioShape.BOUNDED, float(np.quantile(padded_low, alpha / 2)), float(np.quantile(padded_high, 1 - alpha / 2))
    )
