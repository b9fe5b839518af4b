"""Families and texts of the tests."""

from __future__ import annotations

from leakscale.models import Candidate, Domain, Family, Ring

TASK = "List id and amount of orders whose amount is at least the policy value, by id."
"""Sixteen words: nine grams."""


def a_family(number: int = 1, *, task: str = TASK, texts: tuple[str, ...] | None = None) -> Family:
    """Build a valid SQL family, or with `texts` a Python one, with key, id and handles of its own."""
    shown = texts or tuple(f"h_{number:02x}a{place}" for place in range(4))
    first, second, third, fourth = (Candidate(text, f'{{"choice":{text!r}}}') for text in shown)
    return Family(
        family_id=f"f-{number:012x}",
        domain=Domain.PYTHON if texts else Domain.SQL,
        shape_id="python-scale" if texts else "sql-threshold",
        ring=Ring.R0,
        task=task,
        inputs=("orders(id, amount)",),
        key=f"K-{number:06x}ab",
        candidates=(first, second, third, fourth),
    )


def reads_of(raw: bytes, sizes: list[int]) -> list[bytes]:
    """Cut bytes as reads of these sizes, over and over."""
    reads: list[bytes] = []
    at = 0
    while at < len(raw):
        reads.append(raw[at : at + sizes[len(reads) % len(sizes)]])
        at += len(reads[-1])
    return reads
