"""The shipped shapes, and programs run in the test's own process: they are ours, so no sandbox is needed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from leakscale_server.core.building.construction import Construction
from leakscale_server.core.judging.acceptance import Scoring
from leakscale_server.core.shapes import Shape, parse_shape
from leakscale_server.sandbox_pool import Execution, Verdict

# Wall time is nobody's business here: the machine may be shared.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

CATALOGS = Path(__file__).parents[2] / "catalogs"


@pytest.fixture(scope="session")
def shapes() -> dict[str, Shape]:
    """Every shipped shape by its id."""
    parsed = (parse_shape(path.read_text(), source=path.name) for path in sorted(CATALOGS.glob("*/*.toml")))
    return {shape.id: shape for shape in parsed}


@pytest.fixture(scope="session")
def score() -> Callable[[Construction], Scoring]:
    """Run every program of a family on every fixture of its ring, in this process."""

    def run(family: Construction) -> Scoring:
        is_sql = family.forms[0].public.domain == "sql"

        def run_one(program: str, fixture: bytes) -> bytes:
            return _run_sql(program, fixture, family.ordered) if is_sql else _run_python(program, fixture)

        rings = {
            form.public.ring: tuple(
                tuple(Execution(Verdict.RETURNED, run_one(program, fixture), "") for fixture in form.fixtures)
                for program in form.programs
            )
            for form in family.forms
        }
        return Scoring(rings, family.truth)

    return run


def _run_sql(program: str, fixture: bytes, is_ordered: bool) -> bytes:
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(fixture)
        cursor = connection.execute(program)
        rows = cursor.fetchall() if is_ordered else sorted(cursor.fetchall(), key=repr)
        return json.dumps([[column[0] for column in cursor.description], rows]).encode()
    finally:
        connection.close()


def _run_python(program: str, fixture: bytes) -> bytes:
    names: dict[str, Any] = {}
    exec(compile(program, "program", "exec"), names)
    return json.dumps(names["transform"](json.loads(fixture))).encode()
