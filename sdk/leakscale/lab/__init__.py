"""Laboratories that measure what the estimators promise: coverage, transport, power, and exposure effects.

Each reruns a study of the papers and goes on to what they did not measure. Cells are simulated on several cores, each
from a seed of its own, and kept on disk, so that an interrupted run goes on.
"""

from leakscale.lab.cells import Cell, Row, Size
from leakscale.lab.laboratory import (
    LABORATORIES,
    FinishedLaboratory,
    Laboratory,
    laboratory_named,
    page,
    run_laboratory,
)
from leakscale.lab.running import usable_cores
from leakscale.lab.tables import Table

__all__ = [
    "LABORATORIES",
    "Cell",
    "FinishedLaboratory",
    "Laboratory",
    "Row",
    "Size",
    "Table",
    "laboratory_named",
    "page",
    "run_laboratory",
    "usable_cores",
]
