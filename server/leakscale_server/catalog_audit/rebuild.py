"""Build families in a process of its own: `python -m leakscale_server.catalog_audit.rebuild`, used by `regeneration`.

Takes a pickled recipe and slots on standard input from the process that started it, and writes one digest a line.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence

from leakscale_server.catalog_audit.material import Recipe, digest
from leakscale_server.core.building.construction import FamilySlot

__all__ = ["main"]


def main() -> None:
    """Answer one request."""
    request: tuple[Recipe, Sequence[FamilySlot]] = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - our parent's
    recipe, slots = request
    for slot in slots:
        sys.stdout.write(f"{digest(recipe.build(slot)).hex()}\n")


if __name__ == "__main__":
    main()
