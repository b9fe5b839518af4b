"""What a training leaves beside its tensors, and where an unfinished one keeps its work.

Loads nothing, so that a command can tell before torch is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

__all__ = ["CHECKPOINT_FILE", "LOSSES_FILE", "kept_of_training", "losses_to_lines", "unfinished_folder"]

LOSSES_FILE: Final = "losses.jsonl"
"""In the folder of an adapter: the mean loss of each optimizer step, in nats a supervised token."""

CHECKPOINT_FILE: Final = "checkpoint.pt"
"""In the folder of an unfinished run, from its first checkpoint on."""


def unfinished_folder(output_dir: Path) -> Path:
    """Return the folder beside `output_dir` that a run works in until its adapter is complete."""
    return output_dir.with_name(f"{output_dir.name}.partial")


def kept_of_training(output_dir: Path) -> str:
    """Say what is there of an adapter that was interrupted outside its optimizer steps."""
    if output_dir.exists():
        return "the adapter is complete"
    if (unfinished_folder(output_dir) / CHECKPOINT_FILE).exists():
        return "training is kept up to its last checkpoint"
    return "nothing of the training was there yet"


def losses_to_lines(losses: Iterable[float]) -> bytes:
    """Write the losses of an epoch as one JSON object a line, steps counted from 1."""
    return b"".join(b"%s\n" % json.dumps({"step": step, "loss": loss}).encode() for step, loss in enumerate(losses, 1))
