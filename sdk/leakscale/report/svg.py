"""Just enough SVG: shapes that take their colors from the page, so that one figure serves light, dark and print."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["circle", "figure", "line", "path", "text"]


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """Draw a straight line of a CSS class."""
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def circle(x: float, y: float, radius: float, style: str) -> str:
    """Draw a dot of a CSS class."""
    return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'


def path(points: Iterable[tuple[float, float]], style: str) -> str:
    """Draw an open polygon of a CSS class."""
    return f'<polyline class="{style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def text(x: float, y: float, content: str, style: str = "", *, anchor: str = "start") -> str:
    """Write one line with its baseline at y; `anchor` is `start`, `middle` or `end`."""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def figure(width: float, height: float, parts: Iterable[str], *, name: str, title: str, description: str) -> str:
    """Wrap parts into one scalable image that a screen reader announces by its title and description."""
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="{name}-title {name}-desc">\n'
        f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>\n'
        f"{body}\n</svg>"
    )
