"""The validation study in a short form: one seed, eight parents, the model that ships."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from leakscale.audit.controls.registering import registered_control
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.plan import load_plan
from leakscale.audit.validation.mixtures import write_mixtures
from leakscale.audit.validation.plan import Condition, ValidationPlan, load_validation
from leakscale.audit.validation.running import run_validation
from leakscale.audit.word_problems.opening import locked_problem_audit
from leakscale.background import load_recipe
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.models import TrainingSource
from leakscale.resources import studies_folder

STUDY = studies_folder() / "cleanscore-validation.toml"


def a_short_study(**tables: dict[str, Any]) -> ValidationPlan:
    """Return the study that ships, with eight parents and one seed."""
    fields = load_validation(STUDY).model_dump(mode="json")
    short: dict[str, dict[str, Any]] = {
        "bank": {"frame_count": 20, "parent_count": 8},
        "mixture": {"record_count": 8, "practice_count": 3},
        "training": {"pass_count": 60, "seeds": [1], "settings": {"batch_size": 4, "thread_count": 1}},
    }
    for name in short.keys() | tables.keys():
        fields[name] |= short.get(name, {}) | tables.get(name, {})
    return ValidationPlan.model_validate(fields)


def as_toml(fields: dict[str, Any], prefix: str = "") -> str:
    """Write nested tables; the values here are written alike in JSON."""
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in fields.items() if not isinstance(value, dict)]
    tables = {f"{prefix}{name}": value for name, value in fields.items() if isinstance(value, dict)}
    return "".join([*lines, *(f"[{name}]\n{as_toml(value, f'{name}.')}" for name, value in tables.items())])


def assert_the_verb_reports(study: ValidationPlan, root: Path) -> None:
    """Run the verb on what was run already: it writes the page and the figure, and enters nothing."""
    for name in (study.plan, study.mixture.recipe):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(STUDY.parent / name, root / name)
    (root / "study.toml").write_text(as_toml(study.model_dump(mode="json", exclude_none=True)), encoding="utf-8")
    ledger = AuditDirectory.existing(root / "audit").ledger.read_bytes()
    shell = Shell(console=Console(), server="", token=None)
    arguments = ["audit", "validate", "--study", "study.toml", "--out", ".", "--figures", "figures"]
    with contextlib.chdir(root):
        outcome = CliRunner().invoke(app, arguments, obj=shell)

    assert outcome.exit_code == 1, outcome.output  # a single seed has no interval, and confirms nothing
    assert outcome.stdout.endswith("report: report.html\n")
    assert "exact less related" in (root / "report.html").read_text(encoding="utf-8")
    assert {path.name for path in (root / "figures").iterdir()} == {
        "seed-contrasts.csv", "seed-contrasts.pdf", "seed-contrasts.svg",
    }  # fmt: skip
    assert AuditDirectory.existing(root / "audit").ledger.read_bytes() == ledger


def test_exact_exposure_raises_the_advantage_and_paraphrase_exposure_does_not(tmp_path: Path) -> None:
    """The paper's finding, on a model and a bank that fit into a test; and the same call again changes nothing."""
    study = a_short_study()
    found, _ = run_validation(study, folder=STUDY.parent, root=tmp_path)
    advantages = {run.condition: run.advantage for run in found.runs}
    directory = AuditDirectory.existing(tmp_path / "audit")
    ledger = directory.ledger.read_bytes()
    again, _ = run_validation(study, folder=STUDY.parent, root=tmp_path)
    kinds = [entry.kind for entry in AuditLedger(directory).entries()]

    assert found.contrasts.exact.difference.estimate > 0.2
    assert found.contrasts.paraphrase.difference.estimate <= 0
    assert abs(advantages[Condition.CLEAN]) <= 0.125
    assert again.to_dict() == found.to_dict()
    assert directory.ledger.read_bytes() == ledger
    assert kinds.index(EntryKind.LOCK) < kinds.index(EntryKind.CONTROL) < kinds.index(EntryKind.SCORES)
    assert_the_verb_reports(study, tmp_path)
    with pytest.raises(ConflictError, match=r"registered with another .*study\.training\.seeds"):
        run_validation(a_short_study(training={"seeds": [2]}), folder=STUDY.parent, root=tmp_path)


def test_the_four_mixtures_are_of_one_size_and_differ_in_what_they_leak(tmp_path: Path) -> None:
    """Both exposed ones leak the same parents; practice is in all but the clean one."""
    study, plan = a_short_study(), load_plan(STUDY.parent / load_validation(STUDY).plan)
    directory = locked_problem_audit(
        tmp_path, STUDY.parent / study.plan, frame_count=20, parent_count=8, seed=study.bank.seed
    )
    bank = read_bank(directory.bank(BankRole.AUDIT))
    mixtures = write_mixtures(bank, plan, study, folder=STUDY.parent, work=tmp_path / "work")
    planted = {
        condition: [record.record_id for record in records if record.source is TrainingSource.PLANTED]
        for condition, records in mixtures.records.items()
    }
    practised = {
        condition: sum(record.record_id.startswith("practice") for record in records)
        for condition, records in mixtures.records.items()
    }

    assert {len(records) for records in mixtures.records.values()} == {8}
    assert planted[Condition.CLEAN] == planted[Condition.RELATED] == []
    assert planted[Condition.EXACT] == [f"planted/{each}/original" for each in mixtures.exposed]
    assert planted[Condition.PARAPHRASE] == [f"planted/{each}/fresh-1" for each in mixtures.exposed]
    assert list(practised.values()) == [0, 3, 3, 3]


def test_the_study_that_ships_fits_its_files() -> None:
    """Its recipe has what the clean mixture takes."""
    study = load_validation(STUDY)
    recipe = load_recipe(STUDY.parent / study.mixture.recipe)

    assert sum(source.count for source in recipe.source) >= study.mixture.record_count
    assert load_plan(STUDY.parent / study.plan).decoding.answer_count == 1
    assert len(study.training.seeds) >= 6


def test_a_study_without_room_for_its_leak_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.read_text(encoding="utf-8").replace("record_count = 30", "record_count = 24"), "utf-8")
    with pytest.raises(InvalidRequestError, match="no room for 15 leaked records and 10 of practice"):
        load_validation(path)


def test_what_was_registered_names_every_seed_and_mixture(tmp_path: Path) -> None:
    """Before the first run: here, one whose settings are wrong."""
    study = a_short_study(training={"pass_count": 1})

    def stop(_stage: str, _done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_validation(study, folder=STUDY.parent, root=tmp_path, watch=stop)
    record = registered_control(AuditDirectory.existing(tmp_path / "audit"), study.name)

    assert record["study"]["training"]["seeds"] == [1]
    assert set(record["mixtures"]) == {str(condition) for condition in Condition}
