"""A laboratory is a list of cells: settings that are simulated one by one, each with randomness of its own."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Cell", "Row", "Size", "rng_of"]


class Size(enum.StrEnum):
    """How many replicates a laboratory spends."""

    QUICK = "quick"
    """Seconds: shows that everything runs. Its numbers are too rough to cite."""
    FULL = "full"
    """Minutes: the numbers that docs/lab stores."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting of a laboratory."""

    name: str
    """Unique in its laboratory, and the source of its randomness, e.g. `srs/sparse/N1000/n50`."""
    settings: Mapping[str, Any]
    """JSON-ready values that, with the name and the root seed, determine the result."""
    weight: float = 1.0
    """Work relative to the other cells; heavy cells start first, so that the cores finish together."""


@dataclass(frozen=True, slots=True)
class Row:
    """A cell and what was measured in it."""

    cell: str
    settings: Mapping[str, Any]
    measures: Mapping[str, Any]
    """JSON-ready; counts are kept beside the shares made of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return {"cell": self.cell, "settings": dict(self.settings), "measures": dict(self.measures)}


def rng_of(seed: int, name: str) -> np.random.Generator:
    """Return the generator of a cell: a function of the root seed and the cell's name alone.

    So a result depends neither on the number of cores, nor on the order of the cells, nor on where a run was resumed.
    """
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *digest])))
