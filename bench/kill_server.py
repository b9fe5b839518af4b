"""Kill a server with SIGKILL at random points while it certifies, and show that nothing is lost, doubled or left.

    python bench/kill_server.py [--backend docker|bubblewrap] [--points 30] [--seed 1] [--cache-dir DIR]

Each point is a random moment of one certification of 64 families. After each, a new server on the same folder must
certify the rest: every certificate that was answered is still the same, no family has two, and no container, cgroup or
process of the killed server is there. Slow: a minute or two.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from _served import Server, descendants, require, running, runs, start, wait_until_gone
from leakscale.client import Client
from leakscale.errors import LeakScaleError
from leakscale.models import EditionKind, ShapeFile
from leakscale.resources import catalog_folder
from leakscale_server.config import ServerConfig

FAMILY_COUNT = 64
SHAPES = ("sql/threshold.toml", "python/prefix.toml")


def certify(server: Server) -> Iterator[tuple[str, bytes]]:
    """Yield family and certificate as they are answered."""
    with Client(server.target, token=server.token) as client:
        draft = client.editions.create(
            "killed",
            kind=EditionKind.PRACTICE,
            families_per_cell=FAMILY_COUNT // 4,
            public_seed=b"p" * 32,
            practice_private_seed=b"s" * 32,
            shapes=[ShapeFile(name, (catalog_folder() / name).read_text(encoding="utf-8")) for name in SHAPES],
        )
        for outcome in client.families.certify_edition(draft):
            if not outcome.is_certified:
                raise SystemExit(f"{outcome.family} was rejected")
            yield outcome.family, repr(outcome.certificate).encode()


def kill_once(folder: Path, delay_s: float, *, backend: str, cache_dir: Path) -> int:
    """Kill one server after a delay, go on with another, and return how many families the first one answered."""
    data_dir = folder / "data"
    server = start(data_dir, backend=backend, cache_dir=cache_dir)
    family = descendants(server.process.pid)
    killer = threading.Timer(delay_s, server.process.kill)
    killer.start()
    answered: dict[str, bytes] = {}
    with contextlib.suppress(LeakScaleError):
        answered.update(certify(server))
    killer.join()
    server.process.wait()
    with running(data_dir, backend=backend, cache_dir=cache_dir) as again:
        outcomes = list(certify(again))
    require(len(outcomes) == len(dict(outcomes)) == FAMILY_COUNT, f"{len(outcomes)} families, not {FAMILY_COUNT}")
    require(answered.items() <= dict(outcomes).items(), "an answered certificate was lost or is another one")
    with contextlib.closing(sqlite3.connect(data_dir / "registry.db")) as registry:
        (counts,) = registry.execute("SELECT count(*), count(DISTINCT family_id) FROM certificates")
    require(counts == (FAMILY_COUNT, FAMILY_COUNT), f"certificates and families in the registry: {counts}")
    require(not wait_until_gone(lambda: containers(family, backend)), "a container is left")
    require(not wait_until_gone(lambda: [pid for pid in family if runs(pid)]), "a process is left")
    return len(answered)


def containers(pids: list[int], backend: str) -> list[str]:
    """Return the containers that a server's processes started, dead ones too."""
    if backend != "docker":
        return []
    form = '{{.ID}} {{.Label "leakscale.sandbox.owner"}}'
    command = ["docker", "ps", "--all", "--filter", "label=leakscale.sandbox", "--format", form]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if any(f"/{pid}/" in line for pid in pids)]


def whole_seconds(*, backend: str, cache_dir: Path) -> float:
    """Return how long one certification takes when nobody kills it."""
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with running(data_dir, backend=backend, cache_dir=cache_dir) as server:
            started = time.perf_counter()
            require(len(dict(certify(server))) == FAMILY_COUNT, "not every family was certified")
            return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("docker", "bubblewrap"), default="docker")
    parser.add_argument("--points", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache-dir", type=Path, default=ServerConfig.default_cache_dir())
    options = parser.parse_args()
    draw = random.Random(options.seed)
    whole_s = whole_seconds(backend=options.backend, cache_dir=options.cache_dir)
    print(f"{FAMILY_COUNT} families take {whole_s:.2f} s under {options.backend}; killed at a random point of that")
    counts = []
    for number in range(options.points):
        delay_s = draw.uniform(0.0, whole_s)
        with tempfile.TemporaryDirectory() as folder:
            count = kill_once(Path(folder), delay_s, backend=options.backend, cache_dir=options.cache_dir)
        counts.append(count)
        print(f"  {number + 1:3}: killed after {delay_s:5.2f} s, {count:2} answered, the rest certified, nothing left")
    amid = sum(0 < count < FAMILY_COUNT for count in counts)
    print(f"{options.points} of {options.points} points hold, {amid} of them in the middle of the answers")


if __name__ == "__main__":
    main()
