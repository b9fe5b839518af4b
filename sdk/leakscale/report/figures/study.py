"""Which figures a study's report has, from which tables."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from leakscale.analysis import Analysis, heads
from leakscale.analysis.disclosed import pooled_effect, released_effect, released_interval
from leakscale.errors import NotFoundError
from leakscale.models import Domain
from leakscale.report.figures.doses import dose_panels
from leakscale.report.figures.families import family_panels
from leakscale.report.figures.forest import ForestRow, forest_panel
from leakscale.report.figures.shapes import shape_panels
from leakscale.report.figures.trajectories import trajectory_panels, trajectory_table
from leakscale.report.findings import Findings
from leakscale.report.page import PageFigure, Panel
from leakscale.report.transfer import ring_name
from leakscale.report.view import blocks, domain_name
from leakscale.results import Disclosure
from leakscale.tables import Table, TableHead

__all__ = ["ABSENT", "study_figures"]

ABSENT: Final = "Not in this study"
"""What stands before the reason where nothing is withheld but nothing was measured either."""
_EFFECTS: Final = TableHead("", "effects", "Exposure effects and their means")
_CHANGES: Final = TableHead("", "changes", "Changes of exposed and control families")
_CROSSED: Final = TableHead("", "crossed", "Means and contrasts over models and domains")
_COHORTS: Final = TableHead("", "cohorts", "Effects over registered cohorts")
_CHOICES: Final = TableHead("", "choices", "Effects of sampled answers beside those of their probabilities")
_RINGS: Final = TableHead("", "rings", "Effects in every form of the families")
_CONTRASTS: Final = ("difference", "interaction")
_POOLED: Final = "pooled"


def study_figures(findings: Findings) -> dict[str, PageFigure]:
    """Return the figures of a report by name, in the order of the page."""
    study = shlex.quote(f"runs/{findings.provenance.study}")
    command = f"leakscale report {study} --figures figures"
    made = (*_always(findings), *_of_cohorts(findings.disclosure), *_from_tables(findings.analysis))
    return {
        name: PageFigure(name, title, caption, table, () if table.withheld else panels(), command, absence=absence)
        for name, title, caption, table, panels, absence in made
    }


_Made = tuple[str, str, str, Table[Any], Callable[[], tuple[Panel, ...]], str]
"""Name, title, caption, numbers, pictures, and the word for their absence."""
_WITHHELD: Final = "Withheld"


def _always(findings: Findings) -> Iterator[_Made]:
    """Return the figures of the released numbers, which every study has."""
    shown = blocks(findings.disclosure)
    level = f"{100 * findings.disclosure.confidence:g} %"
    effects, changes = _effects(findings), _changes(findings.disclosure)
    yield (
        "effects",
        "Exposure effects",
        f"In percentage points, with {level} intervals over families: the registered one, and below it in grey its "
        "exact twin, which no seed enters. Dots are estimates; the darker upright line is zero.",
        effects,
        lambda: (forest_panel(effects.rows, name="", title="Exposure effects"),),
        _WITHHELD,
    )
    yield (
        "changes",
        "What the effect is the difference of",
        f"Adapted minus base accuracy, in percentage points, with {level} intervals over families.",
        changes,
        lambda: (forest_panel(changes.rows, name="", title="Changes", roles=("warm", "cool")),),
        _WITHHELD,
    )
    yield (
        "trajectories",
        "Accuracy before and after adaptation",
        "Percent of correct draws. The dashed line is where the exposed families would have ended had they only "
        "drifted like the control; the bracket from there to where they did end is the effect. 25 % is a blind pick.",
        trajectory_table(shown),
        lambda: trajectory_panels(shown),
        _WITHHELD,
    )
    contrasts = _crossed(findings.analysis)
    yield (
        "crossed",
        "Models and domains together",
        f"Every cell weighs the same in a mean. Points with {level} intervals; families are resampled once for all "
        "models that answered them. A contrast says whether one effect is larger than another.",
        contrasts,
        lambda: (forest_panel(contrasts.rows, name="", title="Means and contrasts"),),
        ABSENT,
    )


def _of_cohorts(disclosure: Disclosure) -> Iterator[_Made]:
    """Return the figure of the cohorts that were registered beside the whole; nothing where there are none."""
    signed: list[Mapping[str, Any]] = disclosure.numbers.get("cohorts", [])
    rows = [
        ForestRow(cohort.cohort_id, domain_name(effect.domain), *released_effect(effect, numbers, disclosure))
        for cohort, own in zip(disclosure.cohorts, signed, strict=True)
        for effect, numbers in zip(cohort.effects, own["effects"], strict=True)
        if effect.domain is not None or len(cohort.effects) > 2
    ]
    if rows:
        yield (
            "cohorts",
            "Effects over registered cohorts",
            "Points with intervals over the families of some shapes, which were named before the first answer.",
            _COHORTS.filled(rows),
            lambda: (forest_panel(rows, name="", title="Effects over cohorts"),),
            _WITHHELD,
        )


def _from_tables(analysis: Analysis) -> Iterator[_Made]:
    """Return the figures of tables that a study may lack, or that a policy may withhold."""
    families = analysis.table(heads.FAMILY_ACCURACIES.name)
    yield (
        "families",
        "How the accuracies of families are spread",
        "Families by the share of their draws that is right: filled after adaptation, dashed outline before. "
        "Exposure that acts on some families much and on others not at all shows as two heaps.",
        families,
        lambda: family_panels(families),
        _WITHHELD,
    )
    for domain, head in heads.SHAPES.items():
        yield from _shapes(analysis, domain, head)
    doses = _or_absent(
        analysis,
        heads.DOSES,
        "the banks were answered at one strength of the adapter; a dose-response needs several (`leakscale strength`)",
    )
    yield (
        "doses",
        "Effect by strength of the adapter",
        "Points, by the factor that scales the adapter; the band is the interval of the effect. Strength 0 is the "
        "base model.",
        doses,
        lambda: dose_panels(doses),
        ABSENT,
    )
    rings = _rings(analysis)
    yield (
        "rings",
        "Effects in other forms of the same families",
        "Points with intervals over families. R0 is the form that was leaked; beside the others stands their share "
        "of its effect.",
        rings,
        lambda: (forest_panel(rings.rows, name="", title="Effects by form"),),
        ABSENT,
    )
    choices = _choices(analysis)
    yield (
        "choices",
        "Effects of sampled answers and of the probabilities they were drawn from",
        "Points with intervals over families. The probabilities lack the noise of the draws; where both agree, more "
        "draws would not change the finding.",
        choices,
        lambda: (forest_panel(choices.rows, name="", title="Sampled and exact choices"),),
        ABSENT,
    )


def _shapes(analysis: Analysis, domain: Domain, head: TableHead) -> Iterator[_Made]:
    try:
        table = analysis.table(head.name)
    except NotFoundError:
        return
    yield (
        head.name,
        f"Effects by {domain_name(domain)} shape",
        "Points: warm above zero, cool below, stronger with size. A shape has few families, so single values are "
        "descriptive; their intervals and warnings are in the table.",
        table,
        lambda: shape_panels(table),
        _WITHHELD,
    )


def _or_absent(analysis: Analysis, head: TableHead, reason: str) -> Table[Any]:
    try:
        return analysis.table(head.name)
    except NotFoundError:
        return head.withheld(reason)


def _effects(findings: Findings) -> Table[ForestRow]:
    analysis = findings.analysis
    cells = analysis.table(heads.EFFECTS.name).rows
    several = len({row.model for row in cells}) > 1
    rows = [
        ForestRow("Each domain", f"{row.model}, {domain_name(row.domain)}" if several else domain_name(row.domain),
                  row.effect, row.exact)
        for row in cells
    ]  # fmt: skip
    if several:
        rows += [
            ForestRow("Together", _summary_name(row.summary, row.of), row.effect, row.exact)
            for row in analysis.table(heads.CROSSED.name).rows
            if row.summary not in _CONTRASTS
        ]
    elif len(rows) != 1:
        # The finding itself, which results by family tell as a mean of cells.
        released = pooled_effect(findings.disclosure)
        rows += [] if released is None else [ForestRow("Together", _summary_name(_POOLED, ""), *released)]
    return _EFFECTS.filled(rows)


def _crossed(analysis: Analysis) -> Table[ForestRow]:
    table = analysis.table(heads.CROSSED.name)
    if table.withheld is not None:
        return _CROSSED.withheld(table.withheld)
    # Of one model, the mean over models is the effect itself, and is there already.
    several = sum(row.summary == "model mean" for row in table.rows) > 1
    if not several and not any(row.summary in _CONTRASTS for row in table.rows):
        return _CROSSED.withheld("one model was asked in one domain, so there is nothing to average or to contrast")
    rows = [
        ForestRow(
            "Contrasts" if row.summary in _CONTRASTS else "Means",
            _summary_name(row.summary, row.of),
            row.effect,
            row.exact,
        )
        for row in table.rows
        if several or row.summary not in {"model mean", "domain mean"}
    ]
    return _CROSSED.filled(rows, table.note)


def _summary_name(summary: str, of: str) -> str:
    """Say what a row of Table 17 is over, e.g. `interaction: python less sql`."""
    if summary == _POOLED:
        return "all families pooled"
    if summary == "grand mean":
        return "mean of all cells"
    named = {domain.value: domain_name(domain) for domain in Domain}
    words = " ".join(named.get(word.rstrip(","), word) for word in of.split())
    return words if summary == "difference" else f"{summary}: {words}"


def _changes(disclosure: Disclosure) -> Table[ForestRow]:
    signed: list[Mapping[str, Any]] = disclosure.numbers["effects"]
    parts = (("Change of the exposed (C2)", "c2_change"), ("Drift of the control (C0)", "c0_drift"))
    single = len({total.domain for total in disclosure.totals}) == 1 and len(disclosure.effects) > 1
    rows = [
        ForestRow(
            group,
            domain_name(effect.domain),
            released_interval(getattr(effect, name), own[name], "percentile", 1 - disclosure.confidence),
        )
        for group, name in parts
        for effect, own in zip(disclosure.effects, signed, strict=True)
        if effect.domain is not None or not single
    ]
    return _CHANGES.filled(rows)


def _choices(analysis: Analysis) -> Table[ForestRow]:
    table = _or_absent(
        analysis,
        heads.EXACT_CHOICES,
        "there are no results by family with the probability of the correct candidate, which the engine `exact` reads",
    )
    if table.withheld is not None:
        return _CHOICES.withheld(table.withheld)
    several = len({row.model for row in table.rows}) > 1
    rows = []
    for row in table.rows:
        group = f"{row.model}, {domain_name(row.domain)}" if several else domain_name(row.domain)
        rows += [ForestRow(group, "sampled", row.sampled), ForestRow(group, "exact", row.exact_choice)]
    return _CHOICES.filled(rows, table.note)


def _rings(analysis: Analysis) -> Table[ForestRow]:
    table = _or_absent(
        analysis,
        heads.RINGS,
        "the families were asked in one form, as leaked (R0); name more under `rings` in the study",
    )
    if table.withheld is not None:
        return _RINGS.withheld(table.withheld)
    several = len({row.model for row in table.rows}) > 1
    rows = [
        ForestRow(
            f"{row.model}, {domain_name(row.domain)}" if several else domain_name(row.domain),
            ring_name(row.ring),
            row.effect,
            row.exact,
            "" if row.share is None else f"\u00d7 {row.share:.2f}",
        )
        for row in sorted(table.rows, key=lambda row: (row.model, row.domain, row.ring))
    ]
    return _RINGS.filled(rows, f"{table.note} \u00d7: share of the effect in R0.")
