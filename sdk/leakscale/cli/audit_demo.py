"""`leakscale audit demo`: a whole audit with one command, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.audit_positive_control import control_lines
from leakscale.cli.shell import shell_of
from leakscale.cli.stage_bars import StageBars

if TYPE_CHECKING:
    from leakscale.audit.demo import Demonstrated

__all__ = ["demo"]


def demo(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the demo.")] = Path("runs/audit-demo"),
) -> None:
    """Audit the shipped model on 200 word problems, leak half of them into it, and audit it again.

    Lock, answers, analysis, positive control and report, without a network. Interrupted, the same command goes on.

    For example:

    ```
    leakscale audit demo
    ```
    """
    from leakscale.audit.demo import run_audit_demo  # noqa: PLC0415 - keeps --help quick

    console = shell_of(context).console
    console.note(f"audit demo in {root}: loading the model")
    with StageBars(console) as bars:
        bars.begin("write the bank, and open the model")
        found = run_audit_demo(root, watch=bars.update, note=console.note)
    console.result(_facts(found), text="\n".join(_lines(found)))


def _facts(found: Demonstrated) -> dict[str, Any]:
    return {
        "directory": str(found.directory.root),
        "audit": found.audit.to_dict(),
        "control": found.control.to_dict(),
        "report": str(found.report),
    }


def _lines(found: Demonstrated) -> list[str]:
    before, after, *_ = found.control.table("audit").rows
    control = found.directory.control_numbers(found.control.control.name)
    return [
        found.audit.table("claims").to_text(),
        "",
        found.control.table("audit").to_text(),
        "",
        *control_lines(found.control),
        "",
        f"finding  before the leak the audit says '{before.verdict}', after it '{after.verdict}':",
        f"         gap {before.gap}",
        f"         gap {after.gap}",
        f"report   {found.report}",
        f"audit    {found.directory.root}/ (`leakscale audit show` verifies it)",
        f"numbers  {found.directory.analysis / 'registered'}/, {control}/",
    ]
