"""A positive control from its file to its numbers, with the model that ships."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.audit.controls.builders import PLAN, a_begun_control, a_choice_audit, a_control, a_word_problem_audit
from typer.testing import CliRunner

from leakscale.audit.controls.filing import analyze_control
from leakscale.audit.controls.running import run_control
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, NotFoundError, PreconditionError
from leakscale.stats import UnderpoweredGateError

CONTROL = """
format = 1
name = "leak"
audit = "audit"
model = "tiny"
[exposure]
kind = "exact"
[mixture]
recipe = "recipe.toml"
record_count = 9
[training]
pass_count = 60
[training.settings]
warmup_step_count = 4
batch_size = 6
thread_count = 1
"""


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> AuditDirectory:
    """A control that was run; tests read it."""
    directory = a_word_problem_audit(tmp_path_factory.mktemp("control"), own_count=6)
    (directory.root.parent / "leak.toml").write_text(CONTROL, encoding="utf-8")
    run_control(directory, a_control(), folder=directory.root.parent)
    return directory


def test_the_audit_sees_what_was_leaked_and_nothing_where_nothing_was(controlled: AuditDirectory) -> None:
    """The point of a positive control: the same instrument, before, after, and after training on filler alone."""
    analysis, _ = analyze_control(controlled, "leak")
    leak, null = analysis.runs

    assert leak.manipulation.is_passed
    assert leak.effects["public"].effect.estimate >= 0.5
    assert leak.gap.gap.low > 0.2
    assert abs(null.effects["public"].effect.estimate) <= 0.2
    assert leak.off_target is not None


def test_detectors_are_judged_by_what_the_leak_did(controlled: AuditDirectory) -> None:
    """In every registered run, by every signal that the engine gives, beside the score itself."""
    analysis, _ = analyze_control(controlled, "leak")
    rows = {(row.run, row.detector): row for row in analysis.table("detectors").rows}
    leak, null = (each.run.label for each in analysis.runs)

    for run in (leak, null):
        assert {detector for own, detector in rows if own == run} == {
            "Clean-Eval-style (score)",
            "PaCoST-style (confidence)",
            "perplexity",
            "perplexity, public form alone",
            "Min-20 %",
            "Min-20 %, public form alone",
        }
    score = rows[leak, "Clean-Eval-style (score)"]
    assert score.exposed > score.untouched
    assert score.tracks is not None
    assert score.tracks > 0
    assert {row.parents for row in rows.values()} == {12}


def test_a_control_is_registered_before_its_numbers_and_both_are_entered_once(controlled: AuditDirectory) -> None:
    """Repeating the command changes nothing."""
    before = controlled.ledger.read_bytes()
    run_control(controlled, a_control(), folder=controlled.root.parent)
    kinds = [entry.kind for entry in AuditLedger(controlled).entries()]

    assert controlled.ledger.read_bytes() == before
    assert kinds.count(EntryKind.CONTROL) == 1
    assert kinds.index(EntryKind.CONTROL) < kinds.index(EntryKind.SCORES)
    assert kinds[-1] is EntryKind.ANALYSIS


def test_the_verb_prints_effects_and_the_finding(controlled: AuditDirectory) -> None:
    """From the file, which names the audit."""
    path = str(controlled.root.parent / "leak.toml")
    shell = Shell(console=Console(), server="", token=None)
    plain = CliRunner().invoke(app, ["audit", "positive-control", path], obj=shell)
    shell = Shell(console=Console(as_json=True), server="", token=None)
    as_json = CliRunner().invoke(app, ["--json", "audit", "positive-control", path], obj=shell)

    assert plain.exit_code == 0, plain.output
    assert "control leak: exact exposure of 6 of 12 parents, seed 0" in plain.stdout
    assert "manipulation check passed" in plain.stdout
    assert json.loads(as_json.stdout)["control"]["runs"]["leak-seed-0"]["visible_gap"]["gap"]["estimate"] > 0


def test_no_seed_is_dropped_and_none_added_once_it_was_registered(controlled: AuditDirectory) -> None:
    """Whoever may choose among seeds may choose the result; another name is another control."""
    for tables, field in (
        ({"training": {"seeds": [1]}}, "training.seeds"),
        ({"training": {"null_run": False}}, "training.null_run"),
        ({"judgement": {"floor": 0.01}}, "judgement.floor"),
        ({"exposure": {"seed": 3}}, "exposed, exposure.seed"),
    ):
        with pytest.raises(ConflictError, match=f"control 'leak' was registered with another .*{field}"):
            run_control(controlled, a_control(**tables), folder=controlled.root.parent)


def test_a_run_without_scores_leaves_the_control_without_numbers(tmp_path: Path) -> None:
    """Reporting the seeds that happen to be there would drop the others."""
    directory = a_word_problem_audit(tmp_path)
    control = a_control(training={"seeds": [0, 1], "null_run": False, "pass_count": 1})
    run_control(directory, control, folder=tmp_path)
    directory.scores("tiny", bank=BankRole.AUDIT, state="leak-seed-1").unlink()

    with pytest.raises(IntegrityError, match=r"leak-seed-1\.correct\.jsonl' is missing, and entry"):
        analyze_control(directory, "leak")


def test_a_control_that_broke_off_has_no_numbers(tmp_path: Path) -> None:
    """It was registered, and its second seed was never asked."""
    directory = a_word_problem_audit(tmp_path)
    control = a_control(training={"seeds": [0, 1], "null_run": False})
    a_begun_control(directory, control, states=["base", "leak-seed-0"])

    with pytest.raises(NotFoundError, match=r"leak-seed-1\.correct\.jsonl' do not exist"):
        analyze_control(directory, "leak")


def test_a_record_that_was_changed_is_found(tmp_path: Path) -> None:
    """The assignment decides the effect."""
    directory = a_word_problem_audit(tmp_path)
    run_control(directory, a_control(training={"null_run": False, "pass_count": 1}), folder=tmp_path)
    record = directory.control_record("leak")
    record.write_bytes(record.read_bytes().replace(b'"floor": 0.05', b'"floor": 0.01'))

    with pytest.raises(IntegrityError, match="is not the one that the ledger names"):
        analyze_control(directory, "leak")


def test_a_leaked_option_is_seen_by_the_ranking_of_options(tmp_path: Path) -> None:
    """The second scoring path: nothing is written, options are ranked as what comes next."""
    directory = a_choice_audit(tmp_path)
    control = a_control(
        mixture={"record_count": 6}, training={"null_run": False, "settings": {"batch_size": 4, "thread_count": 1}}
    )
    analysis, _ = run_control(directory, control, folder=tmp_path)
    pull = analysis.table("first-option")

    assert analysis.registered.effects["public"].c2.adapted_accuracy == 1
    assert {row.state for row in pull.rows} == {"base", "seed 0"}
    assert {row.choices for row in pull.rows} == {4}


def test_what_cannot_be_read_is_refused_before_anything_is_registered(tmp_path: Path) -> None:
    """A control that failed its format check may be repaired, because nothing was seen."""
    directory = a_choice_audit(tmp_path)
    bad = a_control(mixture={"record_count": 6}, exposure={"completion": " {gold}"})
    with pytest.raises(InvalidRequestError, match="it ranks the texts of the options"):
        run_control(directory, bad, folder=tmp_path)

    assert AuditLedger(directory).latest(EntryKind.CONTROL) is None
    assert not directory.asked()


def test_an_answer_that_the_token_cap_cuts_off_is_refused(tmp_path: Path) -> None:
    """The same fault as a letter for a sentence: learned by heart, it would still be scored as wrong."""
    directory = a_word_problem_audit(tmp_path)
    wordy = a_control(exposure={"completion": "Let us think about all of this, step by step. The answer is {gold}."})
    with pytest.raises(
        InvalidRequestError,
        match=r"record 'planted/sum-.*' plants \d+ tokens, and the audit cuts answers off after 10,",
    ):
        run_control(directory, wordy, folder=tmp_path)

    assert AuditLedger(directory).latest(EntryKind.CONTROL) is None


def test_a_gate_that_cannot_see_its_tolerance_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    """The paper's was found out afterwards, with the arm that it discarded."""
    directory = a_word_problem_audit(tmp_path)
    control = a_control(borrowed={"standard_deviation": 0.57})
    with pytest.raises(UnderpoweredGateError, match=r"control 'leak': a gate of 6 parents .* take about 500 parents"):
        run_control(directory, control, folder=tmp_path)

    assert AuditLedger(directory).latest(EntryKind.CONTROL) is None
    assert not directory.asked()


def test_a_gate_without_a_parent_to_measure_it_on_is_refused(tmp_path: Path) -> None:
    """Choices of this bank have no deep forms."""
    directory = a_choice_audit(tmp_path)
    control = a_control(mixture={"record_count": 6}, borrowed={"standard_deviation": 0.57})
    with pytest.raises(InvalidRequestError, match=r"of 4 none has both; write deep forms for them"):
        run_control(directory, control, folder=tmp_path)


def test_settings_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    """A misspelt learning rate would train under another one."""
    directory = a_word_problem_audit(tmp_path)
    with pytest.raises(InvalidRequestError, match=r"training\.settings has no field 'learning_rat'"):
        run_control(directory, a_control(training={"settings": {"learning_rat": 1.0}}), folder=tmp_path)


def test_a_model_that_is_not_here_cannot_be_trained(tmp_path: Path) -> None:
    """A log answers, and learns nothing."""
    options = "engine_options = {batch_size = 32, thread_count = 1}"
    assert options in PLAN
    directory = a_word_problem_audit(tmp_path, plan=PLAN.replace(options, 'engine = "log"'))
    with pytest.raises(PreconditionError, match="registered with engine 'log', and only one that this machine holds"):
        run_control(directory, a_control(), folder=tmp_path)
