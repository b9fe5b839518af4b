"""`leakscale audit answer` from a lock to a table, with the model that ships."""

from __future__ import annotations

import json
from pathlib import Path

from tests.audit.answering.builders import locked_audit
from tests.audit.registration.builders import PLAN
from typer.testing import CliRunner

from leakscale.base_model import base_model_folder
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell

ONE = PLAN[: PLAN.rindex("[[models]]")].replace('source = "tiny"', f'source = "{base_model_folder()}"')


def run(*arguments: object, as_json: bool = False) -> str:
    """Run a command of the audit; it must succeed."""
    shell = Shell(console=Console(as_json=as_json), server="", token=None)
    options = ["--json"] if as_json else []
    outcome = CliRunner().invoke(app, [*options, "audit", *map(str, arguments)], obj=shell)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def test_an_audit_is_answered_and_analyzed_by_two_commands(tmp_path: Path) -> None:
    """Both banks, every form, the scores in the ledger, and the numbers after them."""
    plan = ONE + "[decoding]\ntoken_count_max = 8\n"
    directory = locked_audit(tmp_path, plan=plan, control_count=3)
    answered = json.loads(run("answer", directory.root, as_json=True))["answered"]
    again = json.loads(run("answer", directory.root, as_json=True))["answered"]

    assert [(each["model"], each["bank"]) for each in answered] == [("tiny", "audit"), ("tiny", "control")]
    assert again == answered
    assert answered[0]["quality"]["rerun_alike_count"] == answered[0]["quality"]["rerun_count"] == 1
    assert "tiny" in run("analyze", directory.root, "--table", "claims")
