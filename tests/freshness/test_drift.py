"""An estimate repeated against a stored one: read, matched by family, shown beside contact and never mixed with it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.cases import a_small_experiment
from tests.report.browser import looks

from leakscale.analysis import ResultTable, write_results
from leakscale.analysis.synthetic import PlantedCell, plant_experiment
from leakscale.cli.entry import run
from leakscale.cli.exits import ExitCode
from leakscale.models import Domain

SCAN = {
    "edition": "editions/demo",
    "files": 3,
    "unread": [{"file": "a.gz", "reason": "broken"}],
    "evidence": {"hits": 9, "records": 4},
    "kinds": {"key": {"met": 2, "of": 64, "hits": 9, "records": 4}},
    "grants": [{"grant": "editions/demo/grants/g1", "markers": ["lsk-canary-00"]}],
}


def results(tmp_path: Path, name: str, *, effect: float, families: str = "") -> Path:
    """Write the results of one model with a planted effect; families of another version have other names."""
    planted = plant_experiment(
        [PlantedCell(name, domain, effect, 0.25, -0.03125, 0.25) for domain in Domain], shape_count=4, draw_count=8
    )
    table: ResultTable = planted.table
    if families:
        renamed = dataclasses.replace(table.family, names=tuple(f"{families}{each}" for each in table.family.names))
        table = dataclasses.replace(table, family=renamed)
    write_results(table, tmp_path / f"{name}.parquet")
    return tmp_path / f"{name}.parquet"


def drift(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command."""
    capsys.readouterr()
    code = run(["freshness", "drift", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_what_was_planted_comes_out_as_drift(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A quarter of a point more or less would be the analysis's own drift."""
    old, new = results(tmp_path, "old", effect=0.125), results(tmp_path, "new", effect=0.3125)

    code, out, _ = drift(capsys, old, new, "--seed", 3, "--resamples", 500, "--json")

    found = json.loads(out)
    assert code == ExitCode.OK
    assert [row["of"] for row in found["consequence"]["rows"]] == ["all domains", "python", "sql"]
    for row in found["consequence"]["rows"]:
        assert row["stored"]["estimate"] == pytest.approx(0.125)
        assert row["new"]["estimate"] == pytest.approx(0.3125)
        assert row["drift"]["estimate"] == pytest.approx(0.1875)
        assert row["drift"]["low"] > 0.1
        assert row["exact"]["method"] == "exact"
        assert row["families"].startswith("the same ")
    assert found["finding"].startswith("The exposure effect moved: +12.5 points for old, +31.2 for new, drift +18.8")
    assert found["contact"] is None


def test_another_version_of_the_benchmark_is_drawn_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No family answered both."""
    old = results(tmp_path, "old", effect=0.125)
    new = results(tmp_path, "new", effect=0.125, families="v2-")

    code, out, _ = drift(capsys, old, new, "--seed", 3, "--resamples", 500, "--json")

    found = json.loads(out)
    assert code == ExitCode.OK
    assert "none of both" in found["consequence"]["rows"][0]["families"]
    assert found["finding"].startswith("The exposure effect did not move beyond chance")


def test_contact_stands_beside_consequence_and_changes_no_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A corpus that holds the edition says nothing of what it did."""
    old, new = results(tmp_path, "old", effect=0.125), results(tmp_path, "new", effect=0.3125)
    (tmp_path / "scan.json").write_text(json.dumps(SCAN))
    plain = (old, new, "--seed", 3, "--resamples", 500)

    _, without, _ = drift(capsys, *plain, "--json")
    code, with_it, _ = drift(
        capsys, *plain, "--scan", tmp_path / "scan.json", "--output", tmp_path / "page.html", "--json"
    )

    assert code == ExitCode.OK
    one, other = json.loads(without), json.loads(with_it)
    assert one["consequence"] == other["consequence"]
    assert other["contact"] == SCAN
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index('id="consequence"') < page.index('id="contact"')
    assert "editions/demo/grants/g1" in page
    assert "Not read to the end: a.gz." in page
    assert "<script" not in page
    assert "//" not in page.replace("http://www.w3.org", "").replace("</", "")


def test_the_figure_comes_with_its_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As SVG, PDF and CSV in a new folder; the same again is left as it is."""
    old, new = results(tmp_path, "old", effect=0.125), results(tmp_path, "new", effect=0.3125)
    arguments = (old, new, "--seed", 3, "--resamples", 200, "--figures", tmp_path / "figures")

    assert drift(capsys, *arguments)[0] == ExitCode.OK
    first = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert drift(capsys, *arguments)[0] == ExitCode.OK

    assert {*first} >= {"drift.csv", "drift.svg", "drift.pdf"}
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert "+18.8" in first["drift.svg"].decode()


@pytest.mark.browser
def test_the_page_is_whole_on_a_phone_and_on_a_desk_in_both_themes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no look at the source can tell."""
    old, new = results(tmp_path, "old", effect=0.125), results(tmp_path, "new", effect=0.3125)
    (tmp_path / "scan.json").write_text(json.dumps(SCAN))
    page = tmp_path / "page.html"
    drift(capsys, old, new, "--seed", 3, "--resamples", 200, "--scan", tmp_path / "scan.json", "--output", page)

    for name, look in looks(page, tmp_path / "browser"):
        assert look.complaints == look.requests == (), name
        assert look.missing_glyphs == (), name
        assert (look.overflow_px, look.wide_elements) == (0, ()), name
        assert look.smallest_letter_px >= 10, name
        assert look.cut_letters == look.overlapping_letters == look.duplicate_ids == (), name


def _two_models(tmp_path: Path) -> list[Any]:
    write_results(a_small_experiment().table, tmp_path / "two.parquet")
    return [tmp_path / "two.parquet", tmp_path / "two.parquet", "--seed", 1]


def _no_families(tmp_path: Path) -> list[Any]:
    (tmp_path / "study").mkdir()
    return [tmp_path / "study", tmp_path / "study", "--seed", 1]


def _no_seed(tmp_path: Path) -> list[Any]:
    old = results(tmp_path, "old", effect=0.125)
    return [old, old]


def _no_scan(tmp_path: Path) -> list[Any]:
    (tmp_path / "scan.json").write_text('{"kinds": 1}')
    old = results(tmp_path, "old", effect=0.125)
    return [old, old, "--seed", 1, "--scan", tmp_path / "scan.json"]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (_two_models, "holds the models alpha, beta; name one, `--stored-model`", ExitCode.REFUSED),
        (_no_families, "has no results by family, and drift is a difference family by family", ExitCode.REFUSED),
        (_no_seed, "has no registration beside it; name the seed, `--seed`", ExitCode.REFUSED),
        (_no_scan, "is no result of `freshness scan --json`", ExitCode.NEGATIVE),
    ],
)
def test_what_cannot_be_compared_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: Any, said: str, code: ExitCode
) -> None:
    """In one line with the next step."""
    found, _, error = drift(capsys, *arguments(tmp_path))

    assert found == code
    assert said in error
