"""`leakscale-server sandbox check`: does every limit bite on this host?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from leakscale_server.sandbox_check import Finding, check_sandbox, host_facts
from leakscale_server.sandbox_cli.pool import (
    BackendOption,
    CacheDirOption,
    RuntimeOption,
    failing_in_one_line,
    open_pool,
)

__all__ = ["check"]

_NEGATIVE = 1


def check(
    backend: BackendOption = "auto",
    docker_runtime: RuntimeOption = "",
    cache_dir: CacheDirOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Run a bomb of each kind, and print what this host can promise. The exit code is 1 when a limit does not bite."""
    with failing_in_one_line(), open_pool(backend, runtime=docker_runtime, cache_dir=cache_dir, lane_count=1) as pool:
        findings = list(check_sandbox(pool))
        name, facts = pool.identity.backend, host_facts(pool.identity)
    failed = [finding.limit for finding in findings if not finding.holds]
    if as_json:
        told = {"backend": name, "host": facts, "findings": [asdict(one) for one in findings], "failed": failed}
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _table(name, facts, findings, failed))
    if failed:
        raise typer.Exit(_NEGATIVE)


def _table(name: str, facts: Mapping[str, str], findings: Sequence[Finding], failed: Sequence[str]) -> Iterable[str]:
    yield from _aligned([("backend", name), *facts.items()])
    yield ""
    # What each bomb tries stands in the JSON: a terminal has 80 columns.
    rows = [
        (one.limit, one.ended, f"{one.wall_time_s * 1000:.0f} ms", "yes" if one.holds else "NO") for one in findings
    ]
    yield from _aligned([("limit", "ended as", "after", "holds"), *rows])
    yield ""
    yield f"does not hold: {', '.join(failed)}" if failed else f"all {len(findings)} hold"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
