"""`leakscale edition`: look at editions, freeze and retire them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.shell import shell_of
from leakscale.models import Ring

if TYPE_CHECKING:
    from leakscale.models import Edition

__all__ = ["app"]

app = typer.Typer(help="Look at editions, freeze and retire them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Edition, e.g. demo or editions/demo.")]


@app.command("list")
def list_editions(context: typer.Context) -> None:
    """List the server's editions, newest first.

    For example:

    ```
    leakscale edition list
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        editions = list(client.editions.list())
    text = "\n".join(map(_line, editions)) or "no editions; make one with `leakscale certify`"
    shell.console.result({"editions": [_to_dict(each) for each in editions]}, text=text)


@app.command("show")
def show(context: typer.Context, name: Name) -> None:
    """Show one edition.

    For example:

    ```
    leakscale edition show editions/spring
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        edition = client.editions.get(full_name(name, "editions"))
    facts = _to_dict(edition)
    lines = [f"{key:<20} {_said(value)}" for key, value in facts.items() if key != "transitions"]
    lines += [
        f"{each.phase.value:<20} {each.time:%Y-%m-%d %H:%M:%S} {each.principal}".rstrip()
        for each in edition.transitions
    ]
    shell.console.result(facts, text="\n".join(lines))


@app.command("freeze")
def freeze(context: typer.Context, name: Name) -> None:
    """Make a fully certified edition immutable.

    For example:

    ```
    leakscale edition freeze editions/spring
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        edition = client.editions.freeze(full_name(name, "editions"))
    shell.console.result(_to_dict(edition), text=f"{_line(edition)}\nroot {edition.commitment_root.hex()}")


@app.command("retire")
def retire(
    context: typer.Context,
    name: Name,
    is_meant: Annotated[
        bool, typer.Option("--yes", help="Open its truth to everybody; nothing can be measured with it any more.")
    ] = False,
) -> None:
    """End the use of a frozen edition: its truth is opened, so that everybody can check what was committed to.

    For example:

    ```
    leakscale edition retire editions/spring
    ```
    """
    if not is_meant:
        raise typer.BadParameter(
            f"{name}: its truth would be open to everybody for ever, and unsealed banks would be lost; add --yes"
        )
    shell = shell_of(context)
    with connected(shell) as client:
        edition = client.editions.retire(full_name(name, "editions"))
    shell.console.result(_to_dict(edition), text=_line(edition))


@app.command("families")
def families(
    context: typer.Context,
    name: Name,
    ring: Annotated[Ring, typer.Option(help="Form in which they are asked.")] = Ring.R0,
) -> None:
    """Print the prompt of every public family of a frozen edition in one ring.

    For example:

    ```
    leakscale edition families editions/spring --ring R1
    ```
    """
    from leakscale.prompts import choice_prompt  # noqa: PLC0415

    shell = shell_of(context)
    with connected(shell) as client:
        found = client.editions.families(full_name(name, "editions"), ring=ring)
    blocks = [f"## {family.family_id} ({family.shape_id})\n{choice_prompt(family)[-1].content}" for family in found]
    shell.console.result(
        {
            "families": [
                {
                    "id": family.family_id,
                    "shape": family.shape_id,
                    "prompt": [{"role": turn.role, "content": turn.content} for turn in choice_prompt(family)],
                    "answers": [candidate.answer for candidate in family.candidates],
                }
                for family in found
            ]
        },
        text="\n\n".join(blocks),
    )


def _line(edition: Edition) -> str:
    certified = f"{edition.certified_count} of {edition.family_count} certified"
    return f"{edition.name}  {edition.kind.value}  {edition.phase.value}  {certified}"


def _said(value: object) -> str:
    return textwrap.fill(", ".join(value), subsequent_indent=" " * 21) if isinstance(value, list) else str(value)


def _to_dict(edition: Edition) -> dict[str, object]:
    return {
        "name": edition.name,
        "kind": edition.kind.value,
        "phase": edition.phase.value,
        "shapes": list(edition.shape_ids),
        "families_per_cell": edition.families_per_cell,
        "certified": edition.certified_count,
        "families": edition.family_count,
        "commitment_root": edition.commitment_root.hex(),
        "certificates_digest": edition.certificates_digest.hex(),
        "transitions": [
            {"phase": each.phase.value, "time": each.time.isoformat(), "principal": each.principal}
            for each in edition.transitions
        ],
    }
