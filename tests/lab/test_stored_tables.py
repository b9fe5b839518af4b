"""The stored laboratories in docs/lab: no interval ships whose coverage has not been printed."""

from __future__ import annotations

import functools
import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from leakscale.lab import LABORATORIES, Size, laboratory_named, page
from leakscale.stats import COMBINATIONS, COMPONENTS, CONTROLS, MEAN_METHODS
from leakscale.stats.exposure.contrasts import CONTRAST_METHODS
from leakscale.stats.exposure.did import METHODS as DID_METHODS
from leakscale.stats.mean_intervals.stratified import STRATIFIED
from leakscale.stats.transfer.transfer_share import TRANSFER_METHODS

STORED = Path(__file__).resolve().parents[2] / "docs" / "lab"

GUARANTEED = [
    "hoeffding",
    "hoeffding_serfling",
    "empirical_bernstein",
    "empirical_bernstein_serfling",
    "betting",
    "exact_hypergeometric",
]
"""Methods that promise their level for every population and every sample size (or have never been seen below it)."""


@functools.cache
def record_of(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    return record


def cells(name: str, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in record_of(name)["cells"] if cell["settings"].get("kind") == kind]


def coverage(found: dict[str, Any]) -> float:
    return float(found["covered"] / found["replicates"])


def simulation_error(replicates: int) -> float:
    return math.sqrt(0.95 * 0.05 / replicates)


@pytest.mark.parametrize("name", LABORATORIES)
def test_stored_run_is_full_and_holds_every_cell(name: str) -> None:
    """A quick run has too few replicates to cite, and a missing cell is a coverage that nobody printed."""
    record = record_of(name)

    assert record["size"] == "full"
    expected = laboratory_named(name).cells(Size.FULL)
    assert [(cell["cell"], cell["settings"]) for cell in record["cells"]] == [
        (cell.name, dict(cell.settings)) for cell in expected
    ]


@pytest.mark.parametrize("name", LABORATORIES)
def test_stored_page_shows_the_stored_numbers(name: str) -> None:
    """A table edited by hand would say what nobody measured."""
    stored = (STORED / f"{name}.md").read_text(encoding="utf-8")

    assert stored == page(laboratory_named(name), record_of(name))
    assert (STORED / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize("method", MEAN_METHODS)
def test_coverage_of_every_mean_interval_is_printed(method: str) -> None:
    """36 settings of the papers' design, and 32 at the size of a real benchmark."""
    grid, frame = cells("coverage", "grid"), cells("coverage", "frame")

    assert (len(grid), len(frame)) == (36, 32)
    for cell in [*grid, *frame]:
        assert cell["measures"]["methods"][method]["replicates"] >= 4_000


def test_coverage_of_every_other_interval_is_printed() -> None:
    """Stratified, sensitivity, exposure, contrast, transfer, seed and odds-ratio intervals ship as well."""
    strata = {method for cell in cells("coverage", "strata") for method in cell["measures"]["methods"]}
    transport = {name for cell in record_of("transport")["cells"] for name in cell["measures"]}
    did = {kind: {cell["settings"].get("method") for cell in cells("did", kind)} for kind in ("effect", "contrast")}
    transfer = {cell["settings"]["method"] for cell in cells("did", "transfer")}

    assert strata == set(STRATIFIED)
    assert transport >= {f"{component}, {combine}" for component, combine in product(COMPONENTS, COMBINATIONS)}
    assert {"guardrail", "fixed"} == {name.rpartition(" control ")[2] for name in transport if " control " in name}
    # `wald-or-bound` is one of two that are there: Wald, or the bound of a bank whose gaps are all equal.
    assert set(CONTROLS) == {"wald", "betting", "guardrail", "fixed", "wald-or-bound"}
    assert did == {"effect": set(DID_METHODS), "contrast": set(CONTRAST_METHODS)}
    assert transfer == set(TRANSFER_METHODS)
    assert cells("did", "shapes")
    assert cells("did", "pooled")
    assert cells("did", "seeds")
    assert cells("power", "odds")


@pytest.mark.parametrize("method", GUARANTEED)
def test_guaranteed_interval_never_falls_below_its_level(method: str) -> None:
    """What holds for every population must hold for these, up to simulation error."""
    for kind in ("grid", "frame"):
        for cell in cells("coverage", kind):
            found = cell["measures"]["methods"][method]
            assert coverage(found) >= 0.95 - 4 * simulation_error(found["replicates"]), cell["cell"]


def test_betting_covers_at_least_96_percent_at_the_size_of_a_benchmark() -> None:
    """The recommended bound, on eight shapes and four audit sizes."""
    assert min(coverage(cell["measures"]["methods"]["betting"]) for cell in cells("coverage", "frame")) >= 0.96


def test_betting_is_narrow_on_a_hundred_sparse_parents() -> None:
    """Half-width at most .083 where Hoeffding has .272, at a coverage of .965 or more."""
    found = next(cell for cell in cells("coverage", "frame") if cell["cell"] == "frame/sparse/100")["measures"][
        "methods"
    ]

    assert found["betting"]["mean_half_width"] <= 0.083
    assert coverage(found["betting"]) >= 0.965
    assert found["hoeffding"]["mean_half_width"] == pytest.approx(0.271620, abs=1e-6)


def test_exact_coverages_are_the_papers() -> None:
    """The one population that the paper's figures identify."""
    exact = {cell["cell"]: cell["measures"]["coverage"] for cell in cells("coverage", "exact")}

    assert exact["exact/sparse/50"]["wald_fpc"] == pytest.approx(0.912660, abs=1e-6)
    assert exact["exact/sparse/200"]["wald_fpc"] == pytest.approx(0.946731, abs=1e-6)
    assert exact["exact/sparse/500"]["wald_fpc"] == pytest.approx(0.949858, abs=1e-6)
    assert exact["exact/two-point/50"]["hoeffding"] == pytest.approx(0.996833, abs=1e-6)


@pytest.mark.parametrize(("nonzero", "least"), [(0.24, 0.42), (0.15, 0.55), (0.08, 0.67)])
def test_betting_on_the_guardrail_branch_detects_ten_points_in_a_hundred(nonzero: float, least: float) -> None:
    """The whole registered rule, where Hoeffding detects nothing."""
    found = next(c for c in cells("power", "detect") if c["cell"] == f"detect/{nonzero:g}/100/0.1")["measures"]

    assert found["rule, betting"]["detected"] / found["rule, betting"]["replicates"] >= least
    assert found["rule, Hoeffding"]["detected"] == 0


def test_union_bound_covers_at_the_assumed_radius() -> None:
    """Proposition 3, wherever the radius is large enough and the control bank has variation to read."""
    for cell in record_of("transport")["cells"]:
        place = 0 if cell["settings"]["mismatch"] == 0 else 4
        for component in ("primary", "betting"):
            found = cell["measures"][f"{component}, union"]
            assert found["covered"][place] / found["replicates"] >= 0.945, cell["cell"]


@pytest.mark.parametrize("effect", ["public", "fresh", "gap"])
def test_pooled_effects_cover_whether_or_not_studies_expose_the_same_parents(effect: str) -> None:
    """Two groups that share parents are not independent of one another, and parents of four studies are one sample."""
    for cell in cells("did", "pooled"):
        found = cell["measures"][effect]
        assert coverage(found) >= 0.95 - 4 * simulation_error(found["replicates"]), cell["cell"]


def test_registered_bootstrap_covers_at_the_papers_size() -> None:
    """512 + 512 families."""
    for cell in cells("did", "effect"):
        settings, found = cell["settings"], cell["measures"]
        if settings["families"] == 512:
            assert coverage(found) >= 0.95 - 4 * simulation_error(found["replicates"]), cell["cell"]
