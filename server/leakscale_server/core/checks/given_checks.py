"""Rules of explicit fixtures and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from leakscale.models import Domain
from leakscale_server.core.building.expected import read_outputs
from leakscale_server.core.building.fixtures import write_fixture
from leakscale_server.core.building.given import read_given
from leakscale_server.core.building.given_texts import GivenError
from leakscale_server.core.checks.sizes import FIXTURE_BYTES_MAX
from leakscale_server.core.format.candidates import CANDIDATE_COUNT, JsonCandidates
from leakscale_server.core.format.columns import GivenColumn
from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem, all_columns
from leakscale_server.core.format.schema import NO_ROWS, GivenFixture, Shape, looks_like_path, names_file

__all__ = ["check_given"]

_KINDS: Final = ("sql", "csv", "json")
_FILE_RULE: Final = (
    "must be a text, or the name of a file beside the shape: letters, digits, dots and dashes without a folder, ending "
    "in .sql, .csv or .json"
)


def check_given(shape: Shape) -> Iterator[Problem]:
    """Check that fixtures are drawn or given, and what is given."""
    unfit = list(_check_rows_and_columns(shape))
    yield from unfit
    if not shape.fixtures:
        for name in shape.files:
            yield Problem(("files", name), "must be a file that a fixture names", name)
        return
    if len(shape.fixtures) != shape.fixture_count:
        rule = f"must have exactly {shape.fixture_count} entries in {shape.domain}, or none"
        yield Problem(("fixtures",), rule, len(shape.fixtures))
    yield from _check_files(shape)
    yield from _check_outputs(shape)
    seen: list[str] = []
    # Of columns that are not given, no fixture is right; the columns are what the author has to see.
    for index, fixture in enumerate(shape.fixtures if not unfit else ()):
        yield from _check_fixture(shape, fixture, ("fixtures", index), seen)


def _check_rows_and_columns(shape: Shape) -> Iterator[Problem]:
    """Check that row counts and generators stand where fixtures are drawn, and nowhere else."""
    holders: list[tuple[Path, tuple[int, int]]] = [
        (("tables", index, "rows"), table.rows) for index, table in enumerate(shape.tables)
    ]
    if shape.records is not None:
        holders.append((("records", "rows"), shape.records.rows))
    for path, rows in holders:
        if rows == NO_ROWS and not shape.fixtures:
            yield Problem(path, "must be given", None)
        elif rows != NO_ROWS and shape.fixtures:
            yield Problem(path, "must be left out beside explicit fixtures", list(rows))
    for place, column in all_columns(shape):
        is_given = isinstance(column, GivenColumn)
        if is_given != bool(shape.fixtures):
            rule = "must be 'given' beside explicit fixtures" if shape.fixtures else "must be a generator that draws"
            yield Problem((*place, "generator"), rule, column.generator)
        kind = column.type if isinstance(column, GivenColumn) else ""
        if kind in {"boolean", "json"} and shape.language is Domain.SQL:
            yield Problem((*place, "type"), "must be a type that SQL has: integer, decimal or text", kind)


def _texts(fixture: GivenFixture, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text of a fixture that may name a file."""
    if fixture.sql is not None:
        yield (*path, "sql"), fixture.sql
    for name, text in (fixture.csv or {}).items():
        yield (*path, "csv", name), text
    if fixture.json_text is not None:
        yield (*path, "json"), fixture.json_text
    for place, text in enumerate(fixture.outputs or ()):
        yield (*path, "outputs", place), text


def _check_files(shape: Shape) -> Iterator[Problem]:
    named: set[str] = set()
    for index, fixture in enumerate(shape.fixtures):
        for path, text in _texts(fixture, ("fixtures", index)):
            if names_file(text):
                named.add(text)
            if looks_like_path(text) and text not in shape.files:
                yield Problem(path, _FILE_RULE, text)
    for name in shape.files:
        if name not in named:
            yield Problem(("files", name), "must be a file that a fixture names", name)


def _check_outputs(shape: Shape) -> Iterator[Problem]:
    """Outputs belong to an ascending pool of four, as whole programs do, and to every fixture or none."""
    if not any(fixture.outputs for fixture in shape.fixtures):
        return
    pool = shape.candidates.pool
    if pool is None or len(pool) != CANDIDATE_COUNT:
        found = Phrase("a range" if pool is None else f"{len(pool)} values")
        yield Problem(("candidates",), f"must have a pool of exactly {CANDIDATE_COUNT} values beside outputs", found)
    elif not isinstance(shape.candidates, JsonCandidates) and shape.candidates.ranked != pool:
        yield Problem(("candidates", "pool"), "must be in ascending order beside outputs", list(pool))
    for index, fixture in enumerate(shape.fixtures):
        if fixture.outputs is None:
            yield Problem(("fixtures", index, "outputs"), "must be given, as other fixtures have them", None)


def _check_fixture(shape: Shape, fixture: GivenFixture, path: Path, seen: list[str]) -> Iterator[Problem]:
    kinds = [kind for kind, text in zip(_KINDS, (fixture.sql, fixture.csv, fixture.json_text), strict=True) if text]
    if len(kinds) != 1:
        yield Problem(path, "must have one of sql, csv and json", Phrase(" and ".join(kinds) or "none"))
        return
    place: Path = (*path, kinds[0])
    if fixture.sql is not None and shape.language is Domain.PYTHON:
        yield Problem(place, "must be csv or json in a Python shape", "sql")
        return
    if not all(text in shape.files for _, text in _texts(fixture, path) if looks_like_path(text)):
        return
    try:
        content = write_fixture(shape, read_given(shape, fixture), {}).content
        read_outputs(shape, fixture)
    except GivenError as error:
        yield _problem(error, fixture, path)
        return
    if (text := content.decode()) in seen:
        yield Problem(place, "must differ from the fixtures before it", Phrase("the same"))
    seen.append(text)
    if (size := len(json.dumps(text))) > FIXTURE_BYTES_MAX:
        yield Problem(place, f"must hold at most {FIXTURE_BYTES_MAX} bytes", size)


def _problem(error: GivenError, fixture: GivenFixture, path: Path) -> Problem:
    """Place a fault in the text that stands in the shape file, or say on which line of another file it is."""
    place = (*path, *error.place)
    text = dict(_texts(fixture, path))[place]
    if names_file(text):
        return Problem(place, f"{text}:{error.line + 1}: {error.rule}", error.value)
    return Problem(place, error.rule, error.value, error.line)
