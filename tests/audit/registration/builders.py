"""Audit directories that a test says only its own part of: four numeric parents, read and ready to be locked."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.opening import open_audit

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BENCHMARK = """
title = "Trial"
[benchmark]
id = "sums"
source = "written here"
license = "CC0-1.0"
[[models]]
id = "tiny"
source = "tiny"
revision = "1"
"""
"""What plans have in common: their audit's name goes before, more of the model or another one after."""
PLAN = f"""
format = 1
name = "demo"{BENCHMARK}[[models]]
id = "other"
source = "other"
revision = "2"
"""
CONTROL = """
[control]
private = true
provenance = "written in May by one of us"
"""
_THINGS = ("pencil", "apple", "shell", "button", "marble", "ticket")


def parent_line(number: int, *, prefix: str = "p") -> dict[str, Any]:
    """Return a parent whose forms pass every check, and share few words with those of other parents."""
    thing, many = _THINGS[number % len(_THINGS)], 10 + number
    return {
        "id": f"{prefix}{number}",
        "criterion": "numeric",
        "gold": str(3 * many - 5),
        "original": f"Tom buys 3 boxes of {many} {thing}s and gives 5 away. How many {thing}s does Tom keep?",
        "fresh": [
            f"After Ana fetched 3 crates with {many} {thing}s inside, her brother took 5. What number stays with her?",
            f"A teacher owns 3 trays that hold {many} {thing}s; after 5 went missing, count what the class still has.",
        ],
    }


def control_line(number: int) -> dict[str, Any]:
    """Return a parent of a control bank, whose original stands in no frame."""
    fields = parent_line(number, prefix="c")
    return fields | {"original": fields["original"].replace("Tom", "Mia").replace("boxes", "bags")}


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write a bank's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def an_audit(
    folder: Path, *, plan: str = PLAN, frame_size: int = 6, sample: int = 4, control_count: int = 0
) -> AuditDirectory:
    """Open an audit whose bank is written and whose plan is filled in."""
    frame = write_lines(folder / "frame.jsonl", [parent_line(number) for number in range(frame_size)])
    control = None
    if control_count:
        control = write_lines(folder / "control.jsonl", [control_line(number) for number in range(control_count)])
        plan += CONTROL
    directory, _ = open_audit(
        folder / "audit", frame=frame, size=sample, seed=1, rewrites=frame, control=control, now=NOW
    )
    directory.plan.write_text(plan, encoding="utf-8")
    return directory


def edit_bank(
    directory: AuditDirectory,
    edit: Callable[[list[dict[str, Any]]], object],
    *,
    role: BankRole = BankRole.AUDIT,
) -> None:
    """Change a bank's file as somebody with an editor would."""
    path = directory.bank(role)
    lines = [json.loads(each) for each in path.read_text(encoding="utf-8").splitlines()]
    edit(lines)
    write_lines(path, lines)
