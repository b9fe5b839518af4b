"""Time and weigh the answering of banks against plain `model.generate`, in one run on the shipped model.

    python bench/answer.py             everything (about five minutes on two cores)
    python bench/answer.py speed bytes memory    only some of it

Speed: 32 draws a family from the same prompts and model, in float32; rounds of each way take turns, so that a busy
machine slows all of them, and both CPU time (over all threads) and wall time are told. Ours is timed with all that a
bank has: draws, attempts, results, fsync, binding; not the preflight, of which an engine has one. `generate` is timed
alone: as it is, and constrained to the four answers (`prefix_allowed_tokens_fn`), which draws from the law that ours
draw from.

Bytes: a bank of 8,192 cases, answered in one go and in other groups and orders with a resume in the middle.

Memory: a bank of 262,144 cases, answered by a process of its own that reads its size as it goes.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import torch

from leakscale.adaptation.loading import open_model_folder
from leakscale.base_model import base_model_folder
from leakscale.inference import Attempt, BankFiles, BankProgress, Case, FrozenBank, Mode, PreflightReport, Question
from leakscale.inference import answer_bank as answer
from leakscale.inference.engines import Engine
from leakscale.inference.engines.exact import ExactEngine
from leakscale.inference.engines.local import LocalOptions
from leakscale.inference.engines.sampling import SamplingEngine, SamplingOptions
from leakscale.inference.freezing import freeze_bank
from leakscale.inference.trie import followers
from leakscale.models import Condition, Family
from leakscale_server.core.building.construction import FamilySlot, construct
from leakscale_server.core.shapes import parse_shape

CATALOGS = Path(__file__).parents[1] / "catalogs"
SHAPES = (
    "python/group-sum", "python/moving-window", "python/prefix", "python/threshold",
    "sql/anti-join", "sql/group-having", "sql/threshold", "sql/top-per-group",
)  # fmt: skip
END = 2
"""The shipped model's end-of-turn token."""
DRAWS, ROUNDS, GENERATED = 32, 4, 8
"""Draws a family; rounds; families a round that `generate` is timed on. Ours are timed on all 256 in each round."""


