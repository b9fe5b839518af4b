"""A whole audit with one command: what ships can be locked, and a small one of it shows the leak."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.audit.controls.test_running import CONTROL

from leakscale.audit.controls import load_control
from leakscale.audit.demo import DemoSize, run_audit_demo
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.forms import bank_bytes
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.plan import load_plan
from leakscale.audit.word_problems.writing import write_problems
from leakscale.background import load_recipe
from leakscale.base_model import base_model_folder
from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.resources import studies_folder

SMALL = DemoSize(frame_count=36, parent_count=12, control_count=6)


def test_the_plans_that_ship_fit_each_other() -> None:
    """The recipe has what the null run takes, and the revision is that of the model that ships."""
    folder = studies_folder() / "audit-demo"
    plan, control = load_plan(folder / "audit.toml"), load_control(folder / "exact.toml")
    recipe = load_recipe(folder / control.mixture.recipe)
    manifest = json.loads((base_model_folder() / "MANIFEST.json").read_text(encoding="utf-8"))

    assert plan.models[0].revision == manifest["model_digest"]
    assert control.model == plan.models[0].id
    assert sum(source.count for source in recipe.source) == control.mixture.record_count
    assert control.mixture.record_count > control.exposure.share * DemoSize().parent_count


def test_an_interrupted_demo_goes_on_and_a_finished_one_changes_nothing(tmp_path: Path) -> None:
    """Stopped while it answers; then the leak is seen, and the same command only prints it again."""
    (tmp_path / "exact.toml").write_text(CONTROL.replace("recipe.toml", "filler.toml"), encoding="utf-8")

    def stop(stage: str, _done: int, _total: int) -> None:
        if stage.startswith("answer tiny, control bank"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_audit_demo(tmp_path, size=SMALL, watch=stop)
    found = run_audit_demo(tmp_path, size=SMALL)
    ledger = found.directory.ledger.read_bytes()
    again = run_audit_demo(tmp_path, size=SMALL)
    before, after, null = again.control.table("audit").rows

    assert again.directory.ledger.read_bytes() == ledger
    assert "Positive control leak" in again.report.with_suffix(".md").read_text(encoding="utf-8")
    assert again.control.to_dict() == found.control.to_dict()
    assert found.control.registered.manipulation.is_passed
    assert after.gap.estimate > 0.2 > max(abs(before.gap.estimate), abs(null.gap.estimate))


def test_a_demo_that_was_interrupted_before_its_lock_locks_then(tmp_path: Path) -> None:
    """What was drawn stays drawn."""
    (tmp_path / "exact.toml").write_text(CONTROL.replace("recipe.toml", "filler.toml"), encoding="utf-8")

    def stop(_stage: str, _done: int, _total: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "audit.toml").write_text("broken", encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="not valid TOML"):
        run_audit_demo(tmp_path, size=SMALL)
    drawn = AuditDirectory.existing(tmp_path / "audit").draw.read_bytes()
    (tmp_path / "audit.toml").unlink()
    with pytest.raises(KeyboardInterrupt):
        run_audit_demo(tmp_path, size=SMALL, watch=stop)
    directory = AuditDirectory.existing(tmp_path / "audit")

    assert directory.draw.read_bytes() == drawn
    assert AuditLedger(directory).latest(EntryKind.LOCK) is not None


@pytest.mark.parametrize("name", ["benchmark.jsonl", "control.jsonl"])
def test_a_demo_overwrites_nothing_of_others(tmp_path: Path, name: str) -> None:
    """A folder with files of those names may be somebody's own."""
    (tmp_path / name).write_text("mine\n", encoding="utf-8")
    with pytest.raises(ConflictError, match=f"{name}' holds something else"):
        run_audit_demo(tmp_path, size=SMALL)
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine\n"


def test_a_demo_takes_over_no_other_audit(tmp_path: Path) -> None:
    """Its plan would be replaced by the demo's, and it would be locked."""
    (tmp_path / "own.jsonl").write_bytes(bank_bytes(write_problems(30, seed=99)))
    directory, _ = open_audit(tmp_path / "audit", frame=tmp_path / "own.jsonl", size=5, seed=1)
    plan = directory.plan.read_bytes()
    with pytest.raises(ConflictError, match="is an audit of another benchmark"):
        run_audit_demo(tmp_path, size=SMALL)
    assert directory.plan.read_bytes() == plan
