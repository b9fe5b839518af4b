"""`leakscale audit lock`: freeze and sign everything that is decided before a model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["lock"]


def lock(context: typer.Context, root: Annotated[Path, typer.Argument(metavar="DIR", help="Audit directory.")]) -> None:
    """Freeze bank, models, prompts, analysis and gates into one signed document.

    From then on only `leakscale audit amend` changes anything, and it is reported beside. Publish the line that is
    printed last: it fixes everything that was locked, and shows no private form.

    For example:

    ```
    leakscale audit lock gsm8k
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.registration.ledger import AuditLedger  # noqa: PLC0415
    from leakscale.audit.registration.locking import lock_audit  # noqa: PLC0415

    shell, directory = shell_of(context), AuditDirectory.existing(root)
    locked = lock_audit(directory)
    head = AuditLedger(directory).head()
    for note in locked.notes:
        shell.console.note(f"note: {note}")
    facts = {
        "name": locked.registration.name,
        "locked_at": locked.registration.locked_at,
        "registration": str(directory.registration),
        "registration_digest": locked.entry.digest,
        "bank_digest": locked.registration.bank.digest,
        "head": str(head),
        "notes": list(locked.notes),
    }
    asked = any(not model.is_asked_already for model in locked.registration.plan.models)
    text = (
        f"audit {locked.registration.name} locked at {locked.registration.locked_at}\n"
        f"registration  {directory.registration}\n"
        f"then          leakscale audit {'answer' if asked else 'import --audit'} {root}\n"
        f"publish this line, which fixes all of it:\n{head}"
    )
    shell.console.result(facts, text=text)
