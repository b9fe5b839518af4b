"""The analysis of a locked audit: whole panel, entered scores, one place, one entry of the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from tests.audit.analysis.builders import scores
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.log_builders import a_csv
from tests.audit.registration.builders import NOW, PLAN, an_audit
from typer.testing import CliRunner, Result

from leakscale.audit.analysis import analyze_audit
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.importers import LogPaths, Selection
from leakscale.audit.importers.filing import import_into_audit
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.cli.audit_analyze import analyze
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import IntegrityError, NotFoundError, PreconditionError

BY_HAND = Selection("right", form_key="form")
LOGGED = PLAN.replace('revision = "1"', 'revision = "1"\nengine = "log"').replace(
    'revision = "2"', 'revision = "2"\nengine = "log"'
)


def log_of(directory: AuditDirectory, role: BankRole, *, wrong: str = "", model: str = "tiny") -> LogPaths:
    """Write a table in which one kind of form is answered wrong."""
    rows = [
        {
            "id": parent.parent_id,
            "form": (form_name := str(name).partition("/")[2]),
            "right": int(not wrong or not form_name.startswith(wrong)),
            "text": form.text,
            "prompt": form.text,
            "model": model,
        }
        for parent in read_bank(directory.bank(role)).parents
        for name, form in parent.forms()
    ]
    return LogPaths(together=(a_csv(directory.root.parent, *rows),))


def audit_with_scores(folder: Path, *, models: tuple[str, ...] = ("tiny", "other")) -> AuditDirectory:
    """Return a locked audit with a control bank, and the scores of these models."""
    directory = an_audit(folder, plan=LOGGED, control_count=4)
    lock_audit(directory, now=NOW)
    for model in models:
        for role, wrong in ((BankRole.AUDIT, "fresh"), (BankRole.CONTROL, "")):
            import_into_audit(directory, model, log_of(directory, role, wrong=wrong, model=model), BY_HAND, role=role)
    return directory


def run(*arguments: object, as_json: bool = False) -> Result:
    """Run the verb."""
    app = typer.Typer()
    app.command()(analyze)
    shell = Shell(console=Console(as_json=as_json), server="", token=None)
    return CliRunner().invoke(app, [str(each) for each in arguments], obj=shell)


def test_the_analysis_is_entered_once_and_repeats_itself(tmp_path: Path) -> None:
    """A second entry would look like a second try."""
    directory = audit_with_scores(tmp_path)
    first, files = analyze_audit(directory)
    again, _ = analyze_audit(directory)
    entries = [entry for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.ANALYSIS]

    assert first.to_dict() == again.to_dict()
    assert [entry.subject for entry in entries] == ["analysis/registered/analysis.json"]
    assert all(path.is_file() for path in files)
    assert {row.model for row in first.table("advantage").rows} == {"tiny", "other"}
    assert {row.gap.estimate for row in first.table("advantage").rows} == {1.0}
    assert {row.control_gap.estimate for row in first.table("claims").rows} == {0.0}


def test_the_numbers_name_what_they_hang_on(tmp_path: Path) -> None:
    """Each can be traced to a registration and to tables of scores by digest."""
    directory = audit_with_scores(tmp_path)
    analysis, files = analyze_audit(directory)
    written = json.loads(next(path for path in files if path.name == "analysis.json").read_text(encoding="utf-8"))
    entered = {entry.digest for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.SCORES}

    assert {each["digest"] for each in written["scores"]} == entered
    assert written["assurance_level"] == "L0"
    assert written["variant"] == "registered"
    assert written["is_retrospective"] is True
    assert analysis.to_dict() == written


def test_a_panel_is_analyzed_whole(tmp_path: Path) -> None:
    """Whoever may leave a model out after its scores are known chooses the panel."""
    directory = audit_with_scores(tmp_path, models=("tiny",))
    with pytest.raises(PreconditionError, match="model 'other' has no scores on the audit bank"):
        analyze_audit(directory)


def test_exchanged_scores_are_found(tmp_path: Path) -> None:
    """A file that is whole in itself and was never entered is somebody else's."""
    directory = audit_with_scores(tmp_path)
    path = directory.scores("tiny", bank=BankRole.AUDIT)
    ours = [json.loads(line)["id"] for line in path.read_text().splitlines()[1:]]
    other = scores("tiny", len(ours))
    path.unlink()
    other.to_jsonl(path)
    with pytest.raises(IntegrityError, match="is not the one that the ledger names"):
        analyze_audit(directory)


def test_an_unknown_variant_names_those_there_are(tmp_path: Path) -> None:
    """Amendments have names of their own."""
    directory = audit_with_scores(tmp_path)
    with pytest.raises(NotFoundError, match="variant 'amendment-1' is not in audit 'demo'; it has registered"):
        analyze_audit(directory, variant="amendment-1")


def test_the_command_analyzes_an_audit(tmp_path: Path) -> None:
    """One word after the last import."""
    directory = audit_with_scores(tmp_path)
    outcome = run(directory.root)

    assert outcome.exit_code == 0, outcome.output
    assert "Table 3. Public and fresh scores" in outcome.output
    assert (directory.analysis / "registered" / "tables.txt").is_file()


def test_the_command_analyzes_scores_that_belong_to_no_audit(tmp_path: Path) -> None:
    """A log that exists is a beginning; that nothing was registered is said."""
    for name, table in (("audit", scores("tiny", 60)), ("control", scores("tiny", 60, seed=1, prefix="c"))):
        table.to_jsonl(tmp_path / f"{name}.jsonl")
    outcome = run(
        *(tmp_path / "audit.jsonl", "--control", tmp_path / "control.jsonl", "--population", 1319),
        *("--table", "claims", "--output", tmp_path / "numbers"),
        as_json=True,
    )

    assert outcome.exit_code == 0, outcome.output
    found = json.loads(outcome.stdout)["analysis"]
    assert found["variant"] == "unregistered"
    assert list(found["tables"]) == ["claims"]
    assert "not registered" in outcome.stderr
    assert (tmp_path / "numbers" / "3-advantage.csv").is_file()


def test_scores_do_not_say_how_large_their_benchmark_is(tmp_path: Path) -> None:
    """Every finite-population interval depends on it, so no default would be right."""
    scores("tiny", 60).to_jsonl(tmp_path / "audit.jsonl")
    outcome = run(tmp_path / "audit.jsonl")

    assert outcome.exit_code == 2
    assert "--population" in outcome.output


def test_how_the_run_went_stands_beside_the_scores(tmp_path: Path) -> None:
    """A cap that cut answers off pulls the gap to zero, and whoever reads the gap must see it."""
    directory = locked_audit(tmp_path)
    for model in ("tiny", "other"):
        answer_audit(directory, model, engine=SpokenEngine(lambda _: "so I think…"))
    table = analyze_audit(directory)[0].table("formats")

    assert {(row.form, row.cut_off, row.met) for row in table.rows} == {
        (form, 1.0, "none 4") for form in ("original", "fresh-1", "fresh-2")
    }
    assert "Asked twice and answered alike: tiny 1 of 1, other 1 of 1." in table.note

    path = directory.quality("tiny", bank=BankRole.AUDIT)
    path.write_text(path.read_text().replace('"cut_off_count": 4', '"cut_off_count": 0'))
    with pytest.raises(IntegrityError, match="is not the one that the ledger names"):
        analyze_audit(directory)
