"""`leakscale verify`: check what a server said, offline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.verify import Verification

__all__ = ["app"]

_KEY: Final = re.compile(r"[0-9a-f]{64}")


class _DirectoryUnlessVerb(TyperGroup):
    """Takes what is no verb for the directory to verify: `leakscale verify DIR`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the verb before an argument that is none."""
        return super().resolve_command(ctx, args if args and args[0] in self.commands else ["directory", *args])


app = typer.Typer(
    cls=_DirectoryUnlessVerb,
    help="Check what a server said: `leakscale verify DIR --public-key KEY`. Needs no server and no network.",
    no_args_is_help=True,
)

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="What `leakscale ledger export` wrote.")]
PublicKey = Annotated[
    str, typer.Option(metavar="KEY", help="The server's key: 64 hexadecimal digits, or a file that holds them.")
]


@app.command("directory")
def directory(context: typer.Context, root: Directory, public_key: PublicKey) -> None:
    """Check ledger, editions, openings and disclosures; exit code 1 where something does not hold."""
    from leakscale.verify import verify_directory  # noqa: PLC0415 - loads the extra `verify`

    _say(context, verify_directory(root, public_key=_key(public_key)))


@app.command("edition")
def edition(
    context: typer.Context,
    root: Directory,
    name: Annotated[str, typer.Argument(metavar="EDITION", help="Edition, e.g. demo or editions/demo.")],
    public_key: PublicKey,
) -> None:
    """Check one frozen edition, and every opening of a retired one; exit code 1 where something does not hold."""
    from leakscale.verify import verify_edition  # noqa: PLC0415

    _say(context, verify_edition(root, name.removeprefix("editions/"), public_key=_key(public_key)))


def _say(context: typer.Context, verification: Verification) -> None:
    checks = [
        {"subject": check.subject, "claim": check.claim, "holds": check.holds, "fault": check.fault}
        for check in verification.checks
    ]
    lines = [
        f"✓ {check.subject}: {check.claim}" if check.holds else f"✗ {check.subject}: {check.claim}\n  {check.fault}"
        for check in verification.checks
    ]
    shell_of(context).console.result({"holds": verification.holds, "checks": checks}, text="\n".join(lines))
    if not verification.holds:
        raise typer.Exit(ExitCode.NEGATIVE)


def _key(text: str) -> bytes:
    digits = text.strip()
    if not _KEY.fullmatch(digits.lower()) and Path(text).is_file():
        digits = Path(text).read_text(encoding="ascii", errors="replace").strip()
    if not _KEY.fullmatch(digits.lower()):
        raise typer.BadParameter(
            f"{text[:80]!r} is neither 64 hexadecimal digits nor a file that holds them; `leakscale server status` "
            "prints the key",
            param_hint="--public-key",
        )
    return bytes.fromhex(digits)
