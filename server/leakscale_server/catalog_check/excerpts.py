"""Two values side by side in a few words: only where they part, with a little around it."""

from __future__ import annotations

from typing import Final

__all__ = ["differing", "excerpt"]

_BEFORE: Final = 24
"""Letters kept in front of the first difference."""


def excerpt(text: str, *, width: int, start: int = 0) -> str:
    """Return at most `width` letters from `start`, with a mark on each side that is cut."""
    begin = max(0, min(start - _BEFORE, len(text) - width))
    piece = text[begin : begin + width]
    return ("…" if begin else "") + piece + ("…" if begin + width < len(text) else "")


def differing(one: str, other: str, *, width: int) -> tuple[str, str]:
    """Return excerpts of two texts around the first letter in which they differ."""
    pairs = zip(one, other, strict=False)
    start = next((place for place, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
    return excerpt(one, width=width, start=start), excerpt(other, width=width, start=start)
