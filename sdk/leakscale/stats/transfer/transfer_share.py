"""Which share of a planted effect reaches wording that the model never saw.

    share = exposure effect on fresh forms / exposure effect on the public form

Source: CleanScore 7.11 to 7.14; METHODS 9.3 and 13.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from leakscale.stats import parameters
from leakscale.stats.errors import UnsupportedMethodError
from leakscale.stats.exposure.contrasts import Contrasts, Weights, draw_contrasts
from leakscale.stats.exposure.did import DidResult
from leakscale.stats.exposure.joint import joint_changes
from leakscale.stats.transfer.shares import TransferShare, share_of

__all__ = ["FRESH", "PUBLIC", "TRANSFER_METHODS", "ToldEffects", "paired_contrasts", "transfer_share"]

TRANSFER_METHODS = ("fieller", "percentile")

PUBLIC: Weights = ((Fraction(-1), Fraction(0)), (Fraction(1), Fraction(0)))
"""The exposure effect on the public form, where each of C0 and C2 is a block of public and fresh changes."""
FRESH: Weights = ((Fraction(0), Fraction(-1)), (Fraction(0), Fraction(1)))


@dataclass(frozen=True, slots=True)
class ToldEffects:
    """Two effects to go by where the exact ones may not be told, as those of rounded totals.

    Only how the families spread is taken from the data then, so they should be off by far less than that.
    """

    public: Fraction
    fresh: Fraction
    censored: tuple[bool, bool]
    """Whether the exposed parents reach the ceiling on the public and on the fresh forms."""


def transfer_share(
    public: DidResult,
    fresh: DidResult,
    *,
    method: str = "fieller",
    alpha: float = 0.05,
    floor: float = 0.05,
    ceiling: float = 1.0,
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    levels: Sequence[float] = (0.25, 0.5),
    told: ToldEffects | None = None,
) -> TransferShare:
    """Estimate the transferred share, or withhold it.

    Args:
        public: Effect on the public form. C2 are the exposed parents, C0 the untouched ones.
        fresh: Effect on fresh forms of the same parents, matched by id where the outcomes have ids and row by row
            otherwise. Parents may be missing.
        method: `fieller`, or `percentile`, the papers' bootstrap over parents. Both print an unbounded answer as such.
        alpha: Probability left outside the set, in (0, 1).
        floor: Least public effect that counts as planted; 0.05 in the paper.
        ceiling: Accuracy of the exposed parents on the public form from which on the effect counts as censored.
        n_resamples: Resamples of the percentile method.
        seed: Seeds the percentile method. A parent is drawn with all its forms and both states.
        levels: Shares for which the percentile method counts the resamples above.
        told: For the Fieller method, what to divide and to judge by instead of the exact effects.

    Raises:
        PairingError: If the results are of different parents.
        ParameterError: If floor, ceiling or a level is no finite number in its range.
        UnsupportedMethodError: If `told` is given with the percentile method, which resamples the exact effects.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `difference_in_differences`.

    A failed manipulation, a censored public form and parents that all changed alike are no errors: `withheld` says so.
    A resample whose public effect is not positive has no share; it counts as lying outside on both sides, and where
    such resamples are more than alpha / 2 the set is everything. A plain percentile interval of the ratio covers .574
    there.
    """
    floor, ceiling = parameters.number(floor, "floor", -2, 2), parameters.share(ceiling, "ceiling")
    if told is not None and method != "fieller":
        raise UnsupportedMethodError(f"told effects go with method='fieller', not {method!r}")
    contrasts = paired_contrasts(
        public, fresh, method=_drawing(method), n_resamples=n_resamples, seed=seed, alpha=alpha
    )
    return share_of(
        contrasts,
        public=PUBLIC,
        fresh=FRESH,
        censored=told.censored if told else (_is_at(ceiling, public), _is_at(ceiling, fresh)),
        method=method,
        floor=floor,
        levels=levels,
        estimates=(told.public, told.fresh) if told else None,
    )


def _is_at(ceiling: float, result: DidResult) -> bool:
    return result.c2.adapted_accuracy >= ceiling


def paired_contrasts(
    public: DidResult,
    fresh: DidResult,
    *,
    method: str,
    n_resamples: int,
    seed: parameters.Seed | None,
    alpha: float,
) -> Contrasts:
    """Match the parents of two results and draw them, C0 before C2, each with both its changes.

    Raises:
        PairingError: If the results are of different parents.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `draw_contrasts`.
    """
    blocks = [
        joint_changes([public.c0, fresh.c0], subject="C0 of public and fresh forms"),
        joint_changes([public.c2, fresh.c2], subject="C2 of public and fresh forms"),
    ]
    return draw_contrasts(blocks, method=method, n_resamples=n_resamples, seed=seed, alpha=alpha)


def _drawing(method: str) -> str:
    """Return the method by which the contrasts below a share are drawn; Fieller's needs no draw."""
    if method not in TRANSFER_METHODS:
        raise UnsupportedMethodError(f"method {method!r} is not one of {', '.join(TRANSFER_METHODS)}")
    return "exact" if method == "fieller" else method
