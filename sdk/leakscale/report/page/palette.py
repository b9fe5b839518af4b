"""The colors of every page, light, dark and printed: one place, from which CSS and figures both take them.

A figure is drawn in the light colors. Inside a page each of its colors is replaced by the page's own (`css_color`), so
that one drawing serves both themes. The tests compute the contrast of every text against what is behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["DARK", "LIGHT", "PRINT", "SHARE_STEPS", "color", "contrast", "css_color", "mixed"]

LIGHT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "paper": "#fcfbf8",
        "card": "#f3f1ea",
        "ink": "#1d1c1a",
        "muted": "#625e56",
        "rule": "#d9d4c8",
        "cool": "#27608c",
        "warm": "#b9431f",
        "good": "#2b6a3c",
    }
)
"""By role. `cool` is what was left alone (control, fresh forms), `warm` what was leaked (exposed, public forms)."""
DARK: Final[Mapping[str, str]] = MappingProxyType(
    {
        "paper": "#15171a",
        "card": "#1f2226",
        "ink": "#e9e6df",
        "muted": "#a8a297",
        "rule": "#373b41",
        "cool": "#86b9e4",
        "warm": "#f5946f",
        "good": "#8fcf9f",
    }
)
PRINT: Final[Mapping[str, str]] = MappingProxyType(
    {**LIGHT, "paper": "#ffffff", "card": "#ffffff", "ink": "#000000", "muted": "#444444", "rule": "#bbbbbb"}
)
SHARE_STEPS: Final = 20
"""Steps between paper and a role's full color, of which `color` takes the nearest."""


def color(role: str, share: float = 1.0) -> str:
    """Return the light color of a role, or a mixture of it with the paper.

    Args:
        role: A key of `LIGHT`.
        share: Of the role in the mixture, in [0, 1]; the nearest of 20 steps is taken.
    """
    return _mixture(LIGHT, role, round(SHARE_STEPS * share))


def mixed(theme: Mapping[str, str], role: str, share: float) -> str:
    """Return what `color` shows in a theme."""
    return _mixture(theme, role, round(SHARE_STEPS * share))


def css_color(light: str) -> str | None:
    """Return the page's own color for one that `color` gave, as CSS; None where it gave no such color."""
    return _CSS.get(light.lower())


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colors, from 1 to 21.

    Source: WCAG 2.2, relative luminance; 4.5 is asked of text (1.4.3), 3 of what has to be seen of a figure (1.4.11).
    """
    low, high = sorted(map(_luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def _mixture(theme: Mapping[str, str], role: str, step: int) -> str:
    pairs = zip(_channels(theme[role]), _channels(theme["paper"]), strict=True)
    return "#" + "".join(f"{round(back + (front - back) * step / SHARE_STEPS):02x}" for front, back in pairs)


def _channels(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _luminance(text: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(text))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _known() -> dict[str, str]:
    known = {value: f"var(--{role})" for role, value in LIGHT.items()}
    for role in LIGHT:
        for step in range(1, SHARE_STEPS):
            share = 100 * step // SHARE_STEPS
            known.setdefault(_mixture(LIGHT, role, step), f"color-mix(in srgb, var(--{role}) {share}%, var(--paper))")
    return known


_CSS: Final = _known()
