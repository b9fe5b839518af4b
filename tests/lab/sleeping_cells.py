"""A measure that another process can import, to be killed while it measures."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from leakscale.lab import Cell

__all__ = ["note_and_sleep"]


def note_and_sleep(cell: Cell, _seed: int) -> dict[str, Any]:
    """Write the id of this process into the folder of the cell and sleep far longer than any test."""
    (Path(cell.settings["folder"]) / str(os.getpid())).touch()
    time.sleep(600)
    return {}
