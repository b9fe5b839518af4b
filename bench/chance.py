"""Count the programs that return a set in its order and are certified all the same, and time what stops them.

    python bench/chance.py [--sets 20000] [--families 8] [--backend bubblewrap|docker]

Each set is of 2, 3 or 4 random texts and constant, so a family has one order of it in each lane. A set slips through
two passes if it has the same order in both, and through certification if it has it in all kinds of lanes. Against two
passes, in the same run. The time is of an honest family whose programs ask for the length of a set by way of a list,
which counts as seeing its order, against the same family without that.
"""

from __future__ import annotations

import argparse
import random
import string
import tempfile
import time
from pathlib import Path

from leakscale.models import Condition
from leakscale.resources import catalog_folder
from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.core.judging.acceptance import Accepted
from leakscale_server.core.shapes import parse_shape
from leakscale_server.sandbox_pool import CHANCE_LANES, Job, Limits, SandboxPool, open_backend
from leakscale_server.scorer.prover import FamilyRequest, Prover

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


def prove_s(pool: SandboxPool, addition: str, family_count: int) -> float:
    """Return the seconds of certifying a family whose programs also evaluate an expression."""
    toml = (catalog_folder() / "python" / "threshold.toml").read_text(encoding="utf-8")
    toml = toml.replace("def transform(records):\n", f"def transform(records):\n    {addition}\n")
    shape = parse_shape(toml, source="threshold.toml")
    recipe = practice_recipe([], families_per_cell=4)
    prover = Prover(pool)
    started = time.perf_counter()
    for number in range(family_count):
        request = FamilyRequest(
            edition_id="practice",
            shape=shape,
            shape_digest=addition,
            slot=FamilySlot(shape.id, Condition.C0, number % 4),
            families_per_cell=4,
            public_seed=recipe.public_seed,
            private_seed=recipe.private_seed,
        )
        assert isinstance(prover.prove(request, first_lane=0).verdict, Accepted)
    return (time.perf_counter() - started) / family_count


def say(label: str, value: str) -> None:
    print(f"{label:<66}{value:>14}", flush=True)


def main() -> None:
    """Print shares and seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=20_000)
    parser.add_argument("--families", type=int, default=8)
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
        blind, seeing = (prove_s(pool, text, options.families) for text in ("len(set('ab'))", "len(list(set('ab')))"))
        say("certify a family that cannot see chance", f"{1000 * blind:.0f} ms")
        say("  ratio to it of one that can", f"{seeing / blind:.1f} x")
        for size in (2, 3, 4):
            literals = [a_set(draw, size) for _ in range(options.sets)]
            first, second, *others = (orders(pool, literals, lane) for lane in (0, 1, *CHANCE_LANES))
            twice = [number for number in range(options.sets) if first[number] == second[number]]
            always = [number for number in twice if all(other[number] == first[number] for other in others)]
            say(f"{options.sets} sets of {size} texts alike in two passes", f"{len(twice) / options.sets:.2%}")
            say("  in all kinds of lanes", f"{len(always) / options.sets:.4%}")


if __name__ == "__main__":
    main()
