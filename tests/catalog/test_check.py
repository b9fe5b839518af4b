"""What an author sees of a check: each candidate on each fixture, and why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.models import Ring
from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.catalog_check.check import (
    BrokenFile,
    FamilyCheck,
    check_construction,
    check_families,
    read_author_files,
)
from leakscale_server.catalog_check.excerpts import differing, excerpt
from leakscale_server.catalog_check.page import render_page, write_page
from leakscale_server.catalog_check.report import CheckReport, ShapeCheck
from leakscale_server.catalog_check.tables import Mark
from leakscale_server.catalog_check.terminal import report_lines
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.sandbox_pool import SandboxPool

from .builders import CATALOGS

MALFORMED = Path(__file__).parent / "malformed"


def checked(pool: SandboxPool, *paths: Path) -> CheckReport:
    files, broken = read_author_files(paths)
    if not files:
        return CheckReport(broken, (), (), "")
    recipe = practice_recipe(files, families_per_cell=4)
    families = check_families(recipe, pool)
    by_shape = [
        ShapeCheck(file, [each for each in families if each.proof.construction.slot.shape_id == file.shape.id])
        for file in files
    ]
    return CheckReport(broken, list(check_construction(recipe)), by_shape, pool.identity.backend)


def the_rejected(report: CheckReport) -> FamilyCheck:
    rejected = report.shapes[0].first_rejected
    assert rejected is not None
    return rejected


def text_of(report: CheckReport) -> str:
    return "\n".join(line.plain for line in report_lines(report))


@pytest.fixture(scope="module")
def honest(pool: SandboxPool) -> CheckReport:
    return checked(pool, CATALOGS / "sql" / "threshold.toml", CATALOGS / "python" / "nested-update.toml")


def test_the_right_candidate_passes_every_fixture_in_every_ring(honest: CheckReport) -> None:
    """And each other one fails at least a quarter: this is what a certificate is about."""
    families = [family for shape in honest.shapes for family in shape.families]

    assert honest.holds
    assert len(families) == 16
    for table in (table for family in families for table in family.tables):
        [right] = [row for row in table.rows if row.is_right]
        wrong = [row.passed_count for row in table.rows if not row.is_right]
        assert right.passed_count == len(right.cells)
        assert max(wrong) <= len(right.cells) * 3 // 4


def test_a_failure_shows_both_outputs_where_they_part(honest: CheckReport) -> None:
    family = honest.shapes[0].families[0]
    cells = [cell for row in family.tables[0].rows for cell in row.cells if cell.mark is Mark.FAIL]

    assert cells
    assert all(cell.expected != cell.got for cell in cells)
    assert all(cell.got.startswith(("[", "…")) for cell in cells)
    assert max(len(cell.got) for cell in cells) <= 66


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ties-in-the-order", ["first pass: ", "second pass: "]),
        ("rewording-that-differs", ["R0: ", "R1: "]),
        ("first-name-in-the-alphabet", ["R0: ", "R2: "]),
        ("output-that-differs", ["stated: ", "returned: "]),
        ("order-of-two-texts", ["first pass: ", "second pass: "]),
    ],
)
def test_a_rejection_shows_the_two_results_that_should_have_been_one(
    pool: SandboxPool, name: str, words: list[str]
) -> None:
    """A place alone, candidate 2 on fixture 5, sends the author to a debugger."""
    reason, *sides = the_rejected(checked(pool, MALFORMED / f"{name}.toml")).reasons

    assert re.match(r"[A-Z_]+: ", reason)
    assert [side[: len(word)] for side, word in zip(sides, words, strict=True)] == words
    assert sides[0].removeprefix(words[0]) != sides[1].removeprefix(words[1])


def test_a_rewording_is_held_against_what_r0_expects(pool: SandboxPool) -> None:
    """Against its own outputs, the right candidate would look right in R1, too."""
    family = the_rejected(checked(pool, MALFORMED / "rewording-that-differs.toml"))
    rights = {table.ring: next(row for row in table.rows if row.is_right) for table in family.tables}

    assert rights[Ring.R0].passed_count == rights[Ring.R2].passed_count == 8
    assert rights[Ring.R1].passed_count < 8


def test_how_a_program_ended_is_said(pool: SandboxPool) -> None:
    family = the_rejected(checked(pool, MALFORMED / "unknown-column.toml"))
    marks = {cell.mark for row in family.tables[0].rows for cell in row.cells}

    assert marks == {Mark.ENDED}
    assert "no such column: t.number" in family.tables[0].rows[0].cells[0].got
    assert {cell.mark for row in family.tables[2].rows for cell in row.cells} == {Mark.NOT_RUN}


def test_the_program_that_ended_a_pass_is_not_said_to_have_not_run(pool: SandboxPool) -> None:
    """Its neighbors did not run for it, and the author looks for the one cell that is to blame."""
    family = the_rejected(checked(pool, MALFORMED / "starts-a-thread.toml"))
    verdict = family.proof.verdict
    assert isinstance(verdict, Rejection) and verdict.candidate_position is not None
    cells = family.tables[0].rows[verdict.candidate_position].cells

    assert [cell.mark for cell in cells].count(Mark.ENDED) == 1
    assert "ended with a system call that the sandbox refuses" in cells[verdict.fixture_index or 0].got
    assert {cell.mark for table in family.tables for row in table.rows for cell in row.cells} == {
        Mark.ENDED,
        Mark.NOT_RUN,
    }


def test_what_has_nothing_to_be_held_against_is_not_called_wrong(pool: SandboxPool) -> None:
    """Where the right candidate does not return, the others and R1 have not failed: nobody knows what was expected."""
    family = the_rejected(checked(pool, MALFORMED / "fails-for-one-value.toml"))

    for table in family.tables:
        marks = {row.is_right: {cell.mark for cell in row.cells} for row in table.rows}
        assert marks == {True: {Mark.ENDED}, False: {Mark.NOT_HELD}}
    assert family.tables[0].rows[1].cells[0].expected == "nothing: the right candidate ended with ValueError"


def test_the_terminal_shows_a_table_of_what_is_rejected(pool: SandboxPool) -> None:
    text = text_of(checked(pool, MALFORMED / "differs-on-one-of-eight.toml"))

    assert "WEAK_ALTERNATIVE: candidates 10 and 25 give the same result on 7 of 8 fixtures" in text
    assert re.search(r"^  \d 25 +(  [✓✗]){8}   7 of 8$|^  \d 10 +(  [✓✗]){8}   7 of 8$", text, re.MULTILINE)
    assert text.endswith("a rule is broken")


def test_tables_that_are_alike_are_shown_once(honest: CheckReport) -> None:
    """Three equal tables would hide the one that is not."""
    text = text_of(CheckReport((), (), honest.shapes[:1], "bubblewrap"))

    assert text.count("R0 = R1 = R2") == 1
    assert "sql-threshold: 8 of 8 families certified" in text
    assert text.endswith("every rule is kept")


def test_the_page_needs_no_other_file_and_shows_every_ring(honest: CheckReport, tmp_path: Path) -> None:
    path = tmp_path / "check.html"
    write_page(path, honest)
    page = path.read_text(encoding="utf-8")

    assert page == render_page(honest)
    assert not re.search(r"(?:src|href)=|url\(|@import|<script", page)
    assert page.count("<caption>R2</caption>") == 16
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_shows_markup_of_an_author_as_text(pool: SandboxPool, tmp_path: Path) -> None:
    """Values, titles and messages are the author's; opened in a browser, they must stay letters."""
    text = (CATALOGS / "python" / "equal.toml").read_text(encoding="utf-8")
    lines = ['title = "<script>alert(1)</script>"' if line.startswith("title") else line for line in text.split("\n")]
    pool_line = next(place for place, line in enumerate(lines) if line.startswith("pool"))
    lines[pool_line] = r"""pool = ['"<b>bold</b>"', '"<i>"', '"&amp;"', '"\""']"""
    path = tmp_path / "equal.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    page = render_page(checked(pool, path))

    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search(r"<script|<b>bold|<i>", page)


