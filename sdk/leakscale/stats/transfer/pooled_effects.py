"""One effect over several studies, with the rule that would have refuted the transfer.

Studies weigh the same. A parent that several of them planted is drawn once for all of them: drawn apart, its luck would
average away.

Source: CleanScore 7.11 (Table 16); METHODS 9.4 and 9.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from leakscale.stats import parameters
from leakscale.stats.errors import EmptyCellError
from leakscale.stats.exposure.contrasts import draw_contrasts
from leakscale.stats.intervals import Interval
from leakscale.stats.transfer.pooled_blocks import Studies, pooled_blocks
from leakscale.stats.transfer.shares import TransferShare, Withheld, share_of

__all__ = ["PooledEffects", "pooled_effects"]

_PUBLIC: Final = "public"
_FRESH: Final = "fresh"
_FALSIFYING: Final = 2
"""Studies without an effect on unseen forms, alongside a clear one on the planted form, that refute a general
transfer."""


@dataclass(frozen=True, slots=True, eq=False)
class PooledEffects:
    """Equal-weight means over studies, their share, and the falsifier."""

    forms: Mapping[str, Interval]
    """Mean exposure effect on each form, in [-2, 2], over the studies that have it."""
    gap: Interval
    """Public less fresh: what an audit would see on average."""
    share: TransferShare
    """Pooled effect on the unseen form over that on the planted one, by the percentile method: the paper's."""
    fieller: TransferShare
    """The same with Fieller's set, which holds its level at small effects too."""
    studies: Mapping[str, Mapping[str, float]]
    """Effect of each study on each form; none is left out."""
    falsifying: tuple[str, ...]
    """Studies with an unseen effect of zero or less alongside a planted one whose interval lies above zero."""
    resamples_positive: Mapping[str, int]
    """Of each form, resamples in which its pooled effect is above zero."""
    parent_count: int
    """Different parents in all studies."""
    resampled: str
    """What was drawn."""
    method: str
    alpha: float
    n_resamples: int | None
    seed: int | None

    @property
    def public(self) -> Interval:
        """Mean exposure effect on the public form."""
        return self.forms[_PUBLIC]

    @property
    def fresh(self) -> Interval:
        """Mean exposure effect on fresh forms."""
        return self.forms[_FRESH]

    @property
    def is_falsified(self) -> bool:
        """Tell whether the registered falsifier fired: the transfer is then not general."""
        return len(self.falsifying) >= _FALSIFYING

    def study_count(self, form: str) -> int:
        """Return how many studies have a form."""
        return sum(form in effects for effects in self.studies.values())

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "forms": {
                form: effect.to_dict() | {"studies": self.study_count(form)} for form, effect in self.forms.items()
            },
            "gap": self.gap.to_dict(),
            "share": self.share.to_dict(),
            "fieller": self.fieller.to_dict(),
            "studies": {str(name): dict(effects) for name, effects in self.studies.items()},
            "falsifying": list(self.falsifying),
            "is_falsified": self.is_falsified,
            "resamples_positive": dict(self.resamples_positive),
            "parent_count": self.parent_count,
            "resampled": self.resampled,
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        verdict = "falsifier fired" if self.is_falsified else "falsifier did not fire"
        effects = "; ".join(f"{form} {effect}" for form, effect in self.forms.items())
        return f"{len(self.studies)} studies: {effects}; {verdict}"


