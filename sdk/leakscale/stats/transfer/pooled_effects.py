"""One effect over several studies of the same parents, with the rule that would have refuted the transfer.

Studies weigh the same. They planted the same parents, so a resample draws a parent once for all studies.

Source: CleanScore 7.11 (Table 16); METHODS 9.4 and 9.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leakscale.stats import parameters
from leakscale.stats.errors import EmptyCellError
from leakscale.stats.exposure.contrasts import Weights, draw_contrasts
from leakscale.stats.exposure.did import DidResult
from leakscale.stats.exposure.joint import joint_changes
from leakscale.stats.intervals import Interval
from leakscale.stats.transfer.shares import TransferShare, share_of

__all__ = ["PooledEffects", "pooled_effects"]

_FALSIFYING = 2
"""Studies without a fresh effect, alongside a clear public one, that refute a general transfer."""


@dataclass(frozen=True, slots=True, eq=False)
class PooledEffects:
    """Equal-weight means over studies, their share, and the falsifier."""

    public: Interval
    """Mean exposure effect on the public form, in [-2, 2]."""
    fresh: Interval
    """Mean exposure effect on fresh forms, in [-2, 2]."""
    gap: Interval
    """Their difference: what an audit would see on average."""
    share: TransferShare
    """Pooled fresh over pooled public effect, by the percentile method."""
    studies: Mapping[str, tuple[float, float]]
    """Public and fresh effect of each study; none is left out."""
    falsifying: tuple[str, ...]
    """Studies with a fresh effect of zero or less alongside a public effect whose interval lies above zero."""
    resamples_positive: tuple[int, int]
    """Resamples in which the pooled public and the pooled fresh effect are above zero."""
    method: str
    alpha: float
    n_resamples: int | None
    seed: int | None

    @property
    def is_falsified(self) -> bool:
        """Tell whether the registered falsifier fired: the transfer is then not general."""
        return len(self.falsifying) >= _FALSIFYING

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "public": self.public.to_dict(),
            "fresh": self.fresh.to_dict(),
            "gap": self.gap.to_dict(),
            "share": self.share.to_dict(),
            "studies": {str(name): {"public": one, "fresh": two} for name, (one, two) in self.studies.items()},
            "falsifying": list(self.falsifying),
            "is_falsified": self.is_falsified,
            "resamples_positive": list(self.resamples_positive),
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        verdict = "falsifier fired" if self.is_falsified else "falsifier did not fire"
        return f"{len(self.studies)} studies: public {self.public}; fresh {self.fresh}; {verdict}"


def pooled_effects(
    studies: Mapping[str, tuple[DidResult, DidResult]],
    *,
    seed: parameters.Seed,
    n_resamples: int = 10_000,
    alpha: float = 0.05,
    floor: float = 0.05,
    ceiling: float = 1.0,
    levels: Sequence[float] = (0.25, 0.5),
) -> PooledEffects:
    """Average the public and the fresh effects of several studies.

    Args:
        studies: Public and fresh result of each study, all of the same parents; these are matched by id where the
            outcomes have ids, row by row otherwise.
        seed: Seeds `Generator(PCG64(seed))`; C0 is drawn before C2, a parent with all studies, forms and states.
        n_resamples: Resamples of each group.
        alpha: Probability left outside each interval, in (0, 1).
        floor: Least pooled public effect that counts as planted.
        ceiling: Accuracy from which on a study counts as censored. One censored study withholds the share.
        levels: Shares for which the resamples above are counted.

    Raises:
        EmptyCellError: If there is no study.
        PairingError: If the studies are of different parents.
        ParameterError: If `alpha`, `n_resamples`, floor, ceiling or a level is out of range.
    """
    if not studies:
        raise EmptyCellError("no study to pool; pass the public and the fresh result of at least one")
    floor, ceiling = parameters.number(floor, "floor", -2, 2), parameters.share(ceiling, "ceiling")
    results = [result for pair in studies.values() for result in pair]
    blocks = [
        joint_changes([result.c0 for result in results], subject="C0 of the studies"),
        joint_changes([result.c2 for result in results], subject="C2 of the studies"),
    ]
    drawn = draw_contrasts(blocks, method="percentile", n_resamples=n_resamples, seed=seed, alpha=alpha)
    public, fresh, gap = (_mean_over(len(studies), *of_pair) for of_pair in ((1, 0), (0, 1), (1, -1)))
    return PooledEffects(
        public=drawn.interval(public),
        fresh=drawn.interval(fresh),
        gap=drawn.interval(gap),
        share=share_of(
            drawn,
            public=public,
            fresh=fresh,
            censored=(_any_at(ceiling, studies, 0), _any_at(ceiling, studies, 1)),
            method="percentile",
            floor=floor,
            levels=levels,
        ),
        studies={name: (one.effect.estimate, two.effect.estimate) for name, (one, two) in studies.items()},
        falsifying=tuple(
            name
            for name, (one, two) in studies.items()
            if two.effect.estimate <= 0 and one.effect.low > 0 and one.effect.excludes(0)
        ),
        resamples_positive=(
            int(np.count_nonzero(drawn.resampled(public) > 0)),
            int(np.count_nonzero(drawn.resampled(fresh) > 0)),
        ),
        method="percentile",
        alpha=drawn.alpha,
        n_resamples=drawn.n_resamples,
        seed=drawn.seed,
    )


def _mean_over(study_count: int, of_public: int, of_fresh: int) -> Weights:
    """Weigh C0 and C2, each with public and fresh of one study after the other."""
    pair = (Fraction(of_public, study_count), Fraction(of_fresh, study_count)) * study_count
    return tuple(-weight for weight in pair), pair


def _any_at(ceiling: float, studies: Mapping[str, tuple[DidResult, DidResult]], part: int) -> bool:
    return any(pair[part].c2.adapted_accuracy >= ceiling for pair in studies.values())
