"""Whether a recipe gives the same bytes in any process and in any order."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Material, Recipe
from leakscale_server.core.building.construction import FamilySlot

__all__ = ["RebuildError", "check_regeneration"]

_PROCESSES = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4294967295", "TZ": "Pacific/Niue", "LC_ALL": "C.UTF-8"},
)
"""What differs between the processes that build again, besides the families that each of them builds."""


class RebuildError(RuntimeError):
    """A process that should have built families again did not."""


def check_regeneration(material: Material) -> Finding:
    """Build every family again, backwards, in two other processes side by side, and compare every byte.

    Raises:
        RebuildError: If such a process fails. That says nothing about the catalog.
    """
    recipe = material.recipe
    slots = recipe.slots()
    parts = [range(len(slots))[::-1][number :: len(_PROCESSES)] for number in range(len(_PROCESSES))]

    def rebuild(number: int) -> list[bytes]:
        return _rebuild(recipe, [slots[index] for index in parts[number]], _PROCESSES[number])

    with ThreadPoolExecutor(len(_PROCESSES)) as executor:
        rebuilt = list(executor.map(rebuild, range(len(_PROCESSES))))

    def faults() -> Iterator[str]:
        for part, digests in zip(parts, rebuilt, strict=True):
            for index, again in zip(part, digests, strict=True):
                if again != material.digests[index]:
                    yield f"{material.families[index].family_id} comes out otherwise in another process"

    return find(
        "regeneration",
        f"{counted(len(slots), 'family', 'families')} built again in {len(_PROCESSES)} processes",
        faults(),
    )


def _rebuild(recipe: Recipe, slots: Sequence[FamilySlot], environment: dict[str, str]) -> list[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "leakscale_server.catalog_audit.rebuild"],
        input=pickle.dumps((recipe, slots)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise RebuildError(f"a process that builds families again ended with {done.returncode}: {said}")
    return [bytes.fromhex(line) for line in done.stdout.decode().split()]
