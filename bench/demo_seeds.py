"""Run the demo under other seeds and print one table: the effect must not hang on the seed that ships.

    python bench/demo_seeds.py [--seeds 1 2 3 4 5] [--backend auto]

Another seed is another edition (keys, candidates, truth, fixtures), another order of training and other draws; the
model is the same. Accuracies in percent, changes in points with their 95 % interval over families.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from leakscale.resources import studies_folder


def run_demo(seed: int, backend: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "leakscale.cli", "demo", "--json", "--seed", str(seed), "--backend", backend]
    finished = subprocess.run([*command, "--out", str(folder / str(seed))], check=True, stdout=subprocess.PIPE)
    summary: dict[str, Any] = json.loads(finished.stdout)
    return summary


def points(estimate: dict[str, float]) -> str:
    value, low, high = (100 * estimate[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def row(summary: dict[str, Any]) -> str:
    cells = [f"{100 * summary['accuracies'][name]:.1f}" for name in ("c0_base", "c0_adapted", "c2_base", "c2_adapted")]
    counts = summary["counts"]
    cells += [points(summary["c0_drift"]), points(summary["effect"])]
    cells += [f"{counts['valid_answers']}/{counts['answers']}", f"{sum(summary['seconds'].values()):.0f}"]
    return f"| {summary['seed']} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--backend", default="auto")
    options = parser.parse_args()
    shipped = tomllib.loads((studies_folder() / "demo.toml").read_text(encoding="utf-8"))["seed"]
    print("| seed | C0 base | C0 adapted | C2 base | C2 adapted | C0 drift | effect | valid answers | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for seed in [shipped, *options.seeds]:
            print(row(run_demo(seed, options.backend, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
