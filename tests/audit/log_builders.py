"""Evaluation logs of a test: real ones, real ones with one thing changed, and tables."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from leakscale.audit.forms import FormBank, read_bank
from leakscale.audit.importers import LogPaths
from leakscale.cli.audit_import import import_
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell

LOGS = Path(__file__).parent / "logs"
FORMS = ("original", "fresh-1", "fresh-2")
SCORES = [[1, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]]
"""What the logs of inspect_ai were made to say: parents w1 to w4 in three forms."""


def the_bank() -> FormBank:
    """Return the bank that the logs answer."""
    return read_bank(LOGS / "bank.jsonl")


def inspect_log(name: str) -> Path:
    """Return a log of inspect_ai."""
    return next((LOGS / "inspect_ai").glob(f"{name}.*"))


def inspect_logs(*, second: str = "fresh-2") -> LogPaths:
    """Return the logs of three forms, the second fresh one by choice."""
    return LogPaths(inspect_log("original"), (inspect_log("fresh-1"), inspect_log(second)))


def lm_eval_log(task: str) -> Path:
    """Return the samples of a task of lm-evaluation-harness."""
    return next((LOGS / "lm_eval").glob(f"samples_{task}_2*"))


def lm_eval_logs(task: str = "words") -> LogPaths:
    """Return the samples of three forms."""
    original, *fresh = (lm_eval_log(f"{task}-{form}") for form in FORMS)
    return LogPaths(original, tuple(fresh))


def changed_inspect_log(folder: Path, change: Callable[[dict[str, Any]], object]) -> LogPaths:
    """Write the log that holds all forms, with something changed; its samples stand parent by parent, form by form."""
    log = json.loads(inspect_log("together").read_text(encoding="utf-8"))
    log["samples"].sort(key=lambda sample: (sample["id"].split("/")[0], FORMS.index(sample["id"].split("/")[1])))
    change(log)
    path = folder / "changed.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    return LogPaths(together=(path,))


def changed_lm_eval_logs(folder: Path, change: Callable[[list[dict[str, Any]], dict[str, Any]], object]) -> LogPaths:
    """Copy the generation logs, with something changed in the samples of fresh form 1 or in the results."""
    for path in (LOGS / "lm_eval").iterdir():
        shutil.copy(path, folder / path.name)
    original, first, second = (folder / lm_eval_log(f"words-{form}").name for form in FORMS)
    results = next(folder.glob("results_*.json"))
    samples, summary = [json.loads(line) for line in first.read_text().splitlines()], json.loads(results.read_text())
    change(samples, summary)
    first.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    results.write_text(json.dumps(summary), encoding="utf-8")
    return LogPaths(original, (first, second))


def a_csv(folder: Path, *rows: dict[str, Any], name: str = "scores.csv") -> Path:
    """Write a table; the first row names the columns."""
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def rows_of(parent_id: str = "p1", **fields: Any) -> list[dict[str, Any]]:
    """Return a row for each of three forms of a parent, all asked alike."""
    return [
        {
            "id": parent_id,
            "form": form,
            "right": 1,
            "prompt": f"Q: {parent_id} as {form}\nA:",
            "text": f"{parent_id} as {form}",
            "model": "m@1",
            "template": "Q: {}\nA:",
            "fewshot_count": 0,
            "status": "success",
        }
        | fields
        for form in FORMS
    ]


def run_import(*arguments: str, as_json: bool = False) -> Result:
    """Run the command `audit import` alone."""
    app = typer.Typer()
    app.command("import")(import_)
    shell = Shell(console=Console(as_json=as_json), server="", token=None)
    return CliRunner().invoke(app, list(arguments), obj=shell)
