"""Two values side by side in a few words: only where they part, with a little around it."""

from __future__ import annotations

__all__ = ["differing", "excerpt"]


def excerpt(text: str, *, width: int, begin: int = 0) -> str:
    """Return at most `width` letters from `begin`, with a mark on each side that is cut."""
    return ("…" if begin else "") + text[begin : begin + width] + ("…" if begin + width < len(text) else "")


def differing(one: str, other: str, *, width: int) -> tuple[str, str]:
    """Return excerpts of two texts around the first letter in which they differ; of unequal texts, they are unequal."""
    pairs = enumerate(zip(one, other, strict=False))
    start = next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
    begin = max(0, start - width // 3) if max(len(one), len(other)) > width else 0
    return excerpt(one, width=width, begin=begin), excerpt(other, width=width, begin=begin)
