"""The report says what the registered rule allows, where each number lies, and nothing that is private."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit.analysis.test_filing import BY_HAND, log_of
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.controls.builders import (
    a_begun_control,
    a_choice_audit,
    a_control,
    a_spoken_control,
    a_word_problem_audit,
)
from tests.audit.registration.builders import NOW, PLAN, an_audit
from tests.report.browser import Browser, browser_program, faults_of
from typer.testing import CliRunner

from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import FormKind, read_bank
from leakscale.audit.importers import ImportOptions
from leakscale.audit.importers.filing import import_into_audit
from leakscale.audit.registration.amending import amend_audit
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.report import audit_figures, read_audit_findings, render_audit_report, write_audit_report
from leakscale.audit.report.words import finding
from leakscale.cli.app import app
from leakscale.cli.audit import app as verbs
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import IntegrityError, PreconditionError

ONE = PLAN[: PLAN.rindex("[[models]]")]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> AuditDirectory:
    """An audit with a positive control whose report was written; tests read it."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path_factory.mktemp("report"), own_count=4), a_control())
    write_audit_report(read_audit_findings(directory))
    return directory


def twins(directory: AuditDirectory) -> tuple[str, str]:
    """Return the page and its twin."""
    return directory.report.read_text(encoding="utf-8"), (directory.root / "report.md").read_text(encoding="utf-8")


def test_both_twins_say_the_finding_and_what_the_control_saw(reported: AuditDirectory) -> None:
    """A null is told with what a leak of known size would have done."""
    for text in twins(reported):
        assert "No public-form advantage claimed for tiny" in text
        assert "Public forms of 6 of 12 parents leaked" in text
        assert "Manipulation check passed" in text


def test_every_number_names_a_file_that_is_there_and_a_command(reported: AuditDirectory) -> None:
    """Who doubts a number opens the file, or types the command."""
    _, twin = twins(reported)
    links = re.findall(r"^\[([^\]]+\.csv)\]\(\1\) · made by `(leakscale audit [^`]+)`$", twin, re.MULTILINE)

    assert len(links) == len(re.findall(r"^### ", twin, re.MULTILINE)) - 1  # all but the list of files itself
    assert all((reported.root / name).is_file() for name, _ in links)
    assert {"analyze", "positive-control"} == {command.split()[2] for _, command in links}


def test_digests_are_those_of_the_files(reported: AuditDirectory) -> None:
    """Every one of them, and what made each file can be typed."""
    rows = read_audit_findings(reported).files.rows

    assert all(hashlib.sha256((reported.root / row.file).read_bytes()).hexdigest() == row.sha256 for row in rows)
    assert {row.file.split("/")[0] for row in rows} == {
        "draw.json", "frame.jsonl", "registration.json", "scores", "analysis", "controls",
    }  # fmt: skip
    assert next(row for row in rows if row.file.startswith("scores/")).made_by == "leakscale audit answer audit"
    assert {row.made_by for row in rows if ".leak-" in row.file} == {"leakscale audit positive-control leak.toml"}
    assert {row.made_by.split()[2] for row in rows} <= {command.name for command in verbs.registered_commands}


def test_no_private_form_is_in_a_report(reported: AuditDirectory) -> None:
    """It is there to be published; forms are private until they are retired."""
    texts = twins(reported)
    for role in BankRole:
        for parent in read_bank(reported.bank(role)).parents:
            for name, form in parent.forms():
                if role is BankRole.CONTROL or name.kind is not FormKind.ORIGINAL:
                    assert not any(form.text in text for text in texts)


def test_the_same_audit_gives_the_same_bytes(reported: AuditDirectory) -> None:
    """And a report enters nothing in the ledger."""
    before, ledger = twins(reported), reported.ledger.read_bytes()
    write_audit_report(read_audit_findings(reported))

    assert twins(reported) == before
    assert reported.ledger.read_bytes() == ledger


