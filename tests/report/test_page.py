"""The skeleton that every report is printed on: what it shows, to whom, and what it never does."""

from __future__ import annotations

import base64
import importlib.util
import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.report.page import PageFigure, Panel, color, render_page, typographic, write_figures, write_page
from leakscale.report.page.palette import DARK, LIGHT, PRINT, contrast, css_color
from leakscale.tables import TableHead

from .browser import Browser, Look, browser_program, faults_of, looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = TableHead("7", "budget", "Precision")
HOSTILE = "</style><script>alert(1)</script>"


@dataclass(frozen=True)
class Row:
    budget: str
    effect: float


def draw(figure: Figure) -> None:
    """Two points on a line, one of them below zero."""
    axes = figure.subplots()
    axes.plot([1, 2], [-3, 7], "o-", color=color("warm"))
    axes.text(1.5, 2, "words", color=color("cool"))
    axes.axhspan(-3, -2, color=color("cool", 0.8))
    axes.grid()


def a_figure(name: str = "budget", *, withheld: str | None = None) -> PageFigure:
    """Build a figure of two pictures, or one that is withheld."""
    table = HEAD.filled([Row("50", -0.031), Row("100", 0.0725)]) if withheld is None else HEAD.withheld(withheld)
    panels = [Panel(part, f"Precision, {part}", "50: -3.1 points", draw, 200) for part in ("sql", "python")]
    return PageFigure(name, "Precision", "By budget.", table, () if withheld else tuple(panels), "make sample")


def a_page(*figures: PageFigure, finding: str = "It moved by -3.1 points.") -> str:
    """Render the sample report."""
    contents = {"shown": "What is shown", "rerun": "Run it again"}
    return render_page(
        "tests.report", "sample.html.j2", contents=contents, finding=finding, figures=figures or (a_figure(),)
    )


def test_a_figure_brings_its_numbers_as_a_table_as_a_file_and_the_command_that_makes_it() -> None:
    """Who doubts a picture must be able to redo it."""
    page = a_page()

    found = re.search(r'<a download="budget.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)">', page)
    assert found is not None
    assert base64.b64decode(found[1]).decode() == "budget,effect\n50,-0.031\n100,0.0725\n"
    assert "<code>make sample</code>" in page
    assert '<th scope="row">100</th><td>+7.25</td>' in page
    assert page.count('role="img"') == 2


def test_a_withheld_figure_says_why_and_has_no_picture() -> None:
    """An empty place would read as a fault of the report, or as nothing found."""
    page = a_page(a_figure(withheld="the edition is private"))

    assert "<b>Withheld.</b> The edition is private." in page
    assert "<svg" not in page


def test_a_page_can_be_used_without_seeing_it_and_without_a_mouse() -> None:
    """Landmarks, one first heading, a skip link, links that lead somewhere, tables that say what heads them."""
    page = a_page()
    anchors = re.findall(r'href="#([\w-]+)"', page)

    assert all(f"<{landmark}" in page for landmark in ("main", "nav", "header", "footer"))
    assert page.count("<h1>") == 1
    assert anchors[:3] == ["finding", "shown", "rerun"]
    assert all(f'id="{anchor}"' in page for anchor in anchors)
    assert page.index('class="skip"') < page.index("<header>")
    assert ":focus-visible { outline:" in page
    assert not re.search(r"<th(?![^>]* scope=)[ >]", page)
    for spoken in re.findall(r'aria-labelledby="([^"]+)"', page):
        assert all(f'id="{each}"' in page for each in spoken.split())


def test_a_page_runs_nothing_and_asks_for_nothing() -> None:
    """It must read the same in ten years, offline, and a name from outside must not become a program."""
    page = a_page(a_figure(withheld=HOSTILE), finding=HOSTILE)

    assert "<script" not in page
    assert page.count("</style>") == 1
    assert not re.search(r"<link|<img|<iframe|\bsrc=|url\((?!#)|@import|https?://", page)
    assert not re.search(r'\bhref="(?!#|data:text/csv;)', page)
    assert "default-src 'none'" in page


def test_the_same_figures_give_the_same_bytes(tmp_path: Path) -> None:
    """A report is part of the evidence; a second one must compare equal, down to its PDF."""
    first, second = (write_figures(tmp_path / name, [a_figure()]) for name in ("a", "b"))

    assert a_page() == a_page()
    assert [path.name for path in first] == [
        "budget.csv", "budget-sql.svg", "budget-sql.pdf", "budget-python.svg", "budget-python.pdf",
    ]  # fmt: skip
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_figures_overwrite_nothing(tmp_path: Path) -> None:
    """Yesterday's figures may be in a paper already."""
    write_figures(tmp_path / "figures", [a_figure()])
    again = write_figures(tmp_path / "figures", [a_figure()])

    assert all(path.is_file() for path in again)
    with pytest.raises(ConflictError, match="holds something else than these figures"):
        write_figures(tmp_path / "figures", [a_figure("other")])


def test_a_figure_as_a_file_stands_alone(tmp_path: Path) -> None:
    """It has its own colors and font, and says what it shows to whoever does not see it."""
    path = next(path for path in write_figures(tmp_path / "f", [a_figure()]) if path.suffix == ".svg")
    root = ET.fromstring(path.read_text())

    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "words" in words
    assert [child.text for child in root][:2] == ["Precision: Precision, sql", "50: -3.1 points"]
    assert "var(--" not in path.read_text()
    assert "system-ui" in path.read_text()


