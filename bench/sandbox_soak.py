"""Run thousands of hostile and honest jobs in a row, and show that the sandbox is afterwards what it was before.

    python bench/sandbox_soak.py [--backend docker|bubblewrap] [--jobs 10000] [--cache-dir DIR]

Prints, before and after: processes below this one, containers of this server, their cgroups, open descriptors and
threads, resident memory of this process and of the workers; and the 99th percentile of the first and the last tenth of
the honest jobs with their ratio. An honest job that gives another value ends the run. Both lanes run at once.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path

from leakscale_sandbox.canonical_reader import canonical_text
from leakscale_server.config import ServerConfig
from leakscale_server.sandbox_check import BOMBS
from leakscale_server.sandbox_check.bombs import HONEST
from leakscale_server.sandbox_pool import Job, Limits, SandboxPool, Verdict, open_backend
from leakscale_server.sandbox_pool.owners import this_process

LANE_COUNT = 2
WARM_UP_COUNT = 400
"""Jobs before the first figures: what grows once, such as a cache of checked values, has grown then."""
HOSTILE_SHARE = 0.5
FORGED = Job(
    "python",
    ("import os\ndef transform(records):\n    for fd in range(64):\n        try: os.write(fd, b'LSR1' * 9)\n"
     "        except OSError: pass\n    os._exit(0)",),
    (b"[1]",),
)  # fmt: skip
# Time passes here but no work is done: a thousand of them are a minute.
SLEEP = Job(
    "python",
    ("import time\ndef transform(records):\n    time.sleep(60)",),
    (b"[1]",),
    limits=Limits(wall_time_s_max=0.03),
)
HOSTILE = (
    *(bomb.job for bomb in BOMBS if bomb.is_quick and bomb.limit not in {"wall-clock time", "SQL heap"}),
    SLEEP,
)
RARE = (FORGED, next(bomb.job for bomb in BOMBS if bomb.limit == "SQL heap"))
RARE_SHARE = 0.02
CGROUP_ROOT = Path("/sys/fs/cgroup")


@dataclass
class Times:
    """Seconds of the honest jobs, in the order in which they ended, and what became of the others."""

    honest: list[float] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class Footprint:
    """What a server holds at one moment."""

    processes: int
    containers: int
    cgroups: int
    descriptors: int
    threads: int
    server_rss_kib: int
    workers_rss_kib: int


def jobs(count: int, seed: int) -> Iterator[tuple[Job, str]]:
    """Draw jobs; with each the text that it must return, or nothing where it is hostile."""
    draw = random.Random(seed)
    for _ in range(count):
        if draw.random() < HOSTILE_SHARE:
            yield draw.choice(RARE if draw.random() < RARE_SHARE else HOSTILE), ""
        else:
            yield an_honest_job(draw.randrange(1000))


def an_honest_job(number: int) -> tuple[Job, str]:
    """Four programs on eight fixtures, as a family has them; each number gives other values."""
    body = "return [{'n': n, 'k': k} for n, k in sorted((r['n'], r['k']) for r in records if r['n'] > %d)]"
    programs = tuple("def transform(records):\n    " + body % (number % 7 + choice) for choice in range(4))
    fixture = [{"n": (i * 7 + number) % 13, "k": f"g{i % 3}"} for i in range(20)]
    kept = sorted((row["n"], row["k"]) for row in fixture if int(str(row["n"])) > number % 7)
    expected = json.dumps([{"k": k, "n": n} for n, k in kept], separators=(",", ":"))
    return Job("python", programs, (json.dumps(fixture).encode(),) * 8), expected


def run(pool: SandboxPool, lane: int, drawn: Iterator[tuple[Job, str]], times: Times) -> None:
    """Run jobs on a lane until none is left."""
    while True:
        with times.lock:
            job, expected = next(drawn, (None, ""))
        if job is None:
            return
        started = time.perf_counter()
        execution = pool.run(job, lane=lane)[0][0]
        seconds = time.perf_counter() - started
        if expected and (execution.verdict is not Verdict.RETURNED or canonical_text(execution.output) != expected):
            raise SystemExit(f"an honest job gave {execution}, not {expected}")
        with times.lock:
            if expected:
                times.honest.append(seconds)
            else:
                times.verdicts[f"{execution.verdict}: {execution.detail}" if execution.detail else "returned"] += 1


def check_honest(pool: SandboxPool) -> None:
    """Run one honest program a domain on every lane; a lane that was to be replaced has a new worker then."""
    for bomb in HONEST:
        for lane in range(LANE_COUNT):
            if not bomb.must_end(pool.run(bomb.job, lane=lane)[0][0]):
                raise SystemExit(f"{bomb.limit} does not give the right value on lane {lane}")


def footprint() -> Footprint:
    # What the allocator keeps for later comes and goes with its arenas; what is in use is what could leak.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    workers = worker_pids()
    return Footprint(
        processes=len(descendants(os.getpid())),
        containers=len(containers()),
        cgroups=cgroup_count(),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        threads=threading.active_count(),
        server_rss_kib=rss_kib(os.getpid()),
        workers_rss_kib=sum(rss_kib(pid) for pid in workers),
    )


def containers() -> list[tuple[str, int]]:
    """Return id and PID 1 of each container of this process, dead ones too."""
    try:
        import docker  # noqa: PLC0415

        client = docker.from_env()
    except Exception:  # no daemon: then there are none
        return []
    try:
        owned = {"label": f"leakscale.sandbox.owner={this_process()}"}
        found = [one["Id"] for one in client.api.containers(all=True, filters=owned)]
        return [(one, int(client.api.inspect_container(one)["State"]["Pid"])) for one in found]
    finally:
        client.close()


def worker_pids() -> list[int]:
    """Return the workers: PID 1 of each container, and every process below this one."""
    return [pid for _, pid in containers()] + descendants(os.getpid())


def cgroup_count() -> int:
    """Return how many cgroups this server's containers have, over all controllers."""
    ids = [identity for identity, _ in containers()]
    roots = [CGROUP_ROOT / "docker", *CGROUP_ROOT.glob("*/docker"), CGROUP_ROOT / "system.slice"]
    return sum(any(one in path.name for one in ids) for root in roots if root.is_dir() for path in root.iterdir())


