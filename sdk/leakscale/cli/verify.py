"""`leakscale verify`: check the evidence of a study, or what a server said, offline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import shell_of
from leakscale.cli.values import public_key_of

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
    help="Check the evidence of a study, or what a server said: `leakscale verify DIR`. Needs no server, no network.",
    no_args_is_help=True,
)

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="What `leakscale ledger export` wrote.")]
PublicKey = Annotated[
    str, typer.Option(metavar="KEY", help="The server's key: 64 hexadecimal digits, or a file that holds them.")
]


@app.command("directory")
def directory(
    context: typer.Context,
    root: Annotated[
        Path, typer.Argument(metavar="DIR", help="A study, its tree of evidence, or an export of `leakscale ledger`.")
    ],
    public_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="The server's key: 64 hexadecimal digits, or a file that holds them. An export needs it.",
        ),
    ] = None,
    manifest_digest: Annotated[
        str | None, typer.Option(metavar="SHA256", help="Of the tree's manifest, as the study printed it.")
    ] = None,
) -> None:
    """Check a tree of evidence step by step, or ledger, editions, openings and disclosures of an export.

    Exit code 1 where something does not hold, 2 where a step of a tree could not be checked.

    For example:

    ```
    leakscale verify evidence
    leakscale verify export --public-key KEY
    ```
    """
    from leakscale.errors import NotFoundError  # noqa: PLC0415 - keeps --help quick
    from leakscale.evidence.layout import find_tree  # noqa: PLC0415
    from leakscale.verify.directory import ServerDirectory  # noqa: PLC0415

    tree = find_tree(root)
    key = None if public_key is None else public_key_of(public_key)
    if tree is not None:
        _verify_tree(context, tree, key=key, manifest_digest=manifest_digest)
        return
    if (root / "study.json").is_file():
        raise typer.BadParameter(f"study '{root}' has no evidence; make it, `leakscale evidence build {root}`")
    if not root.exists() or (key is None and not ServerDirectory(root).head.is_file()):
        fault = "holds neither evidence nor an export" if root.exists() else "does not exist"
        raise NotFoundError(f"'{root}' {fault}; name a study, its evidence, or what `leakscale ledger export` wrote")
    if key is None:
        raise typer.BadParameter(
            "an export is checked against the server's key; `leakscale server status` prints it",
            param_hint="--public-key",
        )
    from leakscale.verify import verify_directory  # noqa: PLC0415

    _say(context, verify_directory(root, public_key=key))


def _verify_tree(context: typer.Context, tree: Path, *, key: bytes | None, manifest_digest: str | None) -> None:
    from leakscale.cli.evidence import exit_code_of  # noqa: PLC0415
    from leakscale.evidence.layout import study_of  # noqa: PLC0415
    from leakscale.evidence.steps import steps_to_json, verdict_of  # noqa: PLC0415
    from leakscale.evidence.verifying import Expectations, verify_tree  # noqa: PLC0415
    from leakscale.evidence.watching import showing_steps  # noqa: PLC0415

    if manifest_digest is not None and not _KEY.fullmatch(manifest_digest.lower()):
        raise typer.BadParameter(
            f"{manifest_digest[:80]!r} is no SHA-256 of 64 hexadecimal digits", param_hint="--manifest-digest"
        )
    console = shell_of(context).console
    expected = Expectations(
        manifest_digest=None if manifest_digest is None else manifest_digest.lower(),
        public_key=key,
        study=study_of(tree),
    )
    with showing_steps(console.progress) as advance:
        steps = verify_tree(tree, expected, advance=advance)
    console.result({"evidence": str(tree), **steps_to_json(steps)}, text="\n".join(step.to_text() for step in steps))
    raise typer.Exit(exit_code_of(verdict_of(steps)))


@app.command("edition")
def edition(
    context: typer.Context,
    root: Directory,
    name: Annotated[str, typer.Argument(metavar="EDITION", help="Edition, e.g. demo or editions/demo.")],
    public_key: PublicKey,
) -> None:
    """Check one frozen edition, and every opening of a retired one; exit code 1 where something does not hold.

    For example:

    ```
    leakscale verify edition export editions/spring --public-key KEY
    ```
    """
    from leakscale.verify import verify_edition  # noqa: PLC0415

    _say(context, verify_edition(root, name.removeprefix("editions/"), public_key=public_key_of(public_key)))


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
