"""Time the analysis of an audit: from an imported log to the full table, and against plain pandas and scipy.

    python bench/audit.py               # needs pandas: pip install pandas

1,319 parents in three forms with 200 control parents. First fresh processes import the log, a CSV file with an answer
a row, and print its table, as a user would by two commands; then every table the same way. Then the columns of table 3
(scores, gap, Wald, Hoeffding and empirical Bernstein half-widths, nonzero count, control gap, sensitivity grid,
relabelling p) are computed from the same scores by ours and by pandas and scipy as one writes them down from the
paper: the relabelling p by 10,000 draws, which is how the paper has it, while ours is exact.

That both come to the same numbers is asserted. Times are printed with bars.
"""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from leakscale.audit.analysis import AuditSettings, Panel
from leakscale.audit.analysis.advantage import advantage, claims, intervals, sensitivity
from leakscale.audit.registration.fields import InferenceTable
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.stats import FinitePopulationDesign

PARENTS, SAMPLE, CONTROLS, FORMS, DRAWS, ROUNDS = 1_319, 400, 200, ("original", "fresh-1", "fresh-2"), 10_000, 5
RHOS = (0.0, 0.01, 0.02, 0.05, 0.10)
RULE = {"bound": "hoeffding", "component": "wald"}
SECONDS_MAX = 2.0


def planted(parents: int, share: float, seed: int) -> NDArray[np.float64]:
    """Return right and wrong answers to three forms, the original's raised by a share."""
    rng = np.random.Generator(np.random.PCG64(seed))
    right = (rng.random((parents, 1)) < 0.6) ^ (rng.random((parents, 3)) < 0.05)
    right[:, 0] |= rng.random(parents) < share
    return right.astype(np.float64)


def write_log(path: Path, scores: NDArray[np.float64]) -> None:
    """Write an evaluation log with an answer a row."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "form", "right", "prompt"))
        for number, row in enumerate(scores):
            for form, score in zip(FORMS, row, strict=True):
                writer.writerow((f"p{number}", form, int(score), f"item {number} as {form}"))


def by_command(folder: Path, *options: str) -> float:
    """Import a log and print its tables, in processes of their own; return seconds."""
    leakscale = [sys.executable, "-m", "leakscale.cli", "audit"]
    scores = folder / "scores.jsonl"
    scores.unlink(missing_ok=True)
    begun = time.perf_counter()
    log = ["--metric", "right", "--form-key", "form", "--together", str(folder / "log.csv"), "--trust-prompts"]
    for arguments in (
        ["import", *log, "--model", "tiny", "--out", str(scores)],
        ["analyze", str(scores), "--population", str(PARENTS), *options],
    ):
        done = subprocess.run([*leakscale, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
    return time.perf_counter() - begun


def table(scores: NDArray[np.float64], prefix: str) -> ScoreTable:
    """Return answers as a table of scores."""
    ids = tuple(f"{prefix}{number}" for number in range(len(scores)))
    return ScoreTable("tiny", ScoreKind.CORRECT, "right", ids, scores, 2)


def ours(audit: NDArray[np.float64], control: NDArray[np.float64]) -> dict[str, Any]:
    """Compute the columns of table 3."""
    settings = AuditSettings(FinitePopulationDesign(PARENTS), InferenceTable(**RULE))  # type: ignore[arg-type]
    panel = Panel.of([table(audit, "p")], [table(control, "c")])
    (row,), (claim,) = advantage(panel, settings).rows, claims(panel, settings).rows
    widths = {each.method: each.half_width for each in intervals(panel, settings).rows}
    return {
        "public": row.public,
        "fresh": row.fresh,
        "gap": row.gap.estimate,
        "nonzero": row.nonzero,
        "wald": widths["wald_fpc"],
        "hoeffding": widths["hoeffding"],
        "bernstein": widths["empirical_bernstein"],
        "control": claim.control_gap.estimate,
        "grid": [
            bound for each in sensitivity(panel, settings).rows for bound in (each.exposure.low, each.exposure.high)
        ],
        "p": row.joint_null_p,
    }


def plain(audit: NDArray[np.float64], control: NDArray[np.float64]) -> dict[str, Any]:
    """Compute the same with pandas and scipy, formula by formula."""
    pandas: Any = importlib.import_module("pandas")
    frame, bank = (pandas.DataFrame(scores, columns=list(FORMS)) for scores in (audit, control))
    for each in (frame, bank):
        each["gap"] = each["original"] - each[["fresh-1", "fresh-2"]].mean(axis=1)
    count, deviation, gap = len(frame), frame["gap"].std(), frame["gap"].mean()
    error = deviation * np.sqrt((1 - count / PARENTS) / count)
    split, level = stats.norm.ppf(1 - 0.05 / 4), stats.norm.ppf(1 - 0.05 / 2)
    control_gap, control_half = bank["gap"].mean(), split * bank["gap"].std() / np.sqrt(len(bank))
    bounds = [
        (gap - control_gap - split * error - control_half - rho, gap - control_gap + split * error + control_half + rho)
        for rho in RHOS
    ]
    log = np.log(4 / 0.05)
    rng = np.random.Generator(np.random.PCG64(0))
    forms, rows = frame[list(FORMS)].to_numpy(), np.arange(count)
    totals = forms.sum(axis=1)
    reached = 0
    for _ in range(DRAWS):
        chosen = forms[rows, rng.integers(0, 3, count)]
        reached += abs((chosen - (totals - chosen) / 2).mean()) >= abs(gap) - 1e-12
    return {
        "public": frame["original"].mean(),
        "fresh": frame[["fresh-1", "fresh-2"]].mean(axis=1).mean(),
        "gap": gap,
        "nonzero": int((frame["gap"] != 0).sum()),
        "wald": level * error,
        "hoeffding": np.sqrt(2 * np.log(2 / 0.05) / count),
        "bernstein": np.sqrt(2 * deviation**2 * log / count) + 14 * log / (3 * (count - 1)),
        "control": control_gap,
        "grid": [bound for pair in bounds for bound in pair],
        "p": (reached + 1) / (DRAWS + 1),
    }


def fastest(work: Callable[[], dict[str, Any]]) -> tuple[float, dict[str, Any]]:
    """Return the median processor seconds of several rounds, and what was computed."""
    spent = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        found = work()
        spent.append(time.process_time() - begun)
    return float(np.median(spent)), found


def main() -> int:
    audit, control = planted(SAMPLE, 0.05, 1), planted(CONTROLS, 0.0, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_log(folder / "log.csv", planted(PARENTS, 0.05, 3))
        first, every = (
            float(np.median([by_command(folder, *options) for _ in range(ROUNDS)])) for options in ((), ("--tables",))
        )
    print(
        f"an imported log of {PARENTS:,} parents and three forms, to the table: {first:.2f} s   bar {SECONDS_MAX:g} s"
    )
    print(f"  to every table, with budgets and planted audits: {every:.2f} s")
    own, found = fastest(lambda: ours(audit, control))
    theirs, expected = fastest(lambda: plain(audit, control))
    print(f"table 3 of {SAMPLE} parents, leakscale           {1000 * own:8.2f} ms processor")
    print(
        f"  pandas and scipy, {DRAWS:,} relabellings   {1000 * theirs:8.2f} ms processor   ratio {theirs / own:.0f} x"
    )
    wrong = [key for key in found if not np.allclose(found[key], expected[key], atol=0.02 if key == "p" else 1e-9)]
    for key in wrong:
        print(f"  DIFFERENT: {key}: {found[key]} and {expected[key]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
