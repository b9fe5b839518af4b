"""Time the analysis of a paper-sized experiment, whole and against plain pandas and scipy.

    python bench/analysis.py            # needs pandas: pip install pandas

262,144 results in Parquet, four cells, 10,000 resamples. First a fresh process reads the file and computes every
table, for wall time and peak memory. Then Tables 11 to 17 are computed from the file by ours and by pandas groupings
with `scipy.stats.bootstrap`, in one process. scipy is timed twice: *plain*, with the statistic as one writes it down
from the paper, a function of two samples; and *tuned*, with a statistic that takes an axis and batches that stay in
cache. Neither has exact twins or studentized intervals (scipy's own for small groups, BCa, stands for them), and less
to do for it.

That all come to the same estimates is asserted; so is that the planted numbers come out. Times are printed with bars.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from leakscale.analysis import AnalysisPlan, read_results, write_results
from leakscale.analysis.counting import Cell, count_families
from leakscale.analysis.crossed import crossed
from leakscale.analysis.families import answer_strata, family_profiles
from leakscale.analysis.shapes import leave_one_shape_out, shape_effects
from leakscale.analysis.synthetic import plant_experiment
from leakscale.analysis.totals import effects, integer_totals
from leakscale.models import Domain, Ring

RESAMPLES, SEED = 10_000, 1
PLANTED = {
    ("Gemma-4-31B", "sql"): "7.17",
    ("Gemma-4-31B", "python"): "13.2",
    ("Qwen3-4B-Instruct-2507", "sql"): "9.9",
    ("Qwen3-4B-Instruct-2507", "python"): "27.31",
}
"""In points, as published."""
BOUNDS_APART_MAX = 4e-3
"""Bounds of 10,000 resamples move by about a tenth of a point; the exact ones do not."""
WHOLE = """
import json, resource, sys, time
start = time.perf_counter(), time.process_time()
from pathlib import Path
from leakscale.analysis import AnalysisPlan, analyze_results, read_results
analysis = analyze_results(read_results(Path(sys.argv[1])), AnalysisPlan(seed=1))
now = time.perf_counter(), time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([now[0] - start[0], now[1] - start[1], peak, len(analysis.tables)]))
"""
FAMILY = ["model", "domain", "condition", "shape", "truth_rank", "display_position", "family"]


def by_scipy(path: Path, *, is_tuned: bool) -> dict[str, Any]:
    """Compute Tables 11 to 17 and the registered intervals by pandas and scipy."""
    bootstrapped = partial(bootstrap, is_tuned=is_tuned)
    pandas: Any = importlib.import_module("pandas")  # without type stubs, and of this bench alone

    results = pandas.read_parquet(path)
    results = results.astype(dict.fromkeys(["model", "domain", "condition", "shape", "family", "ring", "state"], "str"))
    keys = ["model", "domain", "condition", "state"]
    totals = results.groupby(keys)["correct"].agg(["sum", "count", "mean"])
    families = results.groupby([*FAMILY, "state"])["correct"].mean().unstack("state").reset_index()
    families["change"] = families["adapted"] - families["base"]
    profiles = families.groupby(keys[:3])[["base", "adapted"]].quantile([0.25, 0.5, 0.75])
    cells = dict(iter(families.groupby(["model", "domain"])))
    cell_effects = {key: bootstrapped(*arms(group)) for key, group in cells.items()}
    strata = {
        (*key, name, value): bootstrapped(*arms(group))
        for key, cell in cells.items()
        for name in ("truth_rank", "display_position")
        for value, group in cell.groupby(name)
    }
    shapes = {
        (*key, shape): bootstrapped(*arms(group), method="BCa")
        for key, cell in cells.items()
        for shape, group in cell.groupby("shape")
    }
    without = {
        (*key, shape): effect(*arms(cell[cell["shape"] != shape]))
        for key, cell in cells.items()
        for shape in cell["shape"].unique()
    }
    return {
        "totals": totals,
        "profiles": profiles,
        "effects": cell_effects,
        "strata": strata,
        "shapes": shapes,
        "without": without,
        "crossed": crossed_by_scipy(families, bootstrapped),
    }


def arms(group: Any) -> list[Any]:
    """Return the changes of the exposed families and of the control."""
    return [group.loc[group["condition"] == name, "change"].to_numpy() for name in ("C2", "C0")]


def effect(exposed: Any, control: Any) -> Any:
    return exposed.mean() - control.mean()


def effect_by_axis(exposed: Any, control: Any, axis: int = -1) -> Any:
    return np.mean(exposed, axis=axis) - np.mean(control, axis=axis)


def total(*samples: Any) -> Any:
    return sum(sample.mean() for sample in samples)


def total_by_axis(*samples: Any, axis: int = -1) -> Any:
    return sum(np.mean(sample, axis=axis) for sample in samples)


def bootstrap(
    *samples: Any, method: str = "percentile", is_sum: bool = False, is_tuned: bool = False
) -> tuple[float, float, float]:
    """Bound the effect, or the sum of the means of several samples."""
    of_samples = total if is_sum else effect
    by_axis = total_by_axis if is_sum else effect_by_axis
    found: Any = stats.bootstrap(  # type: ignore[call-overload]
        samples,
        by_axis if is_tuned else of_samples,
        vectorized=is_tuned,
        batch=512 if is_tuned else None,
        n_resamples=RESAMPLES,
        method=method,
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(of_samples(*samples)), float(found.low), float(found.high)


def crossed_by_scipy(families: Any, bootstrapped: Callable[..., Any]) -> dict[str, tuple[float, float, float]]:
    """Average cells, a family of both models being one draw: its weighted changes are one number."""
    wide = families.pivot_table(index=["domain", "condition", "family"], columns="model", values="change")
    names = list(wide.columns)
    cells = [(domain, model) for domain in ("sql", "python") for model in names]
    weights: dict[str, dict[Any, float]] = {
        **{f"mean of {each}": {cell: 0.5 for cell in cells if each in cell} for each in ("sql", "python", *names)},
        "grand mean": dict.fromkeys(cells, 0.25),
        "interaction": {(d, m): (1 if d == "python" else -1) * (1 if m == names[1] else -1) for d, m in cells},
    }
    found = {}
    for name, of_cells in weights.items():
        samples = []
        for (domain, condition), block in wide.groupby(["domain", "condition"]):
            sign = 1 if condition == "C2" else -1
            parts = [of_cells.get((domain, model), 0) * block[model].to_numpy() for model in names]
            samples.append(sign * np.sum(parts, axis=0))
        found[name] = bootstrapped(*(sample for sample in samples if sample.any()), is_sum=True)
    return found


def ours(path: Path) -> dict[str, Any]:
    """Compute the same tables, each interval with its exact twin."""
    plan = AnalysisPlan(seed=SEED, resample_count=RESAMPLES)
    cells: tuple[Cell, ...] = count_families(read_results(path)).reported(Ring.R0, 1.0)
    return {
        "totals": integer_totals(cells),
        "profiles": family_profiles(cells),
        "effects": effects(cells, plan),
        "strata": answer_strata(cells, plan),
        "shapes": [shape_effects(domain, cells, plan) for domain in Domain],
        "without": leave_one_shape_out(cells),
        "crossed": crossed(cells, plan),
    }


def seconds(work: Callable[[Path], dict[str, Any]], path: Path, repeats: int) -> tuple[float, dict[str, Any]]:
    """Return the least processor time of several runs, and the result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        found = work(path)
        times.append(time.process_time() - start)
    return min(times), found


