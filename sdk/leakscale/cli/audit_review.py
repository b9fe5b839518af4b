"""`leakscale audit review`: write the packet for the human reading, and log what it decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.audit.directory import AuditDirectory
    from leakscale.audit.registration import AuditPlan
    from leakscale.audit.review import ReviewItem, Verdict

__all__ = ["review"]


def review(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Audit directory.")],
    accept: Annotated[
        list[str] | None, typer.Option(metavar="FORM", help="Form that asks what its original asks.")
    ] = None,
    reject: Annotated[list[str] | None, typer.Option(metavar="FORM", help="Form that does not; needs --note.")] = None,
    note: Annotated[str, typer.Option(help="What there is to say of the forms named.")] = "",
    sheet: Annotated[Path | None, typer.Option(help="Filled-in review.csv with many decisions.")] = None,
    by: Annotated[str, typer.Option(help="Who read.")] = "",
) -> None:
    r"""Write the review packet, riskiest forms first; with decisions, log them first, one by one.

    The sheet review.csv takes `accept` or `reject` in its column `verdict`, and what is wrong in `note`. A decision
    that stands already is not logged twice.

    For example:

    ```
    leakscale audit review gsm8k
    leakscale audit review gsm8k --sheet review.csv --by Ana
    leakscale audit review gsm8k --reject gsm8k-17/fresh-2 \
        --note "asks for the rest" --by Ana
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.registration.origin import require_golds  # noqa: PLC0415
    from leakscale.audit.registration.plan import load_plan  # noqa: PLC0415
    from leakscale.audit.review import ReviewLog, has_unlogged, write_packet, write_sheet  # noqa: PLC0415

    directory = AuditDirectory.existing(root)
    require_golds(directory, "the reading")
    plan, log = load_plan(directory.plan), ReviewLog(directory)
    with directory.held():
        items = _items(directory, plan)
        verdicts = _verdicts(accept or [], reject or [], note, sheet)
        logged = log.record(verdicts, items, reviewer=by) if verdicts else []
        standing = log.standing(items)
        write_packet(directory.review_packet, items, standing, audit=plan.name, scope=plan.review.scope)
        is_kept = has_unlogged(directory.review_sheet, standing)
        if not is_kept:
            write_sheet(directory.review_sheet, items, standing)
    if is_kept:
        shell_of(context).console.note(
            f"note: {directory.review_sheet} holds decisions that are not logged, and is left as it is; log them with "
            f"--sheet {directory.review_sheet} --by NAME, or take it away"
        )
    unread = [item for item in items if str(item.name) not in standing]
    rejected = sorted(name for name, decision in standing.items() if decision.verdict == "reject")
    flagged = sum(item.is_flagged for item in unread)
    facts = {
        "packet": str(directory.review_packet),
        "sheet": str(directory.review_sheet),
        "logged": len(logged),
        "forms": len(items),
        "read": len(standing),
        "rejected": rejected,
        "flagged_unread": flagged,
    }
    again = len(verdicts) - len(logged)
    counted = f"{len(logged):,} decision{'' if len(logged) == 1 else 's'} logged"
    counted += f" ({again:,} stood already)" if again else ""
    shell_of(context).console.result(
        facts,
        text=(
            f"{counted}; {len(standing):,} of {len(items):,} forms read, {len(rejected)} "
            f"rejected, {flagged} that a rule flags unread\n{facts['packet']}\n{facts['sheet']}"
        ),
    )


def _items(directory: AuditDirectory, plan: AuditPlan) -> list[ReviewItem]:
    from leakscale.audit.directory import BankRole  # noqa: PLC0415
    from leakscale.audit.forms import read_bank  # noqa: PLC0415
    from leakscale.audit.registration.preconditions import read_control  # noqa: PLC0415
    from leakscale.audit.review import review_queue  # noqa: PLC0415

    settings = plan.checks.settings()
    items = review_queue(read_bank(directory.bank(BankRole.AUDIT)), settings, role=BankRole.AUDIT)
    control = read_control(directory, plan)
    if control is not None:
        items += review_queue(control, settings, role=BankRole.CONTROL)
    return sorted(items, key=lambda item: -item.risk)


def _verdicts(accept: list[str], reject: list[str], note: str, sheet: Path | None) -> dict[str, tuple[Verdict, str]]:
    from leakscale.audit.review import Verdict, read_sheet  # noqa: PLC0415

    verdicts = read_sheet(sheet) if sheet else {}
    for names, verdict in ((accept, Verdict.ACCEPT), (reject, Verdict.REJECT)):
        for name in names:
            if name in verdicts:
                raise typer.BadParameter(f"form {name!r} is decided twice; keep one decision")
            verdicts[name] = (verdict, note)
    return verdicts