def all_cgroup_count() -> int:
    """Return how many container cgroups there are on this host, whoever's."""
    roots = [CGROUP_ROOT / "docker", *CGROUP_ROOT.glob("*/docker"), CGROUP_ROOT / "system.slice"]
    return sum(path.is_dir() for root in roots if root.is_dir() for path in root.iterdir())


def descendants(pid: int) -> list[int]:
    found, pending = [], [pid]
    while pending:
        try:
            tasks = list(Path(f"/proc/{pending.pop()}/task").iterdir())
            children = [int(one) for task in tasks for one in (task / "children").read_text().split()]
        except OSError:
            continue
        found += children
        pending += children
    return found


def rss_kib(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")), 0)


def percentile_99(seconds: list[float]) -> float:
    return sorted(seconds)[max(0, round(len(seconds) * 0.99) - 1)]


def show(before: Footprint, after: Footprint) -> None:
    print(f"{'':<24}{'before':>12}{'after':>12}{'difference':>12}")
    for each in fields(Footprint):
        first, last = getattr(before, each.name), getattr(after, each.name)
        print(f"{each.name.replace('_', ' '):<24}{first:>12,}{last:>12,}{last - first:>+12,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("docker", "bubblewrap"), default="docker")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache-dir", type=Path, default=ServerConfig.default_cache_dir())
    options = parser.parse_args()
    others_before = all_cgroup_count()
    with SandboxPool(open_backend(options.backend, state_dir=options.cache_dir), lane_count=LANE_COUNT) as pool:
        threads = ThreadPoolExecutor(LANE_COUNT)

        def run_all(count: int, seed: int) -> Times:
            times, drawn = Times(), jobs(count, seed)
            lanes = range(LANE_COUNT)
            list(threads.map(run, itertools.repeat(pool), lanes, itertools.repeat(drawn), itertools.repeat(times)))
            return times

        run_all(WARM_UP_COUNT, options.seed + 1)
        check_honest(pool)
        before, load_before = footprint(), os.getloadavg()[0]
        started = time.perf_counter()
        times = run_all(options.jobs, options.seed)
        seconds = time.perf_counter() - started
        check_honest(pool)
        after = footprint()
        threads.shutdown()
    tenth = min(1000, len(times.honest) // 3)
    first, last = percentile_99(times.honest[:tenth]), percentile_99(times.honest[-tenth:])
    print(f"{options.jobs:,} jobs under {options.backend} on {LANE_COUNT} lanes in {seconds:.1f} s")
    print(f"{len(times.honest):,} honest ones gave the right value")
    print("hostile ones ended as " + ", ".join(f"{name} {count}" for name, count in times.verdicts.most_common()))
    show(before, after)
    print(f"left after close: {len(descendants(os.getpid()))} processes, {len(containers())} containers; ", end="")
    print(f"container cgroups on this host {others_before} before, {all_cgroup_count()} after")
    print(f"99th percentile of {tenth:,} honest jobs: first {first * 1000:.1f} ms, last {last * 1000:.1f} ms")
    print(f"ratio {last / first:.2f}; load of this host {load_before:.1f} before, {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
