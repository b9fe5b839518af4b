"""Time certification through the server against starting a hardened container for each candidate.

    python bench/certify_served.py [--families-per-cell 8] [--sample 6]

Both in one run, on the same shapes. Certification runs every candidate twice, in two warm sandboxes; the other side
starts `docker run` with the same restrictions once for each candidate, sampled and multiplied, and runs an empty
program: what it costs before any work is done.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from _hardened import docker_run_s
from leakscale.client import Client
from leakscale.models import EditionKind
from leakscale.resources import catalog_folder, studies_folder
from leakscale.study.config import StudyShapes, load_study
from leakscale.study.local_server import local_server


def certify(families_per_cell: int, folder: Path) -> tuple[int, float, str]:
    """Return families, seconds and the image that ran them."""
    study = load_study(studies_folder() / "demo.toml")
    shapes = StudyShapes(catalog_folder()).read(study)
    with (
        local_server(folder / "server", backend="docker", log=folder / "server.log") as server,
        Client(server.target, token=server.token) as client,
    ):
        draft = client.editions.create(
            "bench",
            kind=EditionKind.PRACTICE,
            families_per_cell=families_per_cell,
            public_seed=study.seeds.public,
            practice_private_seed=study.seeds.practice_private,
            shapes=shapes,
        )
        start = time.perf_counter()
        outcomes = list(client.families.certify_edition(draft))
        seconds = time.perf_counter() - start
        image = client.server.info().sandbox_image
    if not all(outcome.is_certified for outcome in outcomes):
        raise SystemExit("a family was rejected; the time of a failed run says nothing")
    return len(outcomes), seconds, image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families-per-cell", type=int, default=8, choices=(4, 8, 12, 16))
    parser.add_argument("--sample", type=int, default=6, help="containers to start for the comparison")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        families, seconds, image = certify(options.families_per_cell, Path(folder))
    executions = 2 * 4 * families
    each = docker_run_s(image, sample=options.sample)
    print(f"certified {families} families (4 candidates, 2 passes each) in {seconds:.2f} s: {families / seconds:.1f}/s")
    print(f"  one candidate, one pass, all fixtures: {1000 * seconds / executions:.2f} ms")
    print(f"hardened `docker run` of an empty program, median of {options.sample}: {each:.3f} s")
    print(f"ratio for the same {executions} runs, extrapolated: {each * executions / seconds:.0f} x")


if __name__ == "__main__":
    main()
