"""Parents and banks that a test says only its own part of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leakscale.audit.forms import FormBank, read_bank

ORIGINAL = "Tom buys 3 boxes of 12 pencils each and gives 5 pencils away. How many pencils does he keep?"
FRESH = (
    "After buying 3 cartons with 12 crayons apiece, Ana hands 5 crayons to friends. What number of crayons remains?",
    "A teacher owns 3 trays that hold 12 markers each; after 5 markers are lost, count what is left.",
)


def line(parent_id: str = "p1", **fields: Any) -> dict[str, Any]:
    """Return a numeric parent with two fresh forms; `None` leaves a field out."""
    whole = {"id": parent_id, "criterion": "numeric", "gold": "31", "original": ORIGINAL, "fresh": list(FRESH)} | fields
    return {name: value for name, value in whole.items() if value is not None}


def choice(parent_id: str = "c1", **fields: Any) -> dict[str, Any]:
    """Return a choice among four options."""
    options = [
        {"label": label, "text": text} for label, text in zip("ABCD", ("ice", "iron", "air", "oil"), strict=True)
    ]
    return line(
        parent_id,
        **{
            "criterion": "choice",
            "gold": "A",
            "options": options,
            "original": "Which of these melts first when a room grows warm?",
            "fresh": ["As the temperature indoors rises, what turns liquid before the rest?"],
        }
        | fields,
    )


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    """Write a bank's file."""
    path = folder / "bank.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def bank(folder: Path, *lines: dict[str, Any]) -> FormBank:
    """Write and read a bank."""
    return read_bank(write(folder, *lines))