def pooled_effects(
    studies: Studies,
    *,
    planted: str = _PUBLIC,
    unseen: str = _FRESH,
    seed: parameters.Seed,
    n_resamples: int = 10_000,
    alpha: float = 0.05,
    floor: float = 0.05,
    ceiling: float = 1.0,
    levels: Sequence[float] = (0.25, 0.5),
) -> PooledEffects:
    """Average the effects of several studies, form by form.

    Args:
        studies: Result of each study on each form. `public`, `fresh`, the planted and the unseen form are in all;
            others may be in some. Parents are matched by id where the outcomes have ids, row by row otherwise.
        planted: Form that was shown in training; another than `public` where a paraphrase was.
        unseen: Form that was not, and over which the share is taken.
        seed: Seeds `Generator(PCG64(seed))`. C0 is drawn before C2, a parent with all studies, forms and states; if a
            parent is C0 of one study and C2 of another, all parents are drawn together.
        n_resamples: Resamples of each group.
        alpha: Probability left outside each interval, in (0, 1).
        floor: Least planted effect that counts as planted. One study below it withholds the share: nothing was planted
            there that could transfer.
        ceiling: Accuracy from which on a study counts as censored. One censored study withholds the share.
        levels: Shares for which the resamples above are counted.

    Raises:
        EmptyCellError: If there is no study, or one lacks a form that all must have.
        PairingError: If outcomes without ids are of different parents, or only some have ids.
        ParameterError: If `alpha`, `n_resamples`, floor, ceiling or a level is out of range.
    """
    _require_forms(studies, (_PUBLIC, _FRESH, planted, unseen))
    floor, ceiling = parameters.number(floor, "floor", -2, 2), parameters.share(ceiling, "ceiling")
    pooled = pooled_blocks(studies)
    drawn = draw_contrasts(pooled.blocks, method="percentile", n_resamples=n_resamples, seed=seed, alpha=alpha)
    forms = {
        form: pooled.weights({form: 1}) for form in dict.fromkeys(form for each in studies.values() for form in each)
    }
    percentile, by_fieller = (
        share_of(
            contrasts,
            public=forms[planted],
            fresh=forms[unseen],
            censored=(_any_at(ceiling, studies, planted), _any_at(ceiling, studies, unseen)),
            method=method,
            floor=floor,
            levels=levels,
        )
        for contrasts, method in ((drawn, "percentile"), (replace(drawn, drawn=None, seed=None), "fieller"))
    )
    return PooledEffects(
        forms={form: drawn.interval(weights) for form, weights in forms.items()},
        gap=drawn.interval(pooled.weights({_PUBLIC: 1, _FRESH: -1})),
        share=_unless_unplanted(percentile, studies, planted, floor),
        fieller=_unless_unplanted(by_fieller, studies, planted, floor),
        studies={
            name: {form: result.effect.estimate for form, result in each.items()} for name, each in studies.items()
        },
        falsifying=tuple(_falsifying(studies, planted, unseen)),
        resamples_positive={
            form: int(np.count_nonzero(drawn.resampled(weights) > 0)) for form, weights in forms.items()
        },
        parent_count=pooled.parent_count,
        resampled=str(pooled),
        method="percentile",
        alpha=drawn.alpha,
        n_resamples=drawn.n_resamples,
        seed=drawn.seed,
    )


def _require_forms(studies: Studies, forms: Sequence[str]) -> None:
    if not studies:
        raise EmptyCellError("no study to pool; pass the effects of at least one")
    for name, effects in studies.items():
        if missing := [form for form in forms if form not in effects]:
            raise EmptyCellError(f"study '{name}' has no effect on form '{missing[0]}'; all that are pooled need one")


def _unless_unplanted(share: TransferShare, studies: Studies, planted: str, floor: float) -> TransferShare:
    """Withhold a share to which a study belongs that planted nothing."""
    for name, effects in studies.items():
        effect = effects[planted].effect.estimate
        if share.withheld is None and effect < floor:
            reason = (
                f"study '{name}' moved the planted form by {100 * effect:+.1f} points, below the floor of "
                f"{100 * floor:+.1f}; nothing was planted there that could transfer"
            )
            return replace(
                share,
                share=None,
                bounds=None,
                withheld=Withheld.FAILED_MANIPULATION,
                reason=reason,
                resamples_above=None,
            )
    return share


def _falsifying(studies: Studies, planted: str, unseen: str) -> Iterator[str]:
    for name, effects in studies.items():
        shown = effects[planted].effect
        if effects[unseen].effect.estimate <= 0 and shown.low > 0 and shown.excludes(0):
            yield name


def _any_at(ceiling: float, studies: Studies, form: str) -> bool:
    return any(effects[form].c2.adapted_accuracy >= ceiling for effects in studies.values())
