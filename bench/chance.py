"""Count the programs that return a set in its order and are certified all the same, and time what stops them.

    python bench/chance.py [--sets 20000] [--backend bubblewrap|docker]

Each set is of 2, 3 or 4 random texts and constant, so a family has one order of it in each lane. A set slips through
two passes if it has the same order in both, and through certification if it has it in all kinds of lanes. Against two
passes, in the same run.
"""

from __future__ import annotations

import argparse
import random
import string
import tempfile
import time
from pathlib import Path

from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.sandbox_pool import CHANCE_LANES, Job, Limits, SandboxPool, open_backend

SETS_PER_PROGRAM = 1_000
LIMITS = Limits(output_bytes_max=1 << 20)


def a_set(draw: random.Random, size: int) -> str:
    """Return a literal of so many distinct texts."""
    texts: set[str] = set()
    while len(texts) < size:
        texts.add("".join(draw.choices(string.ascii_lowercase, k=draw.randint(1, 8))))
    return "{" + ", ".join(map(repr, draw.sample(sorted(texts), size))) + "}"


def orders(pool: SandboxPool, literals: list[str], lane: int) -> list[object]:
    """Return the order that a lane gives to each set."""
    found: list[object] = []
    for begin in range(0, len(literals), SETS_PER_PROGRAM):
        listed = ", ".join(f"list({literal})" for literal in literals[begin : begin + SETS_PER_PROGRAM])
        job = Job("python", (f"def transform(records):\n    return [{listed}]\n",), (b"[]",), limits=LIMITS)
        value = decode_value(pool.run(job, lane=lane)[0][0].output)
        assert isinstance(value, list)
        found += value
    return found


def say(label: str, value: str) -> None:
    print(f"{label:<66}{value:>14}", flush=True)


def main() -> None:
    """Print shares and seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=20_000)
    parser.add_argument("--backend", choices=("docker", "bubblewrap"), default="bubblewrap")
    options = parser.parse_args()
    draw = random.Random(0)
    with (
        tempfile.TemporaryDirectory() as folder,
        SandboxPool(open_backend(options.backend, state_dir=Path(folder)), lane_count=2) as pool,
    ):
        started = time.perf_counter()
        for lane in CHANCE_LANES:
            orders(pool, ["{'a', 'b'}"], lane)
        say(f"start {len(CHANCE_LANES)} further lanes, one after the other", f"{time.perf_counter() - started:.2f} s")
        for size in (2, 3, 4):
            literals = [a_set(draw, size) for _ in range(options.sets)]
            first, second, *others = (orders(pool, literals, lane) for lane in (0, 1, *CHANCE_LANES))
            twice = [number for number in range(options.sets) if first[number] == second[number]]
            always = [number for number in twice if all(other[number] == first[number] for other in others)]
            say(f"{options.sets} sets of {size} texts alike in two passes", f"{len(twice) / options.sets:.2%}")
            say("  in all kinds of lanes", f"{len(always) / options.sets:.4%}")


if __name__ == "__main__":
    main()
