"""`leakscale audit check`: what stands between a bank, or an audit, and its lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.audit.registration.readiness import Readiness

__all__ = ["check"]


def check(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="DIR|BANK", help="Audit directory, or a bank's file alone.")],
    corpus: Annotated[
        list[Path] | None, typer.Option(help="Training text that no rewrite may stand in; may be repeated.")
    ] = None,
) -> None:
    """Check every form, and say what else the lock would refuse; exit code 1 where something does.

    A file is checked with the default bounds, a directory with those of its plan.

    For example:

    ```
    leakscale audit check gsm8k
    leakscale audit check gsm8k --corpus pile.txt
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.registration.readiness import readiness_of  # noqa: PLC0415

    files = corpus or []
    found = readiness_of(AuditDirectory.existing(path), corpus=files) if path.is_dir() else _of_bank(path, files)
    shell_of(context).console.result(found.to_json(), text=_text(found, is_audit=path.is_dir()))
    if not found.is_ready:
        raise typer.Exit(ExitCode.NEGATIVE)


def _of_bank(path: Path, corpus: list[Path]) -> Readiness:
    from leakscale.audit.checks import check_bank, check_corpus  # noqa: PLC0415
    from leakscale.audit.directory import BankRole  # noqa: PLC0415
    from leakscale.audit.forms import read_bank  # noqa: PLC0415
    from leakscale.audit.registration.readiness import Readiness  # noqa: PLC0415

    bank = read_bank(path)
    findings = (*check_bank(bank), *check_corpus(bank, corpus))
    return Readiness(tuple((BankRole.AUDIT, finding) for finding in findings), ())


def _text(found: Readiness, *, is_audit: bool) -> str:
    told = [*found.failures, *found.unread]
    lines = [f"{role} bank: {finding.severity}: {finding}" for role, finding in told]
    lines += [f"lock: {obstacle}" for obstacle in found.obstacles]
    count = len(found.failures)
    counts = f"{count} failure{'' if count == 1 else 's'}, {len(found.unread)} to read"
    if read_count := len(found.findings) - len(told):
        counts += f", {read_count} read"
    ending = ("; ready to be locked" if found.is_ready else "; not ready to be locked") if is_audit else ""
    return "\n".join([*lines, f"{counts}{ending}"])