def disagreements(theirs: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Name every estimate in which the two versions differ, and every planted one that did not come out."""
    for row in found["totals"].rows:
        if theirs["totals"].loc[row.model, row.domain, row.condition, row.state]["sum"] != row.correct:
            yield f"total of {row}"
    for row in found["effects"].rows:
        planted = PLANTED[row.model, row.domain]
        shown = f"{100 * row.effect.estimate:.{len(planted.partition('.')[2])}f}"
        if shown != planted or differs(theirs["effects"][row.model, row.domain], row):
            yield f"effect of {row.model}, {row.domain}: {shown}, planted {planted}"
    of_groups = [
        *(
            (theirs["strata"][row.model, row.domain, row.stratum.replace(" ", "_"), row.value], row)
            for row in found["strata"].rows
        ),
        *(
            (theirs["shapes"][row.model, domain, row.shape], row)
            for domain, table in zip(Domain, found["shapes"], strict=True)
            for row in table.rows
        ),
    ]
    yield from (f"group {row}" for other, row in of_groups if abs(other[0] - row.effect.estimate) > 1e-12)
    for row in found["without"].rows:
        least = min(value for key, value in theirs["without"].items() if key[:2] == (row.model, row.domain))
        if abs(least - row.least) > 1e-12:
            yield f"least effect without a shape of {row.model}, {row.domain}"
    for row in found["crossed"].rows:
        name = row.summary if row.summary in theirs["crossed"] else f"mean of {row.of}"
        if differs(theirs["crossed"][name], row):
            yield f"{row.summary} {row.of}"


def differs(theirs: tuple[float, float, float], row: Any) -> bool:
    """Tell whether an estimate differs, or bounds by more than the noise of resampling."""
    estimate, low, high = theirs
    apart = max(abs(low - row.exact.low), abs(high - row.exact.high))
    return bool(abs(estimate - row.effect.estimate) > 1e-12 or apart > BOUNDS_APART_MAX)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.parquet"
        write_results(plant_experiment().table, path)
        done = subprocess.run([sys.executable, "-c", WHOLE, str(path)], capture_output=True, text=True, check=True)
        wall, processor, peak, tables = json.loads(done.stdout)
        print(f"262,144 results, four cells, {RESAMPLES:,} resamples, {path.stat().st_size / 1024:.0f} KiB of Parquet")
        print(f"  {tables} tables in a fresh process   {wall:.2f} s wall, {processor:.2f} s processor   bar 3 s")
        print(f"  peak memory                    {peak:.0f} MiB   bar 600 MiB")
        own, found = seconds(ours, path, 3)
        print(f"  Tables 11 to 17, leakscale     {own:6.2f} s processor")
        wrong: list[str] = []
        for name, is_tuned, bar in (("plain", False, "   bar 10 x"), ("tuned", True, "")):
            theirs, by_theirs = seconds(partial(by_scipy, is_tuned=is_tuned), path, 1)
            print(f"    pandas and scipy, {name}      {theirs:6.2f} s processor   ratio {theirs / own:.1f} x{bar}")
            wrong += disagreements(by_theirs, found)
        for one in wrong:
            print(f"  DIFFERENT: {one}")
    return 1 if wrong or peak > 600 else 0


if __name__ == "__main__":
    raise SystemExit(main())
