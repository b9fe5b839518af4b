"""Time the verification of a paper-sized study: 262,144 results in four cells of 65,536.

    python bench/verify.py                 makes the study first (about five minutes on two quiet cores)
    python bench/verify.py --keep DIR      and keeps it as DIR/study
    python bench/verify.py --study DIR/study

The study is a real one: the 64 shapes of the catalog, 16 control and 16 exposed families in each, the shipped model in
two states, two rings, 32 draws; a cell is a domain in a ring. Its server proves every family in the sandbox, its model
is trained and answers, and the numbers are disclosed and signed.

Then `leakscale verify` runs on its tree as people run it, in a process of its own, once cold and then twice more; the
least wall time counts. Beside it stands what anybody would do without us: `sha256sum` of every file of the tree, and
pandas reading the same results and tables.

The exact engine reads one distribution a question, so its attempts are few. A sampling engine has an attempt a case, so
the inference chain is timed once more on the same results with one attempt each, and what it takes longer is added.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leakscale.evidence.checks.inference import follow_banks
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.tree import EvidenceTree
from leakscale.inference import Attempt, BankFiles, FrozenBank, Mode, Outcome
from leakscale.inference.attempts import ATTEMPTS_MEND
from leakscale.inference.binding import bind
from leakscale.inference.lines import json_line, read_header, stamped_line
from leakscale.inference.results import RESULTS_MEND
from leakscale.resources import catalog_folder

RESULTS, BAR_S, RUNS = 262_144, 20.0, 3
STUDY = """\
format = 1
name = "paper-sized"
title = "A study of the paper's size with the shipped model"
seed = 20261130
[edition]
id = "paper-sized"
kind = "practice"
families_per_cell = 16
shapes = {shapes}
[model]
source = "tiny"
preservation_count = 512
adaptation = {{ repeat_count = 1 }}
[experiment]
id = "paper-sized"
draw_count = 32
rings = ["R0", "R1"]
"""


def make_study(folder: Path, backend: str) -> Path:
    """Run a study of the paper's size to its end."""
    catalog = catalog_folder()
    shapes = sorted(path.relative_to(catalog).as_posix() for path in catalog.glob("*/*.toml"))
    (folder / "study.toml").write_text(STUDY.format(shapes=json.dumps(shapes)), encoding="utf-8")
    study = folder / "study"
    command = [sys.executable, "-m", "leakscale.cli", "demo", "--study", str(folder / "study.toml")]
    subprocess.run([*command, "--out", str(study), "--backend", backend], check=True, stdout=subprocess.DEVNULL)
    return study


def verify(study: Path) -> dict[str, Any]:
    """Verify in a process of its own."""
    command = [sys.executable, "-m", "leakscale.cli", "verify", str(study), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def digest_and_read(study: Path) -> int:
    """Do without us: sha256sum of the tree, and pandas on what it holds."""
    layout = EvidenceLayout(study / "evidence")
    subprocess.run(["sha256sum", *layout.files()], cwd=layout.root, stdout=subprocess.DEVNULL, check=True)
    code = (
        "import pandas, pathlib, sys\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "rows = [len(pandas.read_json(each, lines=True)) for each in root.glob('banks/*.results.jsonl')]\n"
        "[pandas.read_parquet(each) for each in root.rglob('*.parquet')]\n"
        "print(sum(rows))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(layout.root)], stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def one_attempt_a_case(tree: Path, folder: Path) -> Path:
    """Write the banks of a tree as a sampling engine would have answered them, with the same results."""
    for bank_id in EvidenceLayout(tree).bank_ids():
        source, target = EvidenceLayout(tree).bank(bank_id), EvidenceLayout(folder).bank(bank_id)
        target.plan.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.plan, target.plan)
        write_sampled(source, target)
    return folder


def write_sampled(source: BankFiles, target: BankFiles) -> None:
    """Write attempts and results of one bank, and their binding."""
    results = [dataclasses.replace(each, mode=Mode.SAMPLED_GUIDED) for each in source.read_results()]
    mode = {"mode": Mode.SAMPLED_GUIDED.value}
    with target.attempts.open("wb") as opened:
        opened.write(stamped_line(read_header(source.attempts, mend=ATTEMPTS_MEND) | mode))
        attempts = (Attempt(each.case, Outcome.COMPLETED, text=each.text) for each in results)
        opened.writelines(stamped_line(each.to_json()) for each in attempts)
    with target.results.open("wb") as opened:
        opened.write(stamped_line(read_header(source.results, mend=RESULTS_MEND) | mode))
        opened.writelines(json_line(each.to_json()) for each in results)
    bind(FrozenBank(target.plan), target, range(len(results)))


@dataclasses.dataclass(frozen=True, slots=True)
class Spent:
    """What the quickest of several runs took, in seconds."""

    wall: float
    processor: float
    """Of all processes."""

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s wall, {self.processor:6.2f} s processor"


def seconds(work: Callable[[], Any], runs: int = RUNS) -> tuple[Spent, Any]:
    """Time several runs; return the quickest, and the last result."""
    times = []
    for _ in range(runs):
        start, before = time.perf_counter(), sum(os.times()[:4])
        found = work()
        times.append(Spent(time.perf_counter() - start, sum(os.times()[:4]) - before))
    return min(times, key=lambda spent: spent.wall), found


def report(study: Path, folder: Path) -> int:
    """Time everything and print it; return the exit code."""
    tree = study / "evidence"
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
    ours, found = seconds(lambda: verify(study))
    plain, rows = seconds(lambda: digest_and_read(study))
    sampled = one_attempt_a_case(tree, folder / "sampled")
    exact_s, _ = seconds(lambda: follow_banks(EvidenceTree(tree)))
    sampled_s, followed = seconds(lambda: follow_banks(EvidenceTree(sampled)))
    longer = [max(0.0, getattr(sampled_s, name) - getattr(exact_s, name)) for name in ("wall", "processor")]
    worst = Spent(ours.wall + longer[0], ours.processor + longer[1])
    print(f"a tree of {size / 2**20:.0f} MiB, {rows:,} lines of results; verdict: {found['verdict']}")
    for step in found["steps"]:
        print(f"  {step['status']:9} {step['name']}: {step['what']}")
    print(f"  leakscale verify               {ours}   bar {BAR_S:.0f} s")
    print(f"  sha256sum and pandas reading   {plain}   ratio {ours.wall / plain.wall:.1f} x")
    print(f"  inference chain, exact         {exact_s}")
    print(f"  inference chain, sampled       {sampled_s}   an attempt a case")
    print(f"  verify of a sampled study      {worst}   bar {BAR_S:.0f} s")
    cases = sum(binding.case_count for binding in followed.values())
    return 0 if found["verdict"] == "holds" and cases == RESULTS and worst.wall <= BAR_S else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the verification of a paper-sized study.")
    parser.add_argument("--study", type=Path, help="one that --keep kept")
    parser.add_argument("--keep", type=Path, help="where the study is made and stays")
    parser.add_argument("--backend", default="auto", help="sandbox of its server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = options.keep or Path(folder)
        made.mkdir(parents=True, exist_ok=True)
        return report(options.study or make_study(made, options.backend), Path(folder))


if __name__ == "__main__":
    raise SystemExit(main())
