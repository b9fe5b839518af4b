"""Time the sandbox part of certifying the demo: 128 families of four programs, two passes on two lanes.

    python bench/certify_sandbox.py [docker|bubblewrap]

Against, in the same run: a hardened `docker run` a program (three sampled, extrapolated) and the same programs in this
process without any isolation, which is the limit.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from leakscale_server.sandbox_pool import Job, SandboxPool, open_backend
from leakscale_server.sandbox_pool.image_cache import ImageCache

FAMILY_COUNT = 128
PROGRAM_COUNT = 4
HARDENED = (
    *("--rm", "--network", "none", "--read-only", "--ipc", "none", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges", "--pids-limit", "32"),
    *("--memory", "512m", "--memory-swap", "512m", "--log-driver", "none"),
)
SAMPLE_COUNT = 3


def python_family(number: int) -> Job:
    """Four thresholds over 16 lists of records."""
    programs = tuple(
        "from collections import defaultdict\n"
        "def transform(records):\n"
        "    groups = defaultdict(int)\n"
        f"    for record in records:\n        if record['n'] > {number % 5 + choice}:\n"
        "            groups[record['name']] += record['n']\n"
        "    return [{'name': name, 'sum': total} for name, total in sorted(groups.items())]\n"
        for choice in range(PROGRAM_COUNT)
    )
    fixtures = tuple(
        json.dumps([{"name": f"g{i % 4}", "n": (i * (seed + 3) + number) % 12} for i in range(20)]).encode()
        for seed in range(16)
    )
    return Job("python", programs, fixtures)


def sql_family(number: int) -> Job:
    """Four thresholds over eight databases of two tables."""
    programs = tuple(
        "SELECT c.name, sum(o.amount) AS total FROM customers c JOIN orders o ON o.customer_id = c.id "
        f"WHERE o.amount > {number % 5 + choice} GROUP BY c.name HAVING count(*) > 1 ORDER BY total DESC, c.name"
        for choice in range(PROGRAM_COUNT)
    )
    return Job("sql", programs, tuple(database(number, seed) for seed in range(8)))


def database(number: int, seed: int) -> bytes:
    """Serialize eight customers and forty orders."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
    connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, amount INTEGER)")
    connection.executemany("INSERT INTO customers VALUES (?, ?)", [(i, f"c{i}") for i in range(8)])
    orders = [(i, i * (seed + 3) % 8, (i * 7 + number) % 13) for i in range(40)]
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", orders)
    connection.commit()
    serialized = connection.serialize()
    connection.close()
    return serialized


def unsandboxed(jobs: list[Job]) -> None:
    """Run every program on every fixture in this process."""
    for job in jobs:
        for program in job.programs:
            if job.domain == "sql":
                for fixture in job.fixtures:
                    connection = sqlite3.connect(":memory:")
                    connection.deserialize(fixture)
                    connection.execute(program).fetchall()
                    connection.close()
            else:
                namespace: dict[str, Callable[[object], object]] = {}
                exec(compile(program, "candidate", "exec"), namespace)
                for fixture in job.fixtures:
                    namespace["transform"](json.loads(fixture))


def docker_run(tag: str) -> float:
    """Return the seconds of one hardened `docker run` of an empty program."""
    started = time.perf_counter()
    command = ["docker", "run", *HARDENED, tag, "-I", "-S", "-c", "pass"]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def timed(label: str, action: Callable[[], object]) -> float:
    """Run an action, print its seconds, and return them."""
    started = time.perf_counter()
    action()
    seconds = time.perf_counter() - started
    print(f"{label:<58}{seconds:9.2f} s")
    return seconds


def main() -> None:
    """Print seconds and ratios."""
    name = sys.argv[1] if len(sys.argv) > 1 else "docker"
    jobs = [python_family(n) if n % 2 else sql_family(n) for n in range(FAMILY_COUNT)]
    runs = FAMILY_COUNT * PROGRAM_COUNT * 2
    with tempfile.TemporaryDirectory() as folder:
        state_dir = Path(folder)
        timed("image names (first time: builds the image)", lambda: ImageCache(state_dir).names())
        timed("open backend", lambda: open_backend(name, state_dir=state_dir).close())
        started = time.perf_counter()
        with (
            SandboxPool(open_backend(name, state_dir=state_dir), lane_count=2) as pool,
            ThreadPoolExecutor(2) as threads,
        ):
            print(f"{'start two lanes':<58}{time.perf_counter() - started:9.2f} s")

            def one_pass(lane: int) -> list[object]:
                return [pool.run(job, lane=lane) for job in jobs]

            passes: list[list[object]] = []
            sandboxed = timed(
                f"{runs} programs, both passes, {name}", lambda: passes.extend(threads.map(one_pass, range(2)))
            )
            print(f"{'the passes agree':<58}{passes[0] == passes[1]!s:>9}")
        limit = timed("the same in one process, one pass, no isolation", lambda: unsandboxed(jobs)) * 2
        print(f"{'ratio to no isolation (both passes)':<58}{sandboxed / limit:9.1f} x")
        if name == "docker":
            tag = ImageCache(state_dir).names().tag
            cold = sum(docker_run(tag) for _ in range(SAMPLE_COUNT)) / SAMPLE_COUNT * runs
            print(f"{'hardened docker run a program, extrapolated':<58}{cold:9.2f} s")
            print(f"{'ratio to docker run':<58}{cold / sandboxed:9.1f} x")


if __name__ == "__main__":
    main()
