"""Pictures by matplotlib: inside a page, as SVG and as PDF, from one function that draws.

The same numbers give the same bytes with the same matplotlib. Letters stay letters in SVG: they can be searched and
copied, and are shown in the reader's own font, so that no glyph is missing; a picture leaves room, since fonts differ
in width (matplotlib lays out in DejaVu Sans, wider than most).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any, Final

from leakscale.report.page.extra import require_extra
from leakscale.report.page.palette import color, css_color

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FONTS", "Draw", "inline_svg", "pdf_bytes", "svg_bytes"]

Draw = Callable[["Figure"], None]
"""Fills an empty figure of the size it is to have. Colors come from `palette.color`; any other stays as it is."""

FONTS: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'
"""Of pages and pictures alike."""
_FONT_FAMILY: Final = "DejaVu Sans"
"""It comes with matplotlib, so that every machine lays out alike."""
_SETTINGS: Any = {
    "svg.hashsalt": "leakscale",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": _FONT_FAMILY,
    "font.size": 12,
    "text.parse_math": False,
    "text.color": color("ink"),
    "axes.edgecolor": color("muted"),
    "axes.labelcolor": color("muted"),
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": color("rule"),
    "grid.linewidth": 1,
    "xtick.color": color("muted"),
    "ytick.color": color("muted"),
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "figure.facecolor": "none",
    "figure.dpi": 72,
    "savefig.dpi": 72,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "legend.fontsize": 11,
}
_POINTS_PER_INCH: Final = 72
"""A point is drawn as one CSS pixel."""
_NO_METADATA: Final = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def svg_bytes(draw: Draw, *, width: int, height: int, title: str, description: str) -> bytes:
    """Return a picture as an SVG file in the light colors, on the light paper: legible on a page of any color.

    Args:
        draw: Fills the figure.
        width: In CSS pixels, as `height`.
        height: Likewise.
        title: Read out by a screen reader, as is the description.
        description: What the picture says, in words and numbers.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    drawn = _svg(draw, width=width, height=height).replace(f"'{_FONT_FAMILY}'", FONTS.replace('"', "'"))
    spoken = f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n"
    spoken += f'<rect width="100%" height="100%" fill="{color("paper")}"/>\n'
    opening = re.search(r"<svg[^>]*>\s*", drawn)
    assert opening is not None  # noqa: S101 - matplotlib wrote it
    return (drawn[: opening.end()] + spoken + drawn[opening.end() :]).encode()


def pdf_bytes(draw: Draw, *, width: int, height: int) -> bytes:
    """Return a picture as a PDF file in the light colors; sizes are in CSS pixels.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    return _saved(draw, "pdf", width=width, height=height)


def inline_svg(draw: Draw, *, width: int, height: int, name: str, title: str, description: str) -> str:
    """Return a picture as an SVG element of a page, in the page's colors and font.

    Args:
        draw: Fills the figure.
        width: Of its own coordinate system, in CSS pixels; on the page it takes the width it is given.
        height: Likewise.
        name: Of this picture alone on its page: a prefix of every id.
        title: Read out by a screen reader, as is the description.
        description: What the picture says, in words and numbers.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    drawn = _svg(draw, width=width, height=height)
    body = drawn[drawn.index(">", drawn.index("<svg")) + 1 : drawn.rindex("</svg>")]
    body = _own_ids(_slim(body), name)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda found: css_color(found[0]) or found[0], body)
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-desc">\n'
        f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>\n'
        f"{body}</svg>"
    )


def _slim(body: str) -> str:
    """Leave out what the page has already or nobody sees: styles, fonts, turns by nothing, the fourth decimal."""
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = body.replace(f"font-family: '{_FONT_FAMILY}'; ", "")
    body = re.sub(r'<path d="[^"]*" style="fill: none"/>', "", body)
    body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r"(\d+\.\d{2})\d+", r"\1", body)
    body = re.sub(r'd="[^"]*"', lambda path: path[0].replace(" \n", " ").replace("\n", " "), body)
    return re.sub(r"\s*\n\s*", "\n", body).lstrip()


def _own_ids(body: str, name: str) -> str:
    """Keep the ids that something refers to, under the picture's name: two pictures may define the same marker."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([\w-]+)", body))
    body = re.sub(r' id="([\w.-]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", body)
    body = re.sub(r"url\(#([\w-]+)\)", rf"url(#{name}-\1)", body)
    return re.sub(r'xlink:href="#([\w-]+)"', rf'href="#{name}-\1"', body)


def _svg(draw: Draw, *, width: int, height: int) -> str:
    return _saved(draw, "svg", width=width, height=height).decode()


def _saved(draw: Draw, kind: str, *, width: int, height: int) -> bytes:
    require_extra()
    import matplotlib as mpl  # noqa: PLC0415 - an extra, and a slow one
    from matplotlib.figure import Figure  # noqa: PLC0415

    content = io.BytesIO()
    # The figure belongs to no display and to no global state of matplotlib.
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(width / _POINTS_PER_INCH, height / _POINTS_PER_INCH), layout="constrained")
        draw(figure)
        if all(axes.get_subplotspec() is None for axes in figure.axes):
            figure.set_layout_engine("none")  # every place was given
        figure.savefig(content, format=kind, metadata=_NO_METADATA[kind])
    return content.getvalue()