@dataclasses.dataclass(frozen=True, slots=True)
class Seconds:
    """What a piece of work took."""

    cpu: float
    """Over all threads of this process."""
    wall: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and weigh the answering of banks.")
    parser.add_argument("parts", nargs="*", choices=["speed", "bytes", "memory", []], default=[])
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    threads = arguments.threads
    if arguments.memory_of:
        weigh(Path(arguments.memory_of[0]), Path(arguments.memory_of[1]))
        return
    parts = arguments.parts or ["speed", "bytes", "memory"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if {"speed", "bytes"} & set(parts):
            bank = freeze(root / "bank.plan.jsonl", families_per_cell=16)
            model = open_model_folder(base_model_folder())
            engines: dict[str, ExactEngine | SamplingEngine] = {
                "exact": ExactEngine(model, options=LocalOptions(thread_count=threads)),
                "transformers": SamplingEngine(model, options=SamplingOptions(thread_count=threads)),
            }
        if "speed" in parts:
            compare_speed(bank, engines, root, threads=threads)
        if "bytes" in parts:
            for name, engine in engines.items():
                compare_bytes(name, bank, engine, root)
        if "memory" in parts:
            plan = freeze(root / "large.plan.jsonl", families_per_cell=512)
            subprocess.run([sys.executable, __file__, "--memory-of", str(plan.path), str(root / "large")], check=True)


def freeze(path: Path, *, families_per_cell: int) -> FrozenBank:
    """Build families of the demo's eight shapes in both conditions, and freeze them with 32 draws each."""
    shapes = [parse_shape((CATALOGS / f"{name}.toml").read_text(), source=name) for name in SHAPES]
    families: list[Family] = [
        construct(
            shape,
            FamilySlot(shape.id, condition, ordinal),
            families_per_cell=families_per_cell,
            public_seed=b"bench-answer-----",
            private_seed=bytes(32),
        )
        .forms[0]
        .public
        for shape in shapes
        for condition in Condition
        for ordinal in range(families_per_cell)
    ]
    return freeze_bank(path, families, model=base_model_folder(), bank_seed=1, draw_count=DRAWS)


def compare_speed(
    bank: FrozenBank, engines: Mapping[str, ExactEngine | SamplingEngine], root: Path, *, threads: int
) -> None:
    """Print answers a second of each engine and of `generate`, and the ratios."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in ("generate", "constrained", *engines)}
    questions = list(bank.questions())
    model = engines["exact"].local.model
    generate(model, questions[:1])
    for number in range(ROUNDS):
        chosen = questions[number * GENERATED : (number + 1) * GENERATED]
        seconds["generate"].append(timed(partial(generate, model, chosen), GENERATED))
        seconds["constrained"].append(timed(partial(generate, model, chosen, is_constrained=True), GENERATED))
        for name, engine in engines.items():
            files = beside(bank, root / f"speed-{name}-{number}")
            seconds[name].append(timed(partial(answer, bank, Tried(engine), files), bank.question_count))
    print(f"{DRAWS} draws a family, {bank.question_count} families, {threads} threads, median of {ROUNDS} rounds")
    for kind in ("cpu", "wall"):
        middle = {name: median(getattr(each, kind) for each in values) for name, values in seconds.items()}
        for name, value in middle.items():
            ratios = f"{middle['generate'] / value:8.1f} x generate{middle['constrained'] / value:8.1f} x constrained"
            print(f"  {kind:<5}{name:<13}{DRAWS / value:>8,.0f} answers/s{value * 1e3:9.2f} ms a family{ratios}")


def generate(model: Any, questions: Sequence[Question], *, is_constrained: bool = False) -> None:
    """Draw as the library does it: 32 sequences a prompt, temperature 1, nothing truncated."""
    for question in questions:
        start = len(question.prompt_ids)

        def allowed(row: int, ids: torch.Tensor, question: Question = question, start: int = start) -> list[int]:
            return followers(question.answer_ids, ids[start:].tolist()) or [END]

        model.generate(
            input_ids=torch.tensor([question.prompt_ids]),
            attention_mask=torch.ones(1, start, dtype=torch.long),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            num_return_sequences=DRAWS,
            max_new_tokens=max(map(len, question.answer_ids)),
            pad_token_id=0,
            prefix_allowed_tokens_fn=allowed if is_constrained else None,
        )


class Tried:
    """An engine whose preflight is over."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def identity(self) -> Mapping[str, str | int | float | bool | None]:
        """The engine's own."""
        return self._engine.identity

    @property
    def mode(self) -> Mode:
        """The engine's own."""
        return self._engine.mode

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        """Pass."""
        return PreflightReport(())

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Ask the engine."""
        return self._engine.answer(cases)


class Regrouped(Tried):
    """Asks an engine for cases in groups of one size, each group in a random order, and breaks off once."""

    def __init__(self, engine: Engine, size: int, *, stop_after: int | None = None) -> None:
        super().__init__(engine)
        self._size, self._left = size, stop_after

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Ask group by group."""
        rng, source = random.Random(self._size), iter(cases)
        while group := list(islice(source, self._size)):
            for attempt in self._engine.answer(rng.sample(group, len(group))):
                if self._left is not None:
                    self._left -= 1
                    if self._left < 0:
                        raise KeyboardInterrupt
                yield attempt


def compare_bytes(name: str, bank: FrozenBank, engine: Engine, root: Path) -> None:
    """Answer a bank in one go, and again in other groups with a resume; print both digests."""
    whole, again = beside(bank, root / f"{name}-whole"), beside(bank, root / f"{name}-again")
    answer(bank, engine, whole)
    try:
        answer(bank, Regrouped(engine, 7, stop_after=1500), again)
    except KeyboardInterrupt:
        done = again.results.read_bytes().count(b"\n") - 1
        print(f"  {name}: broke off after {done} results")
    answer(bank, Regrouped(engine, 50), again)
    one, other = (hashlib.sha256(files.results.read_bytes()).hexdigest() for files in (whole, again))
    print(f"  {name}: {bank.case_count} results, one go {one[:16]}, other groups and a resume {other[:16]}", end="")
    print("  identical" if one == other else "  DIFFERENT")


def weigh(plan: Path, stem: Path) -> None:
    """Answer a bank in this process, and print how its resident memory grows over that of the loaded model."""
    engine = ExactEngine(open_model_folder(base_model_folder()))
    bank = FrozenBank(plan)
    engine.preflight([bank.question(0)]).require()
    begun, started = resident_mib(), time.perf_counter()
    marks: dict[int, float] = {}

    def look(at: BankProgress) -> None:
        share = at.done_count * 10 // at.case_count
        marks[share] = max(marks.get(share, 0.0), resident_mib())

    answer(bank, engine, beside(bank, stem), progress=look)
    grown = "  ".join(f"{share * 10}% +{value - begun:.0f}" for share, value in sorted(marks.items()))
    print(f"{bank.case_count:,} cases of {bank.question_count:,} families in {time.perf_counter() - started:.0f} s")
    print(
        f"  resident with the model {begun:.0f} MiB; over it, in MiB: {grown}; at the end +{resident_mib() - begun:.0f}"
    )


def beside(bank: FrozenBank, stem: Path) -> BankFiles:
    return dataclasses.replace(BankFiles.of(stem), plan=bank.path)


def timed(work: Callable[[], object], family_count: int) -> Seconds:
    """Return the seconds a family that a piece of work takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Seconds((time.process_time() - cpu) / family_count, (time.perf_counter() - wall) / family_count)


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
