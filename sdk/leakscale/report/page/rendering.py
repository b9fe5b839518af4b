"""From a template of a report to a page: Jinja, the skeleton's templates and filters, the colors."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from leakscale.plain_text import shown
from leakscale.report.page.drawing import FONTS, inline_svg
from leakscale.report.page.extra import require_extra
from leakscale.report.page.figures import PANEL_WIDTH, PageFigure, Panel
from leakscale.report.page.palette import DARK, LIGHT, PRINT
from leakscale.tables import Table
from leakscale.whole_files import write_whole

if TYPE_CHECKING:
    import jinja2

__all__ = ["render_page", "typographic", "write_page"]

_SKELETON: Final = "leakscale.report.page"
_MINUS: Final = re.compile(r"(?<![\w.-])-(?=\d)")


def render_page(
    package: str,
    template: str,
    *,
    contents: Mapping[str, str],
    filters: Mapping[str, Callable[..., str]] | None = None,
    **values: Any,
) -> str:
    """Render a template that extends `page.html.j2`. The same values give the same bytes.

    Args:
        package: Import name of the package whose folder `templates` holds the template.
        template: Its file name.
        contents: Heading of each section of the page by its anchor, in their order; the navigation is made of it.
        filters: Of the template, besides those of the skeleton.
        values: What the template reads.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    require_extra()
    import jinja2  # noqa: PLC0415 - an extra: tables and verdicts must work without it

    loaders = [jinja2.PackageLoader(name) for name in dict.fromkeys((package, _SKELETON))]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    _add_filters(environment)
    environment.filters |= filters or {}
    themes = {"light": LIGHT, "dark": DARK, "print": PRINT}
    return environment.get_template(template).render(contents=contents, themes=themes, fonts=FONTS, **values)


def write_page(path: Path, page: str) -> Path:
    """Write a page, replacing an older one only when the new one is complete; return the path."""
    write_whole(path, page.encode())
    return path


def typographic(words: str) -> str:
    """Put a true minus sign in front of negative numbers, and keep the percent sign with its number."""
    return _MINUS.sub("\u2212", words).replace(" %", "\u00a0%")


def _finalized(value: Any) -> Any:
    """Let no text from outside turn the words around it; what is markup is ours and was made of such texts."""
    return shown(value) if type(value) is str else value


def _add_filters(environment: jinja2.Environment) -> None:
    from markupsafe import Markup, escape  # noqa: PLC0415 - comes with jinja2

    def picture(panel: Panel, figure: PageFigure) -> Markup:
        drawn = inline_svg(
            panel.draw,
            width=PANEL_WIDTH,
            height=panel.height,
            name=figure.file_stem(panel),
            title=panel.title,
            description=typographic(panel.description),
        )
        return Markup(drawn)  # noqa: S704 - made by us; what comes from outside was escaped on the way

    def csv_link(table: Table[Any]) -> str:
        return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(table.to_csv().encode()).decode()}"

    def ticks(words: str) -> Markup:
        return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(shown(words)))))  # noqa: S704 - escaped

    def css_text(words: str) -> Markup:
        return Markup(words)  # noqa: S704 - constants of ours

    environment.filters |= {
        "picture": picture,
        "csv_link": csv_link,
        "css_text": css_text,
        "ticks": ticks,
        "typographic": typographic,
        "heading": lambda name: name.replace("_", " "),
    }
