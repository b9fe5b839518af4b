"""`leakscale analyze`: released numbers as tables, results by family, and the two held against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.cases import a_small_experiment
from tests.report.payloads import a_payload

from leakscale.analysis import write_results
from leakscale.cli.entry import run
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.report import DISCLOSURE_FILE
from leakscale.results import disclosure_from_payload, disclosure_to_json
from leakscale.totals import round_count

EFFECT = {"value": 0.25, "low": 0.2, "high": 0.3, "state": "estimated"}


def released(folder: Path, *, kind: str = "practice", wrong_by: int = 0, count_step: int = 1, **more: Any) -> Path:
    """Write the released numbers of model `alpha` of the small experiment."""
    families = a_small_experiment().families
    totals = [
        {
            "domain": domain.value,
            "condition": condition.value,
            "state": state.value,
            "family_count": 64,
            "draw_count": 512,
            "correct_count": wrong_by
            + round_count(
                int(getattr(families["alpha", domain, Ring.R0, condition], state.value).sum()), step=count_step
            ),
            "valid_count": 512,
        }
        for domain in Domain
        for condition in Condition
        for state in ModelState
    ]
    effect = {"effect": EFFECT, "effect_exact": EFFECT, "c0_drift": EFFECT, "c2_change": EFFECT}
    body = {
        "experiment_id": "exp-1",
        "model_label": "alpha",
        "edition_id": "ed-1",
        "edition_kind": kind,
        "commitment_root": "ab" * 32,
        "certificates_digest": "cd" * 32,
        "assurance_level": "L0",
        "plan_digest": "ef" * 32,
        "totals": totals,
        "effects": [{"domain": domain, **effect} for domain in (None, "sql", "python")],
        "confidence": 0.95,
        "resample_count": 500,
        "bootstrap_seed": "7",
        "count_step": count_step,
        **more,
    }
    disclosure = disclosure_from_payload(a_payload(body), signature=b"s" * 64, public_key=b"k" * 32)
    (folder / DISCLOSURE_FILE).parent.mkdir(parents=True)
    (folder / DISCLOSURE_FILE).write_text(disclosure_to_json(disclosure))
    return folder


def analyzed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["analyze", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_released_numbers_fill_the_tables_that_they_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a single result by family the reader still sees every table, and why some are empty."""
    found = analyzed(capsys, str(released(tmp_path)))

    tables = found["analysis"]["tables"]
    assert found["finding"].startswith("Exposure moved")
    assert tables["effects"]["rows"][0]["exact"]["method"] == "exact"
    assert len(tables["integer-totals"]["rows"]) == 8
    for name in ("family-profiles", "answer-strata", "shapes-sql", "shapes-python", "leave-one-shape-out"):
        assert "--results FILE" in tables[name]["withheld"]


def test_private_edition_says_that_tables_wait_for_retirement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is the policy, not a missing file."""
    found = analyzed(capsys, str(released(tmp_path, kind="private")))

    assert "retire the edition" in found["analysis"]["tables"]["shapes-sql"]["withheld"]


def test_results_in_the_study_are_analyzed_as_registered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The registered seed and resamples are read from what was signed."""
    write_results(a_small_experiment().table, released(tmp_path) / "analysis" / "results.parquet")

    found = analyzed(capsys, str(tmp_path))

    assert found["analysis"]["plan"] == {"seed": 7, "resample_count": 500, "alpha": 0.05, "strength": None}
    assert len(found["analysis"]["tables"]["shapes-sql"]["rows"]) == 8
    assert {row["source"] for row in found["analysis"]["tables"]["sources"]["rows"]} >= {"analyzed results", "plan"}


def test_results_of_another_study_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables that do not add up to the signed totals would be somebody else's."""
    write_results(a_small_experiment().table, released(tmp_path, wrong_by=1) / "analysis" / "results.parquet")

    code = run(["analyze", str(tmp_path)])

    assert code != 0
    assert "give the results of this study" in capsys.readouterr().err


def test_totals_released_in_steps_are_those_of_results_to_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A private edition tells whole families; its openings tell draws. A whole family off is another study."""
    released(tmp_path, kind="private", count_step=8)
    write_results(a_small_experiment().table, tmp_path / "analysis" / "results.parquet")

    found = analyzed(capsys, str(tmp_path), "--retired")

    assert found["analysis"]["tables"]["shapes-sql"]["withheld"] is None
    other = released(tmp_path / "other", kind="private", count_step=8, wrong_by=8)
    write_results(a_small_experiment().table, other / "analysis" / "results.parquet")
    assert run(["analyze", str(other), "--retired"]) != 0
    assert "to the nearest 8; give the results of this study" in capsys.readouterr().err


def test_one_table_is_printed_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its number in the paper."""
    assert run(["analyze", str(released(tmp_path)), "--table", "11"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("Table 11. Correct draws\n")
    assert "Table 2" not in shown


def test_file_without_a_study_needs_a_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number that nobody can repeat is not evidence."""
    path = tmp_path / "results.jsonl"
    write_results(a_small_experiment().table, path)

    assert run(["analyze", str(path)]) != 0
    assert "name the seed" in capsys.readouterr().err
    found = analyzed(capsys, str(path), "--seed", "7", "--resamples", "500", "--output", str(tmp_path / "out"))
    assert found["analysis"]["plan"]["resample_count"] == 500
    assert sorted(found["files"]) == sorted(str(path) for path in (tmp_path / "out").iterdir())
