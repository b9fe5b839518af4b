"""What a leak did: difference in differences of every kind of form, and what an audit sees of it.

Exposed parents are C2, untouched ones C0. A parent moves as a block with all its forms, before and after.

Source: CleanScore 7.11 to 7.16; METHODS 9.1 to 9.3, 9.6 to 9.10 and 9.13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscale.audit.controls.plan import ControlPlan, ExposureKind
from leakscale.audit.controls.registering import ControlRun
from leakscale.audit.scores import ScoreTable
from leakscale.errors import PreconditionError
from leakscale.stats import (
    BorrowedCounterfactual,
    DidResult,
    Interval,
    ManipulationCheck,
    Outcomes,
    TransferShare,
    VisibleGap,
    borrowed_counterfactual,
    difference_in_differences,
    gap_movement,
    manipulation_check,
    transfer_share,
    visible_gap,
)

__all__ = ["ControlScores", "FormGroup", "RunEffects", "form_groups", "run_effects"]

_METHOD = "exact"
"""The bootstrap over parents in its limit of infinitely many resamples, which needs no seed."""


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Forms of a parent that are looked at together."""

    name: str
    """`public`, `fresh` (never shown in training), `leaked` (of a paraphrase), `deep`."""
    columns: tuple[int, ...]
    """Of a table of scores."""


@dataclass(frozen=True)
class ControlScores:
    """The scores of one control: before, and after every run."""

    base: ScoreTable
    after: Mapping[ControlRun, ScoreTable]
    base_control: ScoreTable | None
    """Of the control bank; None where the audit has none."""
    after_control: Mapping[ControlRun, ScoreTable]


@dataclass(frozen=True)
class RunEffects:
    """One run against the base state."""

    run: ControlRun
    effects: Mapping[str, DidResult]
    """Exposure effect of each group of forms; of deep ones only where parents of both kinds have some."""
    manipulation: ManipulationCheck
    """Of the leaked form."""
    gap: VisibleGap
    """What an audit sees: the effect on the public form less that on the fresh ones."""
    share: TransferShare
    """Of the leaked form's effect, in forms that were never shown."""
    off_target: Interval | None
    """How far the gap of the control bank moved, which no run touched; None without one."""
    borrowed: BorrowedCounterfactual | None
    """The effect on deep forms with the untouched parents' change on fresh ones; None if no exposed parent has any."""


def form_groups(table: ScoreTable, control: ControlPlan) -> tuple[FormGroup, ...]:
    """Return the groups of forms of a bank, the public one first."""
    fresh = range(1, 1 + table.fresh_count)
    deep = tuple(range(1 + table.fresh_count, table.scores.shape[1]))
    leaked = control.exposure.fresh if control.exposure.kind is ExposureKind.PARAPHRASE else None
    groups = [
        FormGroup("public", (0,)),
        FormGroup("fresh", tuple(column for column in fresh if column != leaked)),
    ]
    if leaked is not None:
        groups.append(FormGroup("leaked", (leaked,)))
    if deep and not np.isnan(table.scores[:, list(deep)]).all():
        groups.append(FormGroup("deep", deep))
    return tuple(groups)


def leaked_group(control: ControlPlan) -> str:
    """Return the name of the group whose form is leaked."""
    return "public" if control.exposure.kind is ExposureKind.EXACT else "leaked"


def run_effects(scores: ControlScores, run: ControlRun, exposed: Sequence[str], control: ControlPlan) -> RunEffects:
    """Compare a run with the base state.

    Raises:
        PreconditionError: If the two states were scored on different forms, or one has no score.
    """
    base, after = scores.base, scores.after[run]
    _require_alike(base, after, control)
    rule, alpha = control.judgement, control.judgement.alpha
    chosen, groups = np.isin(base.parent_ids, list(exposed)), form_groups(base, control)
    effects = {
        group.name: difference_in_differences(
            _outcomes(base, after, group, ~chosen), _outcomes(base, after, group, chosen), method=_METHOD, alpha=alpha
        )
        for group in groups
        if _has(base, group, chosen) and _has(base, group, ~chosen)
    }
    leaked = effects[leaked_group(control)]
    return RunEffects(
        run,
        effects,
        manipulation_check(leaked, floor=rule.floor),
        visible_gap(effects["public"], effects["fresh"], method=_METHOD, alpha=alpha),
        transfer_share(leaked, effects["fresh"], floor=rule.floor, alpha=alpha),
        _off_target(scores, run, control),
        _borrowed(base, after, {group.name: group for group in groups}, chosen, control),
    )


def _borrowed(
    base: ScoreTable,
    after: ScoreTable,
    groups: Mapping[str, FormGroup],
    chosen: NDArray[np.bool_],
    control: ControlPlan,
) -> BorrowedCounterfactual | None:
    deep = groups.get("deep")
    if deep is None or not _has(base, deep, chosen):
        return None
    rule = {"tolerance": control.borrowed.tolerance} if control.borrowed else {}
    return borrowed_counterfactual(
        _outcomes(base, after, deep, chosen),
        _outcomes(base, after, groups["fresh"], ~chosen),
        _outcomes(base, after, deep, ~chosen) if _has(base, deep, ~chosen) else None,
        alpha=control.judgement.alpha,
        **rule,
    )


def _has(table: ScoreTable, group: FormGroup, rows: NDArray[np.bool_]) -> bool:
    """Tell whether any of some parents has a form of a group; all but deep ones have to be there."""
    return group.name != "deep" or not bool(np.isnan(table.scores[rows][:, list(group.columns)]).all())


def _off_target(scores: ControlScores, run: ControlRun, control: ControlPlan) -> Interval | None:
    base, after = scores.base_control, scores.after_control.get(run)
    if base is None or after is None:
        return None
    everyone = np.ones(len(base.parent_ids), np.bool_)
    public, fresh = FormGroup("public", (0,)), FormGroup("fresh", tuple(range(1, 1 + base.fresh_count)))
    return gap_movement(
        _outcomes(base, after, public, everyone),
        _outcomes(base, after, fresh, everyone),
        method=_METHOD,
        alpha=control.judgement.alpha,
    )


def _outcomes(base: ScoreTable, after: ScoreTable, group: FormGroup, rows: NDArray[np.bool_]) -> Outcomes:
    columns = list(group.columns)
    ids = [name for name, is_taken in zip(base.parent_ids, rows, strict=True) if is_taken]
    return Outcomes.from_forms(base.scores[rows][:, columns], after.scores[rows][:, columns], ids)


def _require_alike(base: ScoreTable, after: ScoreTable, control: ControlPlan) -> None:
    if base.parent_ids != after.parent_ids or base.bank_digest != after.bank_digest or base.metric != after.metric:
        raise PreconditionError(
            f"control '{control.name}': state '{after.state}' was scored on another bank or by another metric than the "
            "base state; answer both in one audit"
        )
