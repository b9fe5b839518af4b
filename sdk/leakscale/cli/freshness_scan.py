"""`leakscale freshness scan`: look for an edition in a training corpus."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import Shell, shell_of
from leakscale.models import Ring

if TYPE_CHECKING:
    from leakscale.freshness.scan.tally import Encounter
    from leakscale.models import Family, GrantTrace

__all__ = ["scan"]


def scan(
    context: typer.Context,
    corpus: Annotated[
        list[Path], typer.Argument(help="Files or folders: text, .jsonl, .parquet; .gz, .zst, .bz2, .xz of them.")
    ],
    edition: Annotated[
        str, typer.Option(help="A frozen edition of the server, or the file of one (`leakscale ledger export`).")
    ],
    places: Annotated[Path | None, typer.Option(help="New file: every place as a line of JSON.")] = None,
) -> None:
    """Look for keys, handles, 8-grams and grants' markers of an edition in a training corpus; name who leaked.

    The corpus stays here. Only words with the form of a marker go to the server, and only for an edition of your own
    project. Exit code 1 where something is met, 2 where nothing is but a file could not be read, 0 otherwise.

    For example:

    ```
    leakscale freshness scan corpus/ --edition export/editions/spring
    ```
    """
    from leakscale.freshness.scan.needles import needles_of  # noqa: PLC0415 - loads numpy
    from leakscale.freshness.scan.reading import corpus_files  # noqa: PLC0415
    from leakscale.freshness.scan.scanning import scan_corpus  # noqa: PLC0415
    from leakscale.freshness.scan.summary import ScanReport  # noqa: PLC0415

    shell = shell_of(context)
    files = corpus_files(corpus)
    name, families = _edition(shell, edition)
    needles = needles_of(families)
    with shell.console.progress("scan", total=None, unit="MiB") as bar, _written(places) as write:
        scanned = scan_corpus(files, needles, on_encounter=write, on_bytes=lambda done: bar.update(done >> 20))
    traces, untraced = _traced(shell, name, tuple(scanned.tally.markers), is_file=Path(edition).is_file())
    report = ScanReport(name, needles, scanned, traces, untraced)
    shell.console.result(report.to_dict(), text=report.to_text())
    if report.is_met:
        raise typer.Exit(ExitCode.NEGATIVE)
    if scanned.unread:
        raise typer.Exit(ExitCode.USAGE)


def _edition(shell: Shell, edition: str) -> tuple[str, list[Family]]:
    """Return the name of an edition and its families in every ring."""
    if Path(edition).is_file():
        from leakscale.edition_files import open_edition_file  # noqa: PLC0415
        from leakscale.errors import IntegrityError, InvalidRequestError  # noqa: PLC0415

        try:
            with open_edition_file(Path(edition)) as file:
                return f"editions/{file.facts().edition_id}", [each for ring in Ring for each in file.families(ring)]
        except IntegrityError as error:  # code 1 would say that something was met
            raise InvalidRequestError(f"--edition: {error}") from error
    name = full_name(edition, "editions")
    with connected(shell) as client:
        return name, [each for ring in Ring for each in client.editions.families(name, ring=ring)]


def _traced(
    shell: Shell, edition: str, markers: tuple[str, ...], *, is_file: bool
) -> tuple[tuple[GrantTrace, ...], str]:
    """Ask the server whose the markers are; say why if it does not tell."""
    from leakscale.errors import NotFoundError, PermissionDeniedError  # noqa: PLC0415 - loads gRPC
    from leakscale.freshness.scan.markers import traced  # noqa: PLC0415

    if not markers:
        return (), ""
    if is_file:
        return (), "the edition came from a file; name it by its server to ask"
    try:
        with connected(shell) as client:
            return traced(markers, edition=edition, tracer=client.grants), ""
    except (PermissionDeniedError, NotFoundError) as error:
        return (), f"only somebody of the edition's project may ask ({error})"


@contextmanager
def _written(path: Path | None) -> Iterator[Callable[[Encounter], None]]:
    """Write each place that is met to a new file."""
    if path is None:
        yield lambda _: None
        return
    try:
        with path.open("x", encoding="utf-8") as file:

            def write(one: Encounter) -> None:
                file.write(json.dumps(one.to_dict(), ensure_ascii=False) + "\n")

            yield write
    except FileExistsError as error:
        from leakscale.errors import ConflictError  # noqa: PLC0415

        raise ConflictError(f"'{path}' exists and is not overwritten; name a new file with --places") from error
