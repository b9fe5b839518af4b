"""The numbers of a positive control: read from what was entered, written once, entered in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from leakscale.audit.analysis import AuditSettings, Panel, analyze_panel
from leakscale.audit.analysis.advantage import AdvantageRow, ClaimRow
from leakscale.audit.analysis.filing import entered_accuracies, entered_signals
from leakscale.audit.answering.running import kept_answers
from leakscale.audit.controls import heads
from leakscale.audit.controls.choices import first_option_pull
from leakscale.audit.controls.consequence import judge_detectors
from leakscale.audit.controls.effects import ControlScores, RunEffects, run_effects
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.registering import ControlRun, registered_control, runs_of
from leakscale.audit.controls.tables import control_tables, null_verdict, run_label, seed_verdict
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.standing import Standing, enter_numbers
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.audit.scores import ScoreTable
from leakscale.plan_files import plan_of_fields
from leakscale.stats import Interval
from leakscale.tabled import Tabled
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["ControlAnalysis", "analyze_control"]

_FORMAT: Final = "leakscale-audit-control-analysis-v1"


@dataclass(frozen=True, slots=True)
class AuditRow:
    """What the registered audit says in one state."""

    state: str
    public: float = field(metadata=PERCENT)
    fresh: float = field(metadata=PERCENT)
    gap: Interval
    joint_null_p: float = field(metadata=NUMBER)
    """Of the relabelling test, whose null is neither exposure nor form mismatch."""
    exposure: Interval | None
    """The gap less the control gap, widened by the registered radius; None without a control bank."""
    verdict: str
    """Of the claim rule."""


@dataclass(frozen=True, slots=True)
class ControlAnalysis(Tabled):
    """The numbers of one positive control."""

    control: ControlPlan
    exposed_count: int
    parent_count: int
    runs: tuple[RunEffects, ...]
    """The registered seed first, the null run last."""
    tables: tuple[Table[Any], ...]
    facts: dict[str, Any]
    """What the numbers hang on, as JSON-ready values."""

    @property
    def registered(self) -> RunEffects:
        """The run under the seed that was fixed first."""
        return self.runs[0]

    def to_dict(self) -> dict[str, Any]:
        """Return facts, effects and tables as JSON-ready values."""
        null, seeds = null_verdict(self.control, self.runs), seed_verdict(self.control, self.runs)
        return {
            "format": _FORMAT,
            **self.facts,
            "runs": {
                each.run.state: {
                    "seed": each.run.seed,
                    "is_null": each.run.is_null,
                    "effects": {name: found.to_dict() for name, found in each.effects.items()},
                    "manipulation": each.manipulation.to_dict(),
                    "visible_gap": each.gap.to_dict(),
                    "transfer_share": each.share.to_dict(),
                    "off_target": each.off_target and each.off_target.to_dict(),
                    "borrowed": each.borrowed and each.borrowed.to_dict(),
                }
                for each in self.runs
            },
            "null_run": null and null.to_dict(),
            "seed_replication": seeds and seeds.to_dict(),
            "tables": {one.name: one.to_dict() for one in self.tables},
        }


def analyze_control(directory: AuditDirectory, name: str) -> tuple[ControlAnalysis, tuple[Path, ...]]:
    """Compute the numbers of a control that was run, write them to `controls/NAME/numbers`, and enter them, once.

    Every run that was registered must have its scores; one that is missing is no reason to report the others.

    Raises:
        NotFoundError: If there is no such control, or a run of it has no scores yet.
        IntegrityError: If anything that was entered, of whatever variant or control, is missing or was changed.
        ConflictError: If other numbers of the control lie there.
    """
    with directory.held():
        registration = locked_registration(directory)
        Standing(directory).require_whole()
        record = registered_control(directory, name)
        control = plan_of_fields(record["control"], ControlPlan, source=f"control '{name}'")
        scores = _scores(directory, registration, control)
        runs = tuple(run_effects(scores, run, record["exposed"], control) for run in scores.after)
        tables = (
            *control_tables(control, runs),
            _audit_table(registration, scores),
            _pull(directory, registration, control, record["exposed"]),
            judge_detectors(
                scores.base,
                scores.after,
                {run: entered_signals(directory, control.model, state=run.state) for run in scores.after},
                record["exposed"],
            ),
        )
        analysis = ControlAnalysis(
            control, len(record["exposed"]), len(scores.base.parent_ids), runs, tables, _facts(record, scores)
        )
        files = analysis.write(directory.control_numbers(name))
        enter_numbers(directory, files, facts={"control": name})
    return analysis, files


def _scores(directory: AuditDirectory, registration: Registration, control: ControlPlan) -> ControlScores:
    def read(role: BankRole, state: str) -> ScoreTable:
        return entered_accuracies(directory, control.model, role=role, state=state)

    runs, has_control = runs_of(control), registration.control is not None
    return ControlScores(
        read(BankRole.AUDIT, "base"),
        {run: read(BankRole.AUDIT, run.state) for run in runs},
        read(BankRole.CONTROL, "base") if has_control else None,
        {run: read(BankRole.CONTROL, run.state) for run in runs} if has_control else {},
    )


def _audit_table(registration: Registration, scores: ControlScores) -> Table[AuditRow]:
    """Run the registered analysis on every state by itself, as an auditor who knew of no other would."""
    settings = AuditSettings(registration.design(), registration.plan.inference)
    states: list[tuple[ControlRun | None, ScoreTable, ScoreTable | None]] = [(None, scores.base, scores.base_control)]
    states += [(run, table, scores.after_control.get(run)) for run, table in scores.after.items()]
    rows = [_audit_row(run, settings, table, control) for run, table, control in states]
    return heads.AUDIT.filled(
        rows, "Only part of the bank was leaked, and the whole bank is what an auditor would see."
    )


def _audit_row(
    run: ControlRun | None, settings: AuditSettings, table: ScoreTable, control: ScoreTable | None
) -> AuditRow:
    panel = Panel.of([table], [control] if control else [])
    analysis = analyze_panel(panel, settings, only=["advantage", "claims"])
    gap: AdvantageRow = analysis.table("advantage").rows[0]
    claims: Sequence[ClaimRow] = analysis.table("claims").rows
    return AuditRow(
        run_label(run),
        gap.public,
        gap.fresh,
        gap.gap,
        gap.joint_null_p,
        claims[0].exposure if claims else None,
        claims[0].verdict if claims else "no control bank",
    )


def _pull(
    directory: AuditDirectory, registration: Registration, control: ControlPlan, exposed: Sequence[str]
) -> Table[Any]:
    answers = {
        run_label(run): kept_answers(directory, control.model, state=run.state if run else "base")
        for run in (None, *runs_of(control))
    }
    bank = locked_bank(directory, registration)
    return first_option_pull(bank, answers, exposed, choice_score=registration.plan.scoring.choice_score)


def _facts(record: dict[str, Any], scores: ControlScores) -> dict[str, Any]:
    tables = [scores.base, scores.base_control, *scores.after.values(), *scores.after_control.values()]
    return {
        name: record[name] for name in ("audit", "registration_digest", "control", "exposed", "leaked", "mixtures")
    } | {
        "scores": [
            {"model": table.model, "state": table.state, "digest": table.digest}
            for table in tables
            if table is not None
        ]
    }
