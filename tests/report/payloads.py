"""What a server signs of an experiment, put together for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leakscale.statements import Predicate, statement

__all__ = ["a_payload"]


def a_payload(numbers: Mapping[str, Any]) -> bytes:
    """State the numbers of experiment `exp-1`."""
    return statement(Predicate.DISCLOSURE, subject="experiments/exp-1", digest=b"\xef" * 32, predicate=numbers)