def test_a_control_has_its_figures_and_what_has_none_says_why(reported: AuditDirectory) -> None:
    """Drawn from the very tables that are printed."""
    figures = audit_figures(read_audit_findings(reported))

    assert set(figures) == {
        "gaps", "radius", "intervals", "budget", "power", "detection", "relabelling", "mismatch",
        "control-leak-effects", "control-leak-groups", "control-leak-first-option", "control-leak-detectors",
    }  # fmt: skip
    assert "seed 0: public forms: +100.0 points" in figures["control-leak-effects"].panels[0].description
    assert "visible gap" in figures["control-leak-effects"].panels[0].description
    assert figures["control-leak-first-option"].table.withheld == "no parent of the bank is a choice"
    assert figures["budget"].panels == ()  # answers that are all alike have no half-width to draw
    assert "answers enough forms right" in (figures["mismatch"].table.withheld or "")
    assert "points every second time" in figures["power"].panels[0].description


def test_two_controls_of_a_kind_are_shown_together(tmp_path: Path) -> None:
    """With their own command; a control more changes nothing that was entered."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path), a_control())
    assert read_audit_findings(directory).pooled is None
    a_spoken_control(directory, a_control().model_copy(update={"name": "again"}))
    findings = read_audit_findings(directory)
    write_audit_report(findings)
    page, twin = twins(directory)

    assert "exact, 2 controls: public forms: +100.0 points" in audit_figures(findings)["pooled"].panels[0].description
    assert "## Positive controls together" in twin
    assert "made by `leakscale audit pool audit`" in twin
    assert "The controls together" in page
    assert page.count("leakscale audit pool audit") >= 3


def test_every_figure_of_the_audit_is_on_its_page(reported: AuditDirectory) -> None:
    """One that was drawn and left out of the template went unseen."""
    page, _ = twins(reported)
    shown = re.findall(r'<figure id="figure-([^"]+)"', page)

    assert set(shown) == set(audit_figures(read_audit_findings(reported)))
    assert len(shown) == len(set(shown))


def test_the_relabelling_test_is_never_said_to_find_an_advantage(reported: AuditDirectory) -> None:
    """The paper took that reading back: CleanScore 7.10."""
    figures = audit_figures(read_audit_findings(reported))
    page, twin = twins(reported)

    assert "level" in figures["relabelling"].panels[0].description
    assert "A rejection is no detection" in figures["relabelling"].caption
    assert "never announces an advantage" in figures["mismatch"].caption
    assert "nothing is announced: mismatch alone does that too" in page
    assert "no exposure and no form mismatch" in twin


def test_several_controls_stand_beside_each_other(tmp_path: Path) -> None:
    """Where each leak landed, arm by arm; one that planted nothing says so and is not left out."""
    directory = a_word_problem_audit(tmp_path)
    a_spoken_control(directory, a_control())
    a_spoken_control(directory, a_control(exposure={"kind": "paraphrase"}).model_copy(update={"name": "rewording"}))
    forgetful = a_control(exposure={"seed": 1}).model_copy(update={"name": "forgotten"})
    a_spoken_control(directory, forgetful, learns=False)
    findings = read_audit_findings(directory)
    figure = audit_figures(findings)["controls"]
    _, twin = write_audit_report(findings)
    landed = {(row.control, row.arm): row for row in figure.table.rows}

    assert landed["leak", "public forms"].effect.estimate == 1
    assert landed["leak", "fresh forms"].effect.estimate == 0
    assert landed["leak", "visible gap"].effect.estimate == 1
    assert landed["rewording", "leaked forms"].effect.estimate == 1
    assert landed["rewording", "public forms"].effect.estimate == 0
    assert {row.manipulation for row in figure.table.rows if row.control == "forgotten"} == {
        "failed: nothing was planted"
    }
    assert figure.panels[0].description.count("failed: nothing was planted") == 1
    assert "Where the leak of each positive control landed" in twin.read_text(encoding="utf-8")
    assert "controls" not in audit_figures(replace(findings, controls=findings.controls[:1]))


@pytest.mark.browser
def test_the_pull_of_the_first_option_is_drawn_where_options_are_ranked(tmp_path: Path) -> None:
    """A bar a group and form, a mark at what is right; long words of its labels are not cut."""
    program = browser_program()
    assert program is not None
    directory = a_spoken_control(a_choice_audit(tmp_path), a_control(mixture={"record_count": 6}))
    findings = read_audit_findings(directory)
    (panel,) = audit_figures(findings)["control-leak-first-option"].panels
    page, _ = write_audit_report(findings)

    assert panel.description.count(" % of 4") == 4
    with Browser(program, tmp_path / "browser") as browser:
        assert faults_of(browser.look(page, width=380, theme="light")) == {}


def test_scores_that_were_changed_make_no_report(tmp_path: Path) -> None:
    """A page cannot be better than its files."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path), a_control())
    scores = directory.scores("tiny", bank=BankRole.AUDIT)
    scores.write_bytes(scores.read_bytes().replace(b'"original":0.0', b'"original":1.0', 1))
    with pytest.raises(IntegrityError, match="is not the one that the ledger names"):
        read_audit_findings(directory)


