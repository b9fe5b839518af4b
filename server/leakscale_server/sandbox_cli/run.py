"""`leakscale-server sandbox run`: what becomes of a program on a fixture."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from leakscale_sandbox.canonical_reader import canonical_text
from leakscale_sandbox.preloaded import MODULE_NAMES
from leakscale_sandbox.sql_policy import FUNCTION_NAMES
from leakscale_server.sandbox_cli.inputs import read_fixture, read_text
from leakscale_server.sandbox_cli.pool import (
    BackendOption,
    CacheDirOption,
    InputError,
    RuntimeOption,
    failing_in_one_line,
    open_pool,
)
from leakscale_server.sandbox_pool import Execution, Job, Limits, ProgramDomain

__all__ = ["run"]

_DEFAULT = Limits()


def run(
    programs: Annotated[
        list[Path], typer.Argument(metavar="PROGRAM...", help="Python: defines transform(records). SQL: one statement.")
    ],
    domain: Annotated[ProgramDomain, typer.Option(help="Language of the programs.")],
    fixture: Annotated[
        list[Path], typer.Option(help="Python: JSON of the argument. SQL: a script that builds a database. Repeatable.")
    ],
    backend: BackendOption = "auto",
    docker_runtime: RuntimeOption = "",
    cache_dir: CacheDirOption = None,
    bag: Annotated[bool, typer.Option("--bag", help="SQL: rows count as a bag, not in their order.")] = False,
    second_pass: Annotated[
        bool, typer.Option("--second-pass", help="In the other lane: other hash seed, row order and clocks.")
    ] = False,
    wall_time_s: Annotated[float, typer.Option(help="Wall-clock seconds.")] = _DEFAULT.wall_time_s_max,
    cpu_time_s: Annotated[int, typer.Option(help="CPU seconds.")] = _DEFAULT.cpu_time_s_max,
    memory_mib: Annotated[int, typer.Option(help="Address space, MiB.")] = _DEFAULT.memory_bytes_max >> 20,
    output_kib: Annotated[int, typer.Option(help="Canonical value, KiB.")] = _DEFAULT.output_bytes_max >> 10,
    work_steps: Annotated[int, typer.Option(help="SQL: virtual-machine steps.")] = _DEFAULT.work_steps_max,
    row_count: Annotated[int, typer.Option(help="SQL: rows.")] = _DEFAULT.row_count_max,
) -> None:
    """Run each program on each fixture, in a process of its own, and print one line of JSON an execution.

    The exit code is 0 whatever the verdicts are: a program that loops, crashes or attacks is a result.
    """
    with failing_in_one_line():
        limits = _limits(wall_time_s, cpu_time_s, memory_mib << 20, output_kib << 10, work_steps, row_count)
        sources = [(path, read_text(path)) for path in programs]
        fixtures = [(path, read_fixture(path, domain)) for path in fixture]
        lane = int(second_pass)
        with open_pool(backend, runtime=docker_runtime, cache_dir=cache_dir, lane_count=lane + 1) as pool:
            for program_path, source in sources:
                for fixture_path, content in fixtures:
                    # One job an execution: its times are then its own, and not those of all fixtures together.
                    job = Job(domain, (source,), (content,), ordered=not bag, limits=limits)
                    try:
                        ((execution,),) = pool.run(job, lane=lane)
                    except ValueError as error:
                        raise InputError(f"{program_path} on {fixture_path}: {error}") from error
                    sys.stdout.write(_line(program_path, fixture_path, execution) + "\n")
                    sys.stdout.flush()


def _limits(wall_s: float, cpu_s: int, memory: int, output: int, steps: int, rows: int) -> Limits:
    try:
        return Limits(wall_s, cpu_s, memory, output, steps, rows)
    except ValueError as error:
        raise InputError(str(error)) from error


def _message(execution: Execution) -> str:
    """Say more about an exception: what SQLite says of the statement, and what there is in place of what is not."""
    if execution.detail in {"ModuleNotFoundError", "ImportError"}:
        return f"a program can import {', '.join(MODULE_NAMES)}"
    if "function: " in execution.message:
        return f"{execution.message}; a statement can call {', '.join(sorted(FUNCTION_NAMES))}"
    return execution.message


def _line(program: Path, fixture: Path, execution: Execution) -> str:
    return json.dumps(
        {
            "program": str(program),
            "fixture": str(fixture),
            "verdict": execution.verdict,
            "output": canonical_text(execution.output) if execution.output else None,
            "detail": execution.detail,
            "message": _message(execution),
            "cpu_ms": round(execution.cpu_time_s * 1000, 3),
            "wall_ms": round(execution.wall_time_s * 1000, 3),
        }
    )