def test_a_figure_on_a_page_takes_the_colors_of_the_page() -> None:
    """One drawing serves light, dark and print."""
    page = a_page()
    drawn = page[page.index("<svg") : page.rindex("</svg>")]

    assert "var(--warm)" in drawn
    assert "color-mix(in srgb, var(--cool) 80%, var(--paper))" in drawn
    assert not re.search(r"#[0-9a-f]{6}\b", drawn)
    assert css_color("#123456") is None


@pytest.mark.parametrize("theme", [LIGHT, DARK, PRINT], ids=["light", "dark", "print"])
def test_every_text_stands_out_from_what_is_behind_it(theme: dict[str, str]) -> None:
    """4.5 is what WCAG 2.2 asks of text; for a word of a figure as for a paragraph."""
    for role, ground in itertools.product(("ink", "muted", "cool", "warm", "good"), ("paper", "card")):
        assert contrast(theme[role], theme[ground]) >= 4.5, (role, ground)
    assert contrast("#ffffff", "#000000") == pytest.approx(21)


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_report_that_cannot_be_made_says_what_to_install(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """A study asks this before it trains for hours."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))

    with pytest.raises(InvalidRequestError, match=rf"needs {package}; run `pip install 'leakscale\[report\]'`"):
        a_page()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("by -3.1 (-5.0 to -1.2)", "by \u22123.1 (\u22125.0 to \u22121.2)"),
        ("95 % of Gemma-4-31B in 2026-11-30", "95\u00a0% of Gemma-4-31B in 2026-11-30"),
    ],
)
def test_only_a_negative_number_gets_a_minus_sign(words: str, shown: str) -> None:
    """A name with a hyphen must stay one that can be searched for."""
    assert typographic(words) == shown


@pytest.mark.browser
def test_a_browser_shows_the_skeleton_whole_on_a_phone_and_on_a_desk_in_both_themes(tmp_path: Path) -> None:
    """What no look at the source can tell: widths, fonts, and what the browser itself complains about."""
    page = write_page(tmp_path / "page.html", a_page(a_figure(), a_figure("again", withheld="it is too early")))

    seen: dict[str, Any] = dict(looks(page, tmp_path / "browser"))

    assert list(seen) == ["400-light", "400-dark", "1400-light", "1400-dark"]
    assert {name: faults_of(look) for name, look in seen.items()} == {name: {} for name in seen}
    assert seen["400-light"].screenshot != seen["400-dark"].screenshot


@pytest.mark.browser
def test_the_look_of_the_browser_finds_what_is_wrong(tmp_path: Path) -> None:
    """A check that cannot fail would pass every page."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<!doctype html><body><img src='http://127.0.0.1:9/x.png'><p style='width: 3000px'>wide \U000f1234</p>"
        "<p style='color: #aaa'>pale</p><p id=a></p><p id=a></p>"
        "<svg viewBox='0 0 100 20' width=100><text x=90 y=10 font-size=4>cut words</text>"
        "<text x=90 y=10 font-size=4>over it</text></svg><script>console.error('no')</script>"
    )

    seen = dict(looks(page, tmp_path / "browser"))["400-light"]

    assert any("no" in each for each in seen.complaints)
    assert seen.requests == ("http://127.0.0.1:9/x.png",)
    assert seen.missing_glyphs == ("\U000f1234",)
    assert seen.overflow_px > 2000
    assert seen.wide_elements
    assert seen.smallest_letter_px == pytest.approx(4)
    assert "cut words" in seen.cut_letters
    assert seen.overlapping_letters == ("cut words | over it",)
    assert seen.duplicate_ids == ("a",)
    assert seen.pale_words == ("pale",)
    assert set(faults_of(seen)) == {name for name in Look.__slots__ if name != "screenshot"}


@pytest.mark.browser
def test_a_page_is_walked_through_by_keyboard_and_prints_dark_on_white(tmp_path: Path) -> None:
    """The skip link comes first and is seen while it has the focus; paper is white whatever the reader's theme."""
    program = browser_program()
    assert program is not None
    page = write_page(tmp_path / "page.html", a_page())

    with Browser(program, tmp_path / "browser") as browser:
        browser.look(page, width=800, theme="dark")
        first = browser.press_tab()
        left = browser.evaluate("document.activeElement.getBoundingClientRect().left")
        ring = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        stops = [browser.press_tab() for _ in range(6)]
        browser.ask("Emulation.setEmulatedMedia", media="print")
        printed = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        skipped = browser.evaluate("getComputedStyle(document.querySelector('nav')).display")

    assert (first[:15], left, ring) == ('<a class="skip"', 0, "solid")
    assert ["summary" in stop for stop in stops] == [False, False, True, False, False, False]
    assert [stop[:9] for stop in stops[:2]] == ['<a href="', '<a href="']
    assert 'class="scroll" tabindex="0" role="region"' in stops[3]
    assert 'download="budget.csv"' in stops[4]
    assert (printed, skipped) == ("rgb(255, 255, 255)", "none")
