"""Time the construction of a whole catalog in three rings, without running a program.

    python bench/catalog.py [CATALOG] [--families-per-cell 16]

One process builds every family of every shape: public tasks, artifacts and hidden fixtures of R0, R1 and R2. What it
prints is set against the catalog's own bar: 60 s and 1 GB for 64 shapes of 2 × 16 families.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from leakscale.models import Condition
from leakscale.resources import catalog_folder
from leakscale_server.core.building.construction import FamilySlot, construct, public_families
from leakscale_server.core.shapes import Shape, parse_shape

_SECONDS_BAR: Final = 60.0
_BYTES_BAR: Final = 10**9
_PUBLIC_SEED: Final = b"p" * 32
_PRIVATE_SEED: Final = b"s" * 32


def slots(shapes: list[Shape], families_per_cell: int) -> Iterator[tuple[Shape, FamilySlot]]:
    """Yield every family of an edition."""
    for shape, condition, ordinal in itertools.product(shapes, Condition, range(families_per_cell)):
        yield shape, FamilySlot(shape.id, condition, ordinal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalog", nargs="?", type=Path, default=catalog_folder())
    parser.add_argument("--families-per-cell", type=int, default=16, choices=(4, 8, 12, 16))
    options = parser.parse_args()
    cell = options.families_per_cell

    start = time.process_time()
    files = sorted(options.catalog.rglob("*.toml"))
    shapes = [parse_shape(path.read_text(encoding="utf-8"), source=path.name) for path in files]
    parse_s = time.process_time() - start

    start = time.process_time()
    for shape, slot in slots(shapes, cell):
        public_families(shape, slot, families_per_cell=cell, public_seed=_PUBLIC_SEED)
    public_s = time.process_time() - start

    # A digest over everything, so that two machines can compare what they built; no family is kept.
    digest = hashlib.sha256()
    family_count = program_count = fixture_bytes = 0
    start, wall_start = time.process_time(), time.perf_counter()
    for shape, slot in slots(shapes, cell):
        family = construct(shape, slot, families_per_cell=cell, public_seed=_PUBLIC_SEED, private_seed=_PRIVATE_SEED)
        family_count += 1
        for form in family.forms:
            digest.update(repr((form.public, form.programs, family.truth)).encode())
            program_count += len(form.programs)
            digest.update(b"".join(form.contents))
            fixture_bytes += sum(map(len, form.fixtures))
    whole_s, wall_s = time.process_time() - start, time.perf_counter() - wall_start
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    print(
        f"{len(shapes)} shapes, {family_count} families × 3 rings: {program_count} programs, "
        f"{fixture_bytes / 1e6:.0f} MB of fixtures"
    )
    print(f"  read and check the files  {parse_s:7.2f} s CPU")
    print(f"  public part alone         {public_s:7.2f} s CPU ({1000 * public_s / family_count:.2f} ms a family)")
    print(
        f"  everything                {whole_s:7.2f} s CPU, {wall_s:.2f} s wall: "
        f"{family_count / whole_s:.0f} families/s"
    )
    print(f"  peak memory               {peak_bytes / 1e6:7.0f} MB")
    print(f"  digest                    {digest.hexdigest()}")
    scale = 2048 / family_count
    print(
        f"2,048 families take {_SECONDS_BAR / (scale * (parse_s + whole_s)):.1f} x less time than the bar of "
        f"{_SECONDS_BAR:.0f} s, and {_BYTES_BAR / peak_bytes:.1f} x less memory than that of 1 GB"
    )


if __name__ == "__main__":
    main()