def test_a_file_that_breaks_the_format_does_not_hide_the_others(pool: SandboxPool) -> None:
    report = checked(pool, MALFORMED / "wrong-type.toml", CATALOGS / "sql" / "threshold.toml")

    assert [broken.source for broken in report.broken] == [str(MALFORMED / "wrong-type.toml")]
    assert report.shapes[0].certified_count == 8
    assert not report.holds
    assert "must be an integer; got '40'" in text_of(report).split("\n")[0]


def test_a_shape_that_repeats_another_is_not_called_right(pool: SandboxPool, tmp_path: Path) -> None:
    """Each family of it is certified, and yet one of the two files has to change: a tick would say that none has."""
    twin = tmp_path / "twin.toml"
    text = (CATALOGS / "sql" / "threshold.toml").read_text(encoding="utf-8")
    twin.write_text(text.replace('id = "sql-threshold"', 'id = "sql-twin"'), encoding="utf-8")
    report = checked(pool, CATALOGS / "sql" / "threshold.toml", twin, CATALOGS / "sql" / "equality.toml")

    assert [shape.certified_count for shape in report.shapes] == [8, 8, 8]
    assert [report.is_kept(shape) for shape in report.shapes] == [False, False, True]
    assert "✗ sql-twin: 8 of 8 families certified, and yet it cannot stay: see structures above" in text_of(report)
    assert '<span class="fail">✗</span> sql-twin' in render_page(report)


