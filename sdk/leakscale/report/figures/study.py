"""Which figures a study's report has, from which tables."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import Any, Final

from leakscale.analysis import heads
from leakscale.report.figures.doses import dose_panels
from leakscale.report.figures.estimates import (
    table_or_reason,
    the_changes,
    the_choices,
    the_cohorts,
    the_contrasts,
    the_effects,
    the_rings,
)
from leakscale.report.figures.families import family_panels
from leakscale.report.figures.forest import ForestRow, forest_panel
from leakscale.report.figures.shapes import shape_panels
from leakscale.report.figures.strata import stratum_panels
from leakscale.report.figures.trajectories import trajectory_panels, trajectory_table
from leakscale.report.findings import Findings
from leakscale.report.page import PageFigure, Panel
from leakscale.report.view import blocks, domain_name
from leakscale.tables import Table

__all__ = ["absence_word", "study_figures"]

_ABSENT: Final = "Not in this study"
"""What stands before the reason where nothing is withheld but nothing was measured either."""


def absence_word(findings: Findings) -> str:
    """Return what stands before the reason where a table that tells families apart is not shown."""
    return "Withheld" if findings.disclosure.edition_kind == "private" else "Not here yet"


def study_figures(findings: Findings) -> dict[str, PageFigure]:
    """Return the figures of a report by name, in the order of the page."""
    return {figure.name: figure for figure in _Figures(findings).all()}


class _Figures:
    """Makes the figures of one study."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._level = f"{100 * findings.disclosure.confidence:g} %"
        self._command = f"leakscale report {shlex.quote(findings.study)} --figures figures"

    def all(self) -> Iterator[PageFigure]:
        """Make every figure, or what stands in its place."""
        yield from self._of_the_finding()
        yield from self._of_cells()
        yield from self._of_families()
        yield from self._beyond()

    def _of_the_finding(self) -> Iterator[PageFigure]:
        shown = blocks(self._findings.disclosure)
        yield self._forest(
            "effects",
            "Exposure effects",
            f"In percentage points, with {self._level} intervals over families: the registered one, and below it in "
            "grey its exact twin, which no seed enters. Dots are estimates; the darker upright line is zero.",
            the_effects(self._findings),
        )
        yield self._forest(
            "changes",
            "What the effect is the difference of",
            f"Adapted minus base accuracy, in percentage points, with {self._level} intervals over families.",
            the_changes(self._findings.disclosure),
            roles=("warm", "cool"),
        )
        yield self._figure(
            "trajectories",
            "Accuracy before and after adaptation",
            "Percent of correct draws. The dashed line is where the exposed families would have ended had they only "
            "drifted like the control; the bracket from there to where they did end is the effect. 25 % is a blind "
            "pick.",
            trajectory_table(shown),
            lambda _: trajectory_panels(shown),
        )

    def _of_cells(self) -> Iterator[PageFigure]:
        yield self._forest(
            "crossed",
            "Models and domains together",
            f"Every cell weighs the same in a mean. Points with {self._level} intervals; families are resampled once "
            "for all models that answered them. A contrast says whether one effect is larger than another.",
            the_contrasts(self._findings.analysis),
            absence=_ABSENT,
        )
        cohorts = the_cohorts(self._findings.disclosure)
        if cohorts.rows:
            yield self._forest(
                "cohorts",
                "Effects over registered cohorts",
                "Points with intervals over the families of some shapes, which were named before the first answer.",
                cohorts,
            )

    def _of_families(self) -> Iterator[PageFigure]:
        analysis = self._findings.analysis
        yield self._figure(
            "families",
            "How the accuracies of families are spread",
            "Families by the share of their draws that is right: filled after adaptation, dashed outline before. "
            "Exposure that acts on some families much and on others not at all shows as two heaps.",
            analysis.table(heads.FAMILY_ACCURACIES.name),
            family_panels,
            absence=absence_word(self._findings),
        )
        names = {table.name for table in analysis.tables}
        strata = analysis.table(heads.ANSWER_STRATA.name)
        for domain, head in heads.SHAPES.items():
            if head.name in names:
                yield self._figure(
                    head.name,
                    f"Effects by {domain_name(domain)} shape",
                    "Points: warm above zero, cool below, stronger with size. A shape has few families, so single "
                    "values are descriptive; their intervals and warnings are in the table.",
                    analysis.table(head.name),
                    shape_panels,
                    absence=absence_word(self._findings),
                )

        yield self._figure(
            "strata",
            "Effects by where the right candidate stands",
            "Points with exact intervals, one by one: among families whose right candidate has one rank among the four "
            "sorted ones, and one place in the prompt; control + exposed families in brackets. A model that learned a "
            "place would show one effect far from the others.",
            strata if strata.rows or strata.withheld else heads.ANSWER_STRATA.withheld(strata.note),
            stratum_panels,
            absence=absence_word(self._findings),
        )

    def _beyond(self) -> Iterator[PageFigure]:
        """Make the figures of what a study may ask beside its finding."""
        analysis = self._findings.analysis
        yield self._figure(
            "doses",
            "Effect by strength of the adapter",
            "Points, by the factor that scales the adapter; the band is the interval of the effect. Strength 0 is the "
            "base model.",
            table_or_reason(
                analysis,
                heads.DOSES,
                "the banks were answered at one strength of the adapter; a dose-response needs several "
                "(`leakscale strength`)",
            ),
            dose_panels,
            absence=_ABSENT,
        )
        yield self._forest(
            "rings",
            "Effects in other forms of the same families",
            "Points with intervals over families. R0 is the form that was leaked; beside the others stands their share "
            "of its effect.",
            the_rings(analysis),
            absence=_ABSENT,
        )
        yield self._forest(
            "choices",
            "Effects of sampled answers and of the probabilities they were drawn from",
            "Points with intervals over families. The probabilities lack the noise of the draws; where both agree, "
            "more draws would not change the finding.",
            the_choices(analysis),
            absence=_ABSENT,
        )

    def _forest(
        self,
        name: str,
        title: str,
        caption: str,
        table: Table[ForestRow],
        *,
        roles: tuple[str, ...] = ("ink",),
        **more: str,
    ) -> PageFigure:
        def panels(shown: Table[ForestRow]) -> tuple[Panel, ...]:
            return (forest_panel(shown.rows, name="", title=title, roles=roles),)

        return self._figure(name, title, caption, table, panels, **more)

    def _figure(
        self,
        name: str,
        title: str,
        caption: str,
        table: Table[Any],
        panels: Callable[[Table[Any]], tuple[Panel, ...]],
        *,
        absence: str = "Withheld",
    ) -> PageFigure:
        drawn = panels(table) if table.withheld is None else ()
        return PageFigure(name, title, caption, table, drawn, self._command, absence=absence)
