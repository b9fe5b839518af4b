"""The figures of a study's report: what they are made of, what they say, and that they hold at every extreme."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.cases import a_plan, a_small_experiment, rows_of

from leakscale.analysis import Analysis, ReleasePolicy, ResultTable, analyze_results
from leakscale.evidence.steps import Status, Step
from leakscale.models import Condition, Domain, Ring
from leakscale.report import study_figures, write_figures
from leakscale.report.figures.canvas import nice_step, spread
from leakscale.report.figures.forest import ForestRow, forest_panel
from leakscale.report.figures.shapes import STRONGEST
from leakscale.report.figures.trajectories import trajectory_panels
from leakscale.report.html import render_report
from leakscale.report.page import PageFigure, write_page
from leakscale.report.page.palette import DARK, LIGHT, PRINT, contrast, mixed
from leakscale.report.view import Arm, Block, Count
from leakscale.report.words import percent, points
from leakscale.results import CohortNumbers, Crossed, Estimate
from leakscale.stats import Interval, IntervalState

from .browser import faults_of, looks
from .payloads import a_provenance, findings_of
from .test_html import a_disclosure

NAMES = [
    "effects", "changes", "trajectories", "crossed", "families", "shapes-sql", "shapes-python", "strata", "doses",
    "rings", "choices",
]  # fmt: skip


def at_two_strengths(table: ResultTable) -> ResultTable:
    """Answer every adapted case at half strength too, where half of the right draws are wrong again."""
    adapted = table.state.codes == table.state.names.index("adapted")
    half = rows_of(table, adapted)
    half = replace(half, correct=half.correct * (half.draw % 2 if half.draw is not None else 1))
    columns: dict[str, Any] = {}
    for name in table.__dataclass_fields__:
        first, second = getattr(table, name), getattr(half, name)
        if hasattr(first, "codes"):
            columns[name] = replace(first, codes=np.concatenate([first.codes, second.codes]))
        elif first is not None:
            columns[name] = np.concatenate([first, second])
    strength = np.where(adapted, 1.0, 0.0)
    return replace(ResultTable(**columns), strength=np.concatenate([strength, np.full(len(half.correct), 0.5)]))


@cache
def an_analysis(*, edition_kind: str = "practice") -> Analysis:
    """Analyze two models, two rings and two strengths."""
    table = at_two_strengths(a_small_experiment(transfer=0.5, with_probabilities=True).table)
    plan = a_plan(strength=1.0, resample_count=200)
    return analyze_results(table, plan, policy=ReleasePolicy(edition_kind))


def the_figures(analysis: Analysis | None = None) -> dict[str, PageFigure]:
    """Return the figures of the sample study, with other tables where some are given."""
    return study_figures(findings_of(a_disclosure(), a_provenance(), analysis=analysis))


def a_block(*, control: tuple[int, int], exposed: tuple[int, int]) -> Block:
    """Build a block of 100 draws a cell from its correct counts."""
    drift, change = ((after - before) / 100 for before, after in (control, exposed))
    arms = [
        Arm(condition, 10, Count(before, 100), Count(after, 100), Estimate(move, move - 0.05, move + 0.05))
        for condition, (before, after), move in ((Condition.C0, control, drift), (Condition.C2, exposed, change))
    ]
    effect = change - drift
    return Block("SQL", arms[0], arms[1], Estimate(effect, effect - 0.07, effect + 0.07))


def an_interval(value: float, half: float, state: IntervalState = IntervalState.ESTIMATED) -> Interval:
    return Interval(value, value - half, value + half, None, "percentile", 0.05, state)


def test_a_study_of_released_totals_has_every_figure_or_the_reason_why_not() -> None:
    """A figure that is silently missing reads as a question that nobody asked."""
    figures = the_figures()

    assert list(figures) == NAMES
    shown = {name for name, figure in figures.items() if figure.table.withheld is None}
    assert shown == {"effects", "changes", "trajectories"}
    for name in NAMES:
        assert bool(figures[name].panels) == (name in shown)
    assert figures["shapes-sql"].table.withheld is not None
    assert "no results by family here" in figures["shapes-sql"].table.withheld
    assert (figures["shapes-sql"].absence, figures["doses"].absence) == ("Not here yet", "Not in this study")


def test_means_and_contrasts_need_more_than_one_cell() -> None:
    """Of two domains, the mean and the difference are shown; of one, the reason why neither is."""
    both = Crossed((Domain.PYTHON, Domain.SQL), Estimate(0.6, 0.5, 0.7), Estimate(-0.1, -0.2, 0.0))
    crossed = study_figures(findings_of(replace(a_disclosure(), crossed=both), a_provenance()))["crossed"]

    assert [row.of for row in crossed.table.rows] == ["all families pooled", "mean of all cells", "Python less SQL"]
    assert "nothing to average or to contrast" in str(the_figures()["crossed"].table.withheld)


def test_cohorts_have_a_figure_where_some_were_registered() -> None:
    """Most studies register none, and miss nothing."""
    effects = a_disclosure().effects
    cohorts = (CohortNumbers("c" * 63, ("a", "b"), (), effects, (), None),
               CohortNumbers("easy", ("a",), (), effects[:2], (), None))  # fmt: skip
    figure = study_figures(findings_of(replace(a_disclosure(), cohorts=cohorts), a_provenance()))["cohorts"]

    assert [(row.group[:4], row.of) for row in figure.table.rows] == [
        ("cccc", "All domains"), ("cccc", "SQL"), ("cccc", "Python"), ("easy", "SQL"),
    ]  # fmt: skip
    assert "cohorts" not in the_figures()


def test_results_by_family_fill_every_figure() -> None:
    """Two models, two domains, two rings, two strengths: nothing is left out."""
    figures = the_figures(an_analysis())

    assert all(figure.table.withheld is None and figure.panels for figure in figures.values())
    assert [row.of for row in figures["effects"].table.rows] == [
        "alpha, SQL", "alpha, Python", "beta, SQL", "beta, Python", "model mean: alpha", "model mean: beta",
        "domain mean: Python", "domain mean: SQL", "mean of all cells",
    ]  # fmt: skip
    assert figures["crossed"].table.rows[-1].of == "interaction: beta less alpha, Python less SQL"
    assert all(row.exact is not None for row in figures["effects"].table.rows)
    assert len(figures["doses"].panels) == len(figures["families"].panels) == 4
    assert "strength 0.5: effect" in figures["doses"].panels[0].description


def test_a_policy_that_withholds_families_withholds_their_figures_and_says_so() -> None:
    """The picture of a withheld table would be the table."""
    private = replace(a_disclosure(), edition_kind="private")
    findings = findings_of(private, a_provenance(), analysis=an_analysis(edition_kind="private"))
    figures, page = study_figures(findings), render_report(findings)

    for name in ("families", "shapes-sql", "shapes-python"):
        assert figures[name].panels == ()
        assert figures[name].table.rows == ()
    assert page.count("<b>Withheld.</b> The edition is private and not retired") >= 3


def test_every_picture_says_its_numbers_to_whoever_does_not_see_it(tmp_path: Path) -> None:
    """And every file is valid, and holds letters that can be copied."""
    figures = the_figures(an_analysis())

    for path in write_figures(tmp_path / "figures", figures.values()):
        if path.suffix == ".svg":
            root = ET.fromstring(path.read_text())
            spoken = next(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}desc"))
            assert re.search(r"\d", spoken), path.name
            assert list(root.iter("{http://www.w3.org/2000/svg}text")), path.name
            assert "nan" not in path.read_text()
    assert (tmp_path / "figures" / "shapes-sql.csv").read_text().count("\n") == 1 + 2 * 4


def test_the_axis_of_a_dose_response_holds_every_line_on_it(tmp_path: Path) -> None:
    """A control that drifts below the axis would look like one that went straight down."""
    figure = the_figures(an_analysis())["doses"]
    write_figures(tmp_path / "f", [figure])

    for panel in figure.panels:
        picture = ET.fromstring((tmp_path / "f" / f"{figure.file_stem(panel)}.svg").read_text())
        words = [element.text or "" for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        ticks = [float(word.replace("\u2212", "-")) for word in words if re.fullmatch("[+\u2212][0-9.]+", word)]
        model, domain = panel.title.split(", ")
        rows = [row for row in figure.table.rows if (row.model, row.domain) == (model, domain.lower())]
        shown = [100 * each for row in rows for each in (row.c0_drift, row.c2_change, row.effect.low, row.effect.high)]
        assert min(ticks) <= min(shown) < max(shown) <= max(ticks)


@pytest.mark.parametrize(
    ("control", "exposed"), [((25, 24), (25, 85)), ((0, 0), (0, 100)), ((100, 0), (100, 100)), ((25, 25), (25, 25))]
)
def test_trajectories_hold_at_every_extreme_of_the_data(
    control: tuple[int, int], exposed: tuple[int, int], tmp_path: Path
) -> None:
    """A figure that fails on a model at its ceiling fails when it matters."""
    block = a_block(control=control, exposed=exposed)
    (panel,) = trajectory_panels([block])
    figure = replace(the_figures()["trajectories"], panels=(panel,))

    picture = next(path for path in write_figures(tmp_path / "f", [figure]) if path.suffix == ".svg").read_text()

    assert points(block.effect.value).replace("-", "\u2212") in "".join(ET.fromstring(picture).itertext())
    assert "nan" not in picture


def test_an_interval_that_is_none_gets_no_whisker(tmp_path: Path) -> None:
    """Families that are all alike are no precision: a dot without a line, and the words say why."""
    rows = [
        ForestRow("", "alike", an_interval(0.1, 0, IntervalState.CONSTANT)),
        ForestRow("", "open", Interval(0.5, -math.inf, 0.7, None, "m", 0.05, IntervalState.UNBOUNDED)),
        ForestRow("", "a name that is far too long to stand beside its own interval", an_interval(-0.2, 0.1)),
    ]
    panel = forest_panel(rows, name="", title="t")
    figure = replace(the_figures()["effects"], panels=(panel,))

    picture = next(path for path in write_figures(tmp_path / "f", [figure]) if path.suffix == ".svg").read_text()

    words = "".join(ET.fromstring(picture).itertext())
    assert "+10.0 (no interval" in words
    assert "\u221220.0 (\u221230.0 to \u221210.0)" in words
    assert picture.count("LineCollection") > 0
    assert panel.height == forest_panel(rows[:2], name="", title="t").height + 42 + 16


@given(st.lists(st.floats(-226, 0), min_size=1, max_size=3))
def test_labels_never_overlap_and_keep_their_order(places: list[float]) -> None:
    """Two accuracies a tenth of a point apart are common; their labels must both be legible."""
    moved = spread(places, gap=17, highest=0)

    for (a, new_a), (b, new_b) in itertools.combinations(zip(places, moved, strict=True), 2):
        assert abs(new_a - new_b) >= 17 - 1e-9
        if a < b:
            assert new_a < new_b
    assert max(moved) <= 0


@given(st.floats(0.02, 400))
def test_axis_has_few_round_ticks(span: float) -> None:
    """Three to six intervals: fewer cannot be read off, more overlap on a phone."""
    step = nice_step(span)

    assert 2 <= span / step <= 5.01
    assert round(step / 10 ** math.floor(math.log10(step * 1.0001)), 6) in {1, 2, 2.5, 5}


@pytest.mark.parametrize("theme", [LIGHT, DARK, PRINT], ids=["light", "dark", "print"])
@pytest.mark.parametrize("role", ["warm", "cool"])
def test_a_number_stands_out_from_every_cell_of_a_heat_map(theme: dict[str, str], role: str) -> None:
    """4.5, as for any text: the strongest color must not swallow the largest value."""
    for step in range(21):
        assert contrast(theme["ink"], mixed(theme, role, STRONGEST * step / 20)) >= 4.5


@pytest.mark.parametrize(
    ("value", "words"), [(0.6094, "+60.9"), (-0.0004, "0.0"), (0.0, "0.0"), (-0.021, "-2.1"), (1.0, "+100.0")]
)
def test_points_carry_a_sign_only_when_they_have_one(value: float, words: str) -> None:
    """`-0.0 points` would claim a direction that the number does not have."""
    assert points(value) == words


def test_percent_has_no_sign() -> None:
    """A share is not a change."""
    assert percent(0.2512, digits=2) == "25.12"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (None, "nobody has checked it yet"),
        (
            (
                Step("manifest", Status.HOLDS, 3, "3 files"),
                Step("balance", Status.FAILS, 1, "1 cell", "line 3 of `plan.json`"),
                Step("leakage", Status.UNCHECKED, 0, "nothing", "no corpus"),
            ),
            "line 3 of <code>plan.json</code>",
        ),
    ],
)
def test_the_chain_of_evidence_is_a_checklist_of_what_was_verified(steps: tuple[Step, ...] | None, words: str) -> None:
    """What fails stands there as such; what nobody checked is not said to hold."""
    page = render_report(findings_of(a_disclosure(), a_provenance(), steps=steps))

    assert words in page
    for step in steps or ():
        assert re.search(rf'word">{step.status}</span>\s*<b>{step.name}</b> <span>{step.what}</span>', page)
    assert page.count('good word">holds') == (1 if steps else 0)
    assert ("Do not rely on this number." in page) == (steps is not None)
    assert ("<b>1 of 3</b><span>steps of the evidence hold</span>" in page) == (steps is not None)


@pytest.mark.browser
@pytest.mark.parametrize("has_results", [False, True], ids=["released", "by family"])
def test_a_browser_shows_the_whole_report_on_a_phone_and_on_a_desk_in_both_themes(
    tmp_path: Path, *, has_results: bool
) -> None:
    """No error, no request, no missing glyph, nothing wider than the window, no word cut or upon another."""
    analysis = an_analysis() if has_results else None
    page = write_page(
        tmp_path / "page.html", render_report(findings_of(a_disclosure(), a_provenance(), analysis=analysis))
    )

    for name, look in looks(page, tmp_path / "browser"):
        assert faults_of(look) == {}, name
        assert (look.overflow_px, look.wide_elements) == (0, ()), name
        assert look.cut_letters == look.overlapping_letters == (), name
        assert look.smallest_letter_px >= 10, name
        (tmp_path / f"{name}.png").write_bytes(look.screenshot)


def test_the_documents_name_every_figure() -> None:
    """`docs/report.md` is where people look for what a figure needs."""
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]

    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == {*NAMES, "cohorts"}


def test_the_rings_of_the_figure_stand_in_their_order() -> None:
    """R0 first: it is what the others are a share of."""
    rows = the_figures(an_analysis())["rings"].table.rows

    assert [row.of for row in rows[:2]] == ["R0 as leaked", "R1 reworded"]
    assert (rows[0].said, rows[1].said[:1]) == ("", "\u00d7")
    assert Ring.R0 < Ring.R1