@pytest.mark.parametrize(
    "name", ["candidate-in-task", "key-in-task", "mutated-input", "prompt-too-long", "rewording-of-one-structure"]
)
def test_what_certification_refuses_has_no_tick(pool: SandboxPool, name: str) -> None:
    """A tick beside the shape is what an author looks at."""
    report = checked(pool, MALFORMED / f"{name}.toml")

    assert report.shapes[0].certified_count == 0
    assert not report.is_kept(report.shapes[0])
    assert the_rejected(report).reasons[0].split(":")[0] in text_of(report)


def test_two_files_of_one_id_are_told_apart() -> None:
    """Their families would be the same slots of an edition."""
    path = CATALOGS / "sql" / "threshold.toml"
    files, broken = read_author_files([path, path])

    assert len(files) == 1
    assert broken == [BrokenFile(str(path), f"{path}: id: must be its own; {path} has 'sql-threshold'")]


def test_a_report_as_json_says_what_the_page_says(honest: CheckReport) -> None:
    told = honest.to_json()
    family = told["shapes"][0]["families"][0]

    assert told["holds"]
    assert {each["invariant"] for each in told["invariants"]} >= {"structures", "names", "prompts"}
    assert all(shape["holds"] for shape in told["shapes"])
    assert list(family["rings"]) == [ring.value for ring in Ring]
    assert [row["passed_count"] for row in family["rings"]["R0"] if row["is_right"]] == [8]


@given(st.text(), st.text(), st.integers(8, 40))
def test_excerpts_of_different_texts_differ(one: str, other: str, width: int) -> None:
    """Two equal excerpts of unequal outputs would call a failure a riddle."""
    first, second = differing(one, other, width=width)

    assert (first == second) == (one == other)
    assert max(len(first), len(second)) <= width + 2


@given(st.text(min_size=60, alphabet="abc"), st.integers(0, 59))
def test_excerpts_show_the_first_difference_however_far_it_is(text: str, place: int) -> None:
    changed = text[:place] + "X" + text[place + 1 :]
    first, second = differing(text, changed, width=40)

    assert first != second
    assert "X" in second


@given(st.text(max_size=40))
def test_a_short_text_is_its_own_excerpt(text: str) -> None:
    assert excerpt(text, width=40) == text
