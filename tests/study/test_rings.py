"""A study that asks its families in every form, as one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leakscale.errors import InvalidRequestError
from leakscale.models import Ring
from leakscale.study.config import load_study

from .helpers import demo_here, write_study

RINGS = ("draw_count = 4", 'draw_count = 4\nrings = ["R0", "R1", "R2"]')


@pytest.fixture(scope="module")
def asked_in_rings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a study of three rings."""
    folder = tmp_path_factory.mktemp("rings")
    assert demo_here("--study", str(write_study(folder / "study.toml", RINGS)), "--out", str(folder / "run")) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def found(asked_in_rings: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((asked_in_rings / "summary.json").read_text())
    return loaded


def test_every_ring_is_banked_and_counted(asked_in_rings: Path, found: dict[str, Any]) -> None:
    """Twelve banks of eight families and four draws, each with a log and a receipt of its own."""
    assert found["counts"]["banks"] == 12
    assert found["counts"]["answers"] == found["counts"]["valid_answers"] == 12 * 8 * 4
    assert len(list((asked_in_rings / "banks").glob("*.receipt.json"))) == 12
    assert {"sql-base", "sql-base-r1", "python-adapted-r2"} <= set(found["identity"]["answers"])
    base = [digest for bank, digest in found["identity"]["answers"].items() if "-base" in bank]
    assert len(set(base)) == len(base) == 6


def test_the_numbers_of_the_leaked_form_do_not_depend_on_other_rings(
    found: dict[str, Any], summary: dict[str, Any]
) -> None:
    """Asking more must not change what was asked before: draws are seeded by ring."""
    assert found["effect"] == summary["effect"]
    assert found["totals"] == summary["totals"]
    assert summary["transfers"] == {}


def test_a_summary_says_what_transfers(asked_in_rings: Path, found: dict[str, Any]) -> None:
    """An effect with its interval for each ring, and its share of the effect in R0 or why there is none."""
    assert list(found["transfers"]) == ["R1", "R2"]
    for ring in found["transfers"].values():
        assert set(ring["domains"]) == {"python", "sql"}
        assert set(ring["share"]) == {"value", "shape", "low", "high", "withheld", "is_censored"}
        assert (ring["share"]["value"] is None) == (ring["share"]["withheld"] is not None)
    assert '<th scope="row">R2 renamed</th>' in (asked_in_rings / "report.html").read_text()


@pytest.mark.parametrize("rings", ['["R1"]', '["R1", "R0"]', '["R0", "R0"]', "[]"])
def test_a_study_names_rings_in_order_with_the_leaked_one(tmp_path: Path, rings: str) -> None:
    """The author reads the rule before anything is certified."""
    study = write_study(tmp_path / "study.toml", ("draw_count = 4", f"draw_count = 4\nrings = {rings}"))

    with pytest.raises(InvalidRequestError, match=r"experiment\.rings.*once and in order, R0 first"):
        load_study(study)


def test_a_study_that_names_no_ring_asks_as_it_was_leaked(tmp_path: Path) -> None:
    """What the paper evaluates."""
    assert load_study(write_study(tmp_path / "study.toml")).experiment.rings == (Ring.R0,)
