"""Build and certify a whole catalog, and say where the time goes.

    python bench/certify_catalog.py [CATALOG] [--families-per-cell 16] [--backend auto|docker|bubblewrap] [--lanes 2]

64 shapes of 2 × 16 families are 2,048, each in three rings: 24,576 programs, each run on all of its fixtures in two
sandboxes that differ. Every family is built, run, judged and signed as a server does it, as many at a time as there are
lanes. Exits with 1 when a family is rejected: the time of a failed run says nothing.

Stages are wall-clock seconds of the threads that work on families, which wait for a lane where both want the same one.
Set against, in the same run: the same programs in this process without any isolation, sampled.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from certify import run_in_process
from leakscale.progress import shown_progress
from leakscale.resources import catalog_folder
from leakscale_server.catalog_audit.material import Recipe, practice_recipe
from leakscale_server.catalog_check.check import read_author_files
from leakscale_server.config import ServerConfig
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.crew import Crew
from leakscale_server.sandbox_pool import Backend, Job, JobResult, SandboxPool, choose_backend
from leakscale_server.scorer.certifier import Certified, Certifier, Rejected
from leakscale_server.scorer.prover import FamilyRequest
from leakscale_server.store.signing import Signer

_STAGES: Final = ("construction", "first pass", "second pass", "judging", "signing")
_STRIDE: Final = 32
"""One job of so many runs again without isolation."""


class Stopwatch:
    """Adds up where the threads spend their time; each family is worked on by one thread."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.program_s = 0.0
        """Wall-clock seconds of the programs themselves, as the workers measured them."""
        self._lock = threading.Lock()
        self._thread = threading.local()

    def begin(self, *, first_lane: int) -> None:
        """Begin a family on this thread."""
        self._thread.first_lane = first_lane
        self._thread.last = time.perf_counter()

    def stage_of(self, lane: int) -> str:
        """Return which pass of this thread's family runs on a lane."""
        return "first pass" if lane == self._thread.first_lane else "second pass"

    def lap(self, stage: str, *, program_s: float = 0.0) -> None:
        """Count the time since the last lap of this thread for a stage."""
        now = time.perf_counter()
        with self._lock:
            self.seconds[stage] += now - self._thread.last
            self.program_s += program_s
        self._thread.last = now


class TimedPool(SandboxPool):
    """A pool that tells construction, which comes before a first pass, from the passes; it keeps some of the jobs."""

    def __init__(self, backend: Backend, stopwatch: Stopwatch, *, lane_count: int) -> None:
        super().__init__(backend, lane_count=lane_count)
        self.jobs: list[Job] = []
        self.job_count = 0
        self._stopwatch = stopwatch

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        """Run a job and time it."""
        assert lane is not None
        stage = self._stopwatch.stage_of(lane)
        self._stopwatch.lap("construction" if stage == "first pass" else "judging")
        result = super().run(job, lane=lane)
        # A program carries the time of its process, which the SQL programs of a job share.
        times = [program[0].wall_time_s for program in result]
        self._stopwatch.lap(stage, program_s=max(times) if job.domain == "sql" else sum(times))
        self.job_count += 1
        if self.job_count % _STRIDE == 0:
            self.jobs.append(job)
        return result


