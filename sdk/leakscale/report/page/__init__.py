"""The skeleton of every report: one HTML file, light and dark, for screen, print, keyboard and screen reader.

It asks the network for nothing, runs no script, and holds the numbers behind each figure. A report needs two things.

Figures, in Python. Each has a table (its numbers, its CSV), one picture or more, and the command that makes it::

    def draw(figure: matplotlib.figure.Figure) -> None:
        axes = figure.subplots()
        axes.plot(budgets, widths, "o-", color=color("warm"))

    gap = PageFigure(
        name="budget", title="Precision by budget", caption="Half-width of the interval, in points.",
        table=analysis.table("budgets"), command="leakscale audit report DIRECTORY",
        panels=(Panel(name="", title="Half-width", description="50 items: 7.1 points; …", draw=draw, height=220),),
    )

A table that is withheld makes a figure that says why. Colors come from `color`, and turn with the reader's theme.

A template, in the folder `templates` of the report's package, which extends the skeleton::

    {% extends "page.html.j2" %}
    {% from "blocks.html.j2" import section, figure, table, withheld, command, digest with context %}
    {% block title %}{{ finding }}{% endblock %}
    {% block kicker %}CleanScore · audit <b>{{ audit }}</b>{% endblock %}
    {% block headline %}{{ finding }}{% endblock %}
    {% block lead %}<p class="verdict">{{ verdict }}</p>{% endblock %}
    {% block sections %}
      {% call section("precision") %}<p>…</p>{{ figure(gap) }}{% endcall %}
    {% endblock %}
    {% block footer %}Finished {{ time }}.{% endblock %}

`render_page("leakscale.audit.report", "audit.html.j2", contents={"precision": "How precise"}, gap=gap, …)` returns the
page, `write_page` writes it, and `write_figures` writes the same figures as SVG, PDF and CSV. A test of a report
checks its page with `tests/report/browser.py` in a headless browser.
"""

from leakscale.report.page.drawing import Draw
from leakscale.report.page.extra import require_extra
from leakscale.report.page.figures import PANEL_WIDTH, PageFigure, Panel, write_figures
from leakscale.report.page.palette import color
from leakscale.report.page.rendering import render_page, typographic, write_page

__all__ = [
    "PANEL_WIDTH",
    "Draw",
    "PageFigure",
    "Panel",
    "color",
    "render_page",
    "require_extra",
    "typographic",
    "write_figures",
    "write_page",
]