def test_an_audit_without_control_bank_and_control_says_what_it_cannot_say(tmp_path: Path) -> None:
    """No claim can fire, and nobody knows whether it would have seen a leak."""
    directory = locked_audit(tmp_path, plan=ONE)
    with pytest.raises(PreconditionError, match="has no scores"):
        read_audit_findings(directory)
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 1."))
    findings = read_audit_findings(directory)
    page = render_audit_report(findings)

    assert finding(findings) == "One gap measured; without a control bank no advantage can be claimed"
    assert "No positive control was run to its end: whether this audit would have seen a leak is not shown." in page


def test_an_amendment_stands_beside_what_was_registered(tmp_path: Path) -> None:
    """Its reason, what had been seen by then, and its own numbers."""
    from leakscale.audit.analysis import analyze_audit

    directory = locked_audit(tmp_path, plan=ONE)
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 1."))
    amend_audit(directory, changes={"decoding.token_count_max": 1024}, reason="answers were cut off")
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 2."), variant="amendment-1")
    analyze_audit(directory, variant="amendment-1")
    write_audit_report(read_audit_findings(directory))
    page, twin = twins(directory)

    assert "answers were cut off" in page
    assert "## Amendment 1: answers were cut off" in twin
    assert "analysis/amendment-1/3-advantage.csv" in page
    assert re.search(r"made by `leakscale audit analyze \S+ --variant amendment-1`", twin)
    assert re.search(r"\| leakscale audit answer \S+ --variant amendment-1 \|", twin)
    assert twin.index("analysis/registered/3-advantage.csv") < twin.index("analysis/amendment-1/3-advantage.csv")


def test_a_reason_forges_no_line_of_a_report(tmp_path: Path) -> None:
    """It is somebody's text: a heading of its own, a tag or a turned line would be taken for the report's."""
    directory = locked_audit(tmp_path, plan=ONE)
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 1."))
    reason = "x\n\n# No advantage, says NASA\n<b>\u202ebold [link](http://example.org)"
    amend_audit(directory, changes={"inference.rho": 0.05}, reason=reason)
    write_audit_report(read_audit_findings(directory))
    page, twin = twins(directory)
    outcome = CliRunner().invoke(
        app, ["audit", "show", str(directory.root)], obj=Shell(console=Console(), server="", token=None)
    )

    assert "says NASA" in twin
    assert "says NASA" in page
    for text in (twin, outcome.stdout):
        assert not re.search(r"^# No advantage, says", text, re.MULTILINE)
        assert "\u202e" not in text
    assert "\\<b\\>" in twin
    assert "\\[link\\](http" in twin
    assert "<b>\u202e" not in page
    assert "\u202e" not in page


def test_the_figure_of_gaps_brings_every_number_that_it_draws(reported: AuditDirectory) -> None:
    """Gap, control bank's gap and what may be owed to exposure, each with its bounds."""
    figure = audit_figures(read_audit_findings(reported))["gaps"]
    (row,) = figure.table.rows
    columns = figure.table.to_csv().splitlines()[0].split(",")

    assert {"gap_low", "control_gap", "control_gap_high", "exposure", "exposure_low"} <= set(columns)
    assert f"{100 * row.control_gap.estimate:.1f} points" in figure.panels[0].description


def test_opened_tables_do_not_repeat_their_title_and_their_notes_show_code(reported: AuditDirectory) -> None:
    """The title is in the line that opens them; backticks are Markdown's."""
    page, _ = twins(reported)
    opened = re.findall(r"<details><summary>(Table [^<]+)</summary>(.*?)</details>", page, re.DOTALL)

    assert opened
    assert not any(f"<caption>{title}" in body for title, body in opened)
    assert "<code>fixed</code> alone" in page
    assert not re.search(r"<caption>[^<]*`", page)


