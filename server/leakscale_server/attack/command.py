"""`leakscale-server attack`: run the attacks and print what each won beside its bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer

from leakscale.progress import shown_progress
from leakscale_server.attack.suite import ATTACKS, EDITIONS_DEFAULT, Attack, Kind, Outcome, run_suite
from leakscale_server.catalog_cli.ending import ExitCode, JsonOption, ending_in_one_line, note, say_json, say_lines

__all__ = ["attack_app", "table_lines"]

_UNITS: Final = {
    Kind.BLIND: "keys of 512 above chance, either side",
    Kind.DISCLOSED: "keys of 512 above chance, after four disclosed totals",
    Kind.PROJECT: "keys of 512 above chance, after eight disclosed totals",
    Kind.RELEASES: "releases",
    Kind.CONTROL: "share of keys, at least",
}
_TITLES: Final = {
    Kind.CONTROL: "Without a policy (must succeed)",
    Kind.BLIND: "Before a disclosure, and of C0 after a grant",
    Kind.DISCLOSED: "By disclosed totals over 512 families",
    Kind.PROJECT: "By all totals that one project is told",
    Kind.RELEASES: "Against the budget",
}

attack_app = typer.Typer(
    name="attack",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@attack_app.command(epilog="Exit codes: 0 every bar is kept, 1 a bar is missed, 2 it could not run, 130 interrupted.")
def attack(
    *,
    editions: Annotated[int, typer.Option(min=1, help="Fresh editions of 512 attacked families.")] = EDITIONS_DEFAULT,
    only: Annotated[list[str] | None, typer.Option(help="Attacks whose name has this in it; several times.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Attack the secrecy of fresh editions and say how many keys each attack recovers beyond chance.

    Registry, policy, stages and scorer are the server's own; nothing is run in a sandbox, and no server is touched.
    """
    with ending_in_one_line(as_json=as_json):
        chosen = _chosen(only or [])
        with shown_progress("attack", total=editions * len(chosen), unit="attacks", write=note) as bar:
            outcomes = list(run_suite(chosen, edition_count=editions, advance=bar.advance))
        if as_json:
            say_json({"editions": editions, "outcomes": [outcome.to_json() for outcome in outcomes]})
        else:
            say_lines(table_lines(outcomes))
    if not all(outcome.holds for outcome in outcomes):
        raise typer.Exit(ExitCode.BROKEN)


def table_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Write outcomes as a table, a part for each kind of bar."""
    for kind, title in _TITLES.items():
        of_kind = [outcome for outcome in outcomes if outcome.attack.kind is kind]
        if of_kind:
            yield f"{title}: {_UNITS[kind]}"
        for outcome in of_kind:
            measured = f"{outcome.mean:9.3f}" if kind is Kind.CONTROL else f"{outcome.mean:9.1f}"
            bar = f"{outcome.bar:.2f}" if kind is Kind.CONTROL else f"{outcome.bar:.1f}"
            yield f"  {outcome.attack.name:<42}{measured}   bar {bar:>5}   {'kept' if outcome.holds else 'MISSED'}"


def _chosen(words: Sequence[str]) -> list[Attack]:
    chosen = [each for each in ATTACKS if not words or any(word in each.name for word in words)]
    if not chosen:
        names = "; ".join(each.name for each in ATTACKS)
        raise typer.BadParameter(f"no attack has {' or '.join(words)} in its name; there are: {names}")
    return chosen
