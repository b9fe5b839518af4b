"""The shipped shapes, and programs run in the test's own process: they are ours, so no sandbox is needed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from leakscale_server.core.acceptance import Scoring
from leakscale_server.core.construction import Construction
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
    """Run every program of a family on every fixture, in this process."""

    def run(family: Construction) -> Scoring:
        run_one = _run_sql if family.public.domain == "sql" else _run_python
        executions = tuple(
            tuple(Execution(Verdict.RETURNED, run_one(program, fixture), "") for fixture in family.fixtures)
            for program in family.programs
        )
        return Scoring(executions, family.truth)

    return run


def _run_sql(program: str, fixture: bytes) -> bytes:
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(fixture)
        cursor = connection.execute(program)
        return json.dumps([[column[0] for column in cursor.description], cursor.fetchall()]).encode()
    finally:
        connection.close()


def _run_python(program: str, fixture: bytes) -> bytes:
    names: dict[str, Any] = {}
    exec(compile(program, "program", "exec"), names)
    return json.dumps(names["transform"](json.loads(fixture))).encode()