def test_a_control_that_was_not_finished_is_told(tmp_path: Path) -> None:
    """Whoever registers three and finishes the best one reports all three."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path), a_control())
    a_begun_control(directory, a_control().model_copy(update={"name": "worse"}), states=["base", "worse-seed-0"])
    write_audit_report(read_audit_findings(directory))
    page, twin = twins(directory)

    assert "<b>Control worse</b>, registered" in page
    for text in (page, twin):
        assert "not finished: of its 3 states, worse-null have no scores" in text


def test_a_control_that_was_asked_to_its_end_is_reported_with_its_numbers(tmp_path: Path) -> None:
    """Not to compute them would leave out what was seen."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path), a_control())
    a_begun_control(
        directory, a_control().model_copy(update={"name": "other"}), states=["base", "other-seed-0", "other-null"]
    )
    findings = read_audit_findings(directory)

    assert [each.control.name for each in findings.controls] == ["leak", "other"]
    assert not findings.open_controls


def test_what_became_of_an_amendment_is_told_by_the_ledger(tmp_path: Path) -> None:
    """One that was answered and never analyzed has been seen."""
    directory = locked_audit(tmp_path, plan=ONE)
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 1."))
    for count in (1024, 2048):
        amend_audit(directory, changes={"decoding.token_count_max": count}, reason=f"up to {count}")
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 2."), variant="amendment-1")
    write_audit_report(read_audit_findings(directory))

    for text in twins(directory):
        assert "3 files of its scores are entered, and it was not analyzed" in text
        assert "never answered" in text


def test_what_an_import_overlooked_stands_in_the_report(tmp_path: Path) -> None:
    """The reader of a gap has to know that prompts were not compared."""
    directory = an_audit(tmp_path, plan=ONE.replace('revision = "1"', 'revision = "1"\nengine = "log"'))
    lock_audit(directory, now=NOW)
    trusting = ImportOptions(are_prompts_trusted=True)
    import_into_audit(directory, "tiny", log_of(directory, BankRole.AUDIT), BY_HAND, options=trusting)
    write_audit_report(read_audit_findings(directory))

    made_by = {row.file: row.made_by.split()[2] for row in read_audit_findings(directory).files.rows}
    assert made_by["scores/registered/audit/tiny.base.correct.import.json"] == "import"
    page, twin = twins(directory)
    assert "was fixed before a score existed" not in page
    for text in (page, twin):
        assert "scores/registered/audit/tiny.base.correct.jsonl" in text
        assert "the prompts of a parent" in text
        assert "were not compared" in text


def test_the_verb_writes_page_twin_and_figures(reported: AuditDirectory, tmp_path: Path) -> None:
    """One command."""
    shell = Shell(console=Console(), server="", token=None)
    arguments = ["audit", "report", str(reported.root), "--figures", str(tmp_path / "figures")]
    outcome = CliRunner().invoke(app, arguments, obj=shell)

    assert outcome.exit_code == 0, outcome.output
    assert "report.html" in outcome.stdout
    assert {"gaps.svg", "gaps.pdf", "gaps.csv"} <= {path.name for path in (tmp_path / "figures").iterdir()}


@pytest.mark.browser
def test_a_browser_finds_no_fault_with_the_page(reported: AuditDirectory, tmp_path: Path) -> None:
    """Wide and narrow, light and dark: nothing cut, nothing pale, nothing fetched."""
    program = browser_program()
    assert program is not None
    with Browser(program, tmp_path) as browser:
        for width, theme in ((1100, "light"), (380, "dark")):
            assert faults_of(browser.look(reported.report, width=width, theme=theme)) == {}


def test_a_reason_adds_no_line_of_its_own(tmp_path: Path) -> None:
    """Nor a heading that says another finding, nor a link."""
    directory = locked_audit(tmp_path, plan=ONE)
    answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 1."))
    reason = "cut off\n\n# No advantage\n\n[see](https://example.org)"
    amend_audit(directory, changes={"decoding.token_count_max": 1024}, reason=reason)
    write_audit_report(read_audit_findings(directory))
    _, twin = twins(directory)

    assert "\n# No advantage" not in twin
    assert r"cut off \# No advantage \[see\](https://example.org)" in twin