class TimedSigner(Signer):
    """A signer with a fresh key that tells signing from judging."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        super().__init__(Ed25519PrivateKey.generate())
        self._stopwatch = stopwatch

    def sign(self, payload: bytes) -> bytes:
        """Sign a payload."""
        self._stopwatch.lap("judging")
        signature = super().sign(payload)
        self._stopwatch.lap("signing")
        return signature


def certify(recipe: Recipe, pool: TimedPool, stopwatch: Stopwatch) -> Iterator[Certified | Rejected]:
    """Certify every family of a recipe, as a server does."""
    certifier = Certifier(pool, TimedSigner(stopwatch))
    crew = Crew(pool.lane_count)

    def work(number: int, slot: FamilySlot) -> Certified | Rejected:
        first_lane = 2 * (number // 2 % (pool.lane_count // 2)) + number % 2
        stopwatch.begin(first_lane=first_lane)
        file = recipe.file(slot.shape_id)
        request = FamilyRequest(
            "bench", file.shape, file.digest, slot, recipe.families_per_cell, recipe.public_seed, recipe.private_seed
        )
        outcome = certifier.certify(request, first_lane=first_lane)
        stopwatch.lap("judging")
        return outcome

    yield from crew.run(recipe.slots(), work)


def say(line: str) -> None:
    print(line, flush=True)


def report(stopwatch: Stopwatch, pool: TimedPool, *, family_count: int, wall_s: float) -> None:
    """Print families a second, the stages, and the limit."""
    total = sum(stopwatch.seconds.values())
    say(f"{family_count:,} families × 3 rings × 2 passes in {wall_s:.1f} s: {family_count / wall_s:.1f} families/s")
    for stage in _STAGES:
        seconds = stopwatch.seconds[stage]
        share, each_ms = 100 * seconds / total, 1000 * seconds / family_count
        say(f"  {stage:<14}{seconds:9.2f} s {share:5.1f} %{each_ms:9.2f} ms a family")
    say(f"  processes     {stopwatch.program_s:9.2f} s, measured by the workers, both passes")
    started = time.perf_counter()
    run_in_process(pool.jobs)
    bare_s = (time.perf_counter() - started) / sum(len(job.programs) for job in pool.jobs)
    program_count = 12 * family_count
    passes_s = stopwatch.seconds["first pass"] + stopwatch.seconds["second pass"]
    say(f"  the same without isolation, in this process: {1000 * bare_s:.2f} ms a program")
    say(f"  ratio of a program in the sandbox, waiting included: {passes_s / (2 * program_count) / bare_s:.1f} x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(f"  peak memory of this process {peak:.0f} MB; the sandboxes' own is not in it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalog", nargs="?", type=Path, default=catalog_folder())
    parser.add_argument("--families-per-cell", type=int, default=16, choices=(4, 8, 12, 16))
    parser.add_argument("--backend", choices=("auto", "docker", "bubblewrap"), default="auto")
    parser.add_argument("--lanes", type=int, default=ServerConfig.default_lane_count())
    options = parser.parse_args()
    files, broken = read_author_files(sorted(options.catalog.rglob("*.toml")))
    if broken or not files:
        sys.exit(broken[0].message if broken else f"{options.catalog} holds no shape file")
    recipe = practice_recipe(files, families_per_cell=options.families_per_cell)
    family_count = len(recipe.slots())
    stopwatch = Stopwatch()
    rejected: list[Rejected] = []
    redrawn = 0
    with tempfile.TemporaryDirectory() as folder:
        backend, notice = choose_backend(options.backend, state_dir=Path(folder))
        if notice:
            say(notice)
        with TimedPool(backend, stopwatch, lane_count=options.lanes) as pool:
            say(f"{len(files)} shapes, {family_count:,} families, {backend.name}, {pool.lane_count} lanes")
            started = time.perf_counter()
            with shown_progress("certify", total=family_count, unit="families", write=say) as bar:
                for outcome in certify(recipe, pool, stopwatch):
                    bar.advance()
                    if isinstance(outcome, Rejected):
                        rejected.append(outcome)
                    else:
                        redrawn += outcome.attempt > 0
            wall_s = time.perf_counter() - started
            report(stopwatch, pool, family_count=family_count, wall_s=wall_s)
    say(
        f"certified {family_count - len(rejected):,} of {family_count:,}, {redrawn} of them not on their first fixtures"
    )
    for each in rejected:
        say(f"  {each.family_id}: {each.rejection.reason}: {each.rejection.message}")
    if rejected:
        sys.exit(1)


if __name__ == "__main__":
    main()
