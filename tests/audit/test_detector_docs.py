"""The table of the detectors' page is that of the numbers beside it, and its controls are plans that load."""

from __future__ import annotations

import csv
from pathlib import Path

from leakscale.audit.controls.plan import load_control

DOCS = Path(__file__).parents[2] / "docs"
DOSES = ("light", "middle", "exact")
NAMES = {
    "Clean-Eval-style (public less fresh score)": "Clean-Eval-style (score)",
    "PaCoST-style (confidence of its own answers)": "PaCoST-style (confidence)",
    "Min-20 %, public less fresh": "Min-20 %",
    "perplexity, public less fresh": "perplexity",
}


def found(dose: str) -> dict[str, dict[str, str]]:
    """Return the rows of a dose's leak by detector."""
    with (DOCS / "detectors" / f"{dose}.csv").open(encoding="utf-8", newline="") as file:
        return {row["detector"]: row for row in csv.DictReader(file) if row["run"] == "seed 0"}


def test_the_page_shows_the_numbers_beside_it() -> None:
    """Rounded to two places, to whole percents."""
    lines = (DOCS / "detectors.md").read_text(encoding="utf-8").splitlines()
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|") and line.rstrip("|").strip().endswith("%")
    ]
    assert len(shown) == 6
    for name, *cells in shown:
        rows = [found(dose)[NAMES.get(name, name)] for dose in DOSES]
        tracks = [f"{float(row['tracks']):.2f}".replace("0.", ".").replace("-", "\u2212") for row in rows]
        finds = [f"{100 * float(row['finds_exposed']):.0f} %" for row in rows]
        assert cells == tracks + finds, name


def test_the_smaller_doses_are_controls_of_the_demo() -> None:
    """They differ from its own in passes alone, and run no null run of their own."""
    light, middle = (load_control(DOCS / "detectors" / f"{name}.toml") for name in ("light", "middle"))
    exact = load_control(DOCS.parent / "studies" / "audit-demo" / "exact.toml")

    assert [each.training.pass_count for each in (light, middle, exact)] == [20, 32, 50]
    assert light.exposure == middle.exposure == exact.exposure
    assert light.mixture == middle.mixture == exact.mixture


def test_the_leaks_beside_each_other_are_those_of_the_table() -> None:
    """The dose that a column is headed with is the effect that the figure shows."""
    with (DOCS / "detectors" / "controls.csv").open(encoding="utf-8", newline="") as file:
        effects = {(row["control"], row["arm"]): float(row["effect"]) for row in csv.DictReader(file)}
    doses = [round(100 * effects[dose, "public forms"]) for dose in DOSES]
    page = (DOCS / "detectors.md").read_text(encoding="utf-8")

    assert "| detector | tracks +{} | +{} | +{} |".format(*doses) in page
    assert "![" in page.split("](detectors/controls.svg)")[0]
    for dose in DOSES:
        visible = effects[dose, "public forms"] - effects[dose, "fresh forms"]
        assert abs(effects[dose, "visible gap"] - visible) < 1e-12
