"""The numbers of the forest plots: which estimates stand together, under which names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from leakscale.analysis import Analysis, heads
from leakscale.analysis.disclosed import pooled_effect, released_effect, released_interval
from leakscale.errors import NotFoundError
from leakscale.models import Domain
from leakscale.report.figures.forest import ForestRow
from leakscale.report.findings import Findings
from leakscale.report.transfer import ring_name
from leakscale.report.view import domain_name
from leakscale.results import Disclosure
from leakscale.tables import Table, TableHead

__all__ = [
    "table_or_reason",
    "the_changes",
    "the_choices",
    "the_cohorts",
    "the_contrasts",
    "the_effects",
    "the_rings",
]

_EFFECTS: Final = TableHead("", "effects", "Exposure effects and their means")
_CHANGES: Final = TableHead("", "changes", "Changes of exposed and control families")
_CROSSED: Final = TableHead("", "crossed", "Means and contrasts over models and domains")
_COHORTS: Final = TableHead("", "cohorts", "Effects over registered cohorts")
_CHOICES: Final = TableHead("", "choices", "Effects of sampled answers beside those of their probabilities")
_RINGS: Final = TableHead("", "rings", "Effects in every form of the families")
_CONTRASTS: Final = frozenset({"difference", "interaction"})
_POOLED: Final = "pooled"


def the_effects(findings: Findings) -> Table[ForestRow]:
    """Return the effect of each cell, and the finding: over all families, or the means over several models."""
    analysis = findings.analysis
    cells = analysis.table(heads.EFFECTS.name).rows
    several = _has_several(cells)
    rows = [ForestRow("Each domain", _cell_name(row, several), row.effect, row.exact) for row in cells]
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


def the_changes(disclosure: Disclosure) -> Table[ForestRow]:
    """Return what the effects are the difference of; a study of one domain is not shown twice."""
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


def the_contrasts(analysis: Analysis) -> Table[ForestRow]:
    """Return the means over cells and what contrasts them, or why there is neither."""
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


def the_cohorts(disclosure: Disclosure) -> Table[ForestRow]:
    """Return the effects over the cohorts that were registered beside the whole; no row where there are none."""
    signed: list[Mapping[str, Any]] = disclosure.numbers.get("cohorts", [])
    return _COHORTS.filled(
        ForestRow(cohort.cohort_id, domain_name(effect.domain), *released_effect(effect, numbers, disclosure))
        for cohort, own in zip(disclosure.cohorts, signed, strict=True)
        for effect, numbers in zip(cohort.effects, own["effects"], strict=True)
        if effect.domain is not None or len(cohort.effects) > 2
    )


def the_choices(analysis: Analysis) -> Table[ForestRow]:
    """Return the effects of sampled answers and of their probabilities, or why there are none."""
    table = table_or_reason(
        analysis,
        heads.EXACT_CHOICES,
        "no probability of the correct candidate is kept; engine `exact` reads it, and `leakscale study open` keeps it",
    )
    if table.withheld is not None:
        return _CHOICES.withheld(table.withheld)
    several = _has_several(table.rows)
    rows = []
    for row in table.rows:
        group = _cell_name(row, several)
        rows += [ForestRow(group, "sampled", row.sampled), ForestRow(group, "exact", row.exact_choice)]
    return _CHOICES.filled(rows, table.note)


def the_rings(analysis: Analysis) -> Table[ForestRow]:
    """Return the effect in every form that was asked, with its share of that in R0, or why there is one form."""
    table = table_or_reason(
        analysis,
        heads.RINGS,
        "the families were asked in one form, as leaked (R0); name more under `rings` in the study",
    )
    if table.withheld is not None:
        return _RINGS.withheld(table.withheld)
    several = _has_several(table.rows)
    rows = [
        ForestRow(
            _cell_name(row, several),
            ring_name(row.ring),
            row.effect,
            row.exact,
            "" if row.share is None else f"\u00d7 {row.share:.2f}",
        )
        for row in sorted(table.rows, key=lambda row: (row.model, row.domain, row.ring))
    ]
    return _RINGS.filled(rows, f"{table.note} \u00d7: share of the effect in R0.")


def table_or_reason(analysis: Analysis, head: TableHead, reason: str) -> Table[Any]:
    """Return a table that a study may lack, or the reason in its place."""
    try:
        return analysis.table(head.name)
    except NotFoundError:
        return head.withheld(reason)


def _has_several(rows: tuple[Any, ...]) -> bool:
    return len({row.model for row in rows}) > 1


def _cell_name(row: Any, several: bool) -> str:
    """Name the domain of a row, and its model where there are several."""
    return f"{row.model}, {domain_name(row.domain)}" if several else domain_name(row.domain)


def _summary_name(summary: str, of: str) -> str:
    """Say what a row of Table 17 is over, e.g. `interaction: Python less SQL`."""
    if summary == _POOLED:
        return "all families pooled"
    if summary == "grand mean":
        return "mean of all cells"
    named = {domain.value: domain_name(domain) for domain in Domain}
    words = " ".join(named.get(word.rstrip(","), word) for word in of.split())
    return words if summary == "difference" else f"{summary}: {words}"
