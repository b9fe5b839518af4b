"""What page and twin of a report both say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.controls.plan import ExposureKind
from leakscale.audit.controls.tables import null_verdict, seed_verdict
from leakscale.audit.report.findings import AuditFindings

__all__ = ["caution", "control_words", "finding", "pool_command"]

_FORMS: Final = {ExposureKind.EXACT: "Public forms", ExposureKind.PARAPHRASE: "Fresh forms"}


def finding(findings: AuditFindings) -> str:
    """Say in one sentence what the registered rule allows to be said."""
    models = [row.model for row in findings.analysis.table("advantage").rows]
    if findings.registration.control is None:
        return f"{_counted(len(models))} measured; without a control bank no advantage can be claimed"
    if not findings.claiming:
        return f"No public-form advantage claimed for {_listed(models)}"
    return f"Public-form advantage claimed for {_listed(findings.claiming)}"


def caution(findings: AuditFindings) -> str:
    """Say what the finding does not say."""
    if findings.claiming:
        return (
            "The public wording is easier than fresh ones by more than sampling, ordinary form mismatch and the "
            "registered radius explain. How the model came to it is not shown by a gap."
        )
    easier = [row.model for row in findings.analysis.table("claims").rows if row.verdict == "gap_only"]
    if easier:
        return (
            f"The public wording is easier than fresh ones for {_listed(easier)}, and an ordinary difference between "
            "wordings, within what control bank and radius allow, may explain it."
        )
    return (
        "Nothing was shown; what may still be there is in the intervals. A gap sees only what an exposure does to this "
        "wording: what carries over to other wordings leaves it at zero."
    )


def control_words(control: ControlAnalysis) -> list[str]:
    """Return what a positive control found, a sentence each."""
    run, plan = control.registered, control.control
    seeds = len([each for each in control.runs if not each.run.is_null])
    counted = f"{seeds} seed{'s' * (seeds != 1)}"
    verdicts = (
        run.manipulation,
        run.gap,
        run.share,
        null_verdict(plan, control.runs),
        seed_verdict(plan, control.runs),
    )
    return [
        f"{_FORMS[plan.exposure.kind]} of {control.exposed_count} of {control.parent_count} parents leaked; {counted}, "
        f"registered: {run.run.label}.",
        *(f"{_sentence(str(each))}." for each in verdicts if each is not None),
    ]


def pool_command(findings: AuditFindings) -> str:
    """Return the command that computes what the controls say together."""
    return f"leakscale audit pool {findings.folder}"


def _counted(count: int) -> str:
    return "One gap" if count == 1 else f"{count} gaps"


def _listed(models: Sequence[str]) -> str:
    return ", ".join(models)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
