"""Every table of an audit, from the scores of its models.

Source: CleanScore, Tables 3 and 5 to 13; METHODS 1 to 8 and 13.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.advantage import advantage, claims, intervals, placebo, readings, sensitivity
from leakscale.audit.analysis.detectors import detector_signals, detectors
from leakscale.audit.analysis.formats import formats
from leakscale.audit.analysis.items import clustering, near_copies
from leakscale.audit.analysis.panel import AuditSettings, Panel
from leakscale.audit.analysis.planning import budget, detection, power
from leakscale.audit.analysis.relabelling import mismatch, relabelling
from leakscale.tabled import Tabled, find_table
from leakscale.tables import Table, TableHead

__all__ = ["AuditAnalysis", "analyze_panel"]

_FORMAT: Final = "leakscale-audit-analysis-v1"
_OF_DRAWN_PARENTS: Final = frozenset(
    {heads.DETECTORS, heads.SIGNALS, heads.NEAR_COPIES, heads.FORMATS, heads.BUDGET, heads.DETECTION}
)
"""Tables over the drawn parents, each of which weighs the same whatever its stratum."""
_UNWEIGHTED: Final = (
    "The sample is stratified, and this table is over the drawn parents, each weighing the same: its gaps and scores "
    f"are not those of table {heads.ADVANTAGE.number}."
)


@dataclass(frozen=True, slots=True)
class AuditAnalysis(Tabled):
    """The tables of one audit under one set of settings."""

    tables: tuple[Table[Any], ...]
    facts: dict[str, Any]
    """What the numbers hang on, as JSON-ready values: settings, digests of the tables of scores, registration."""

    def to_dict(self) -> dict[str, Any]:
        """Return facts and tables as JSON-ready values."""
        return {"format": _FORMAT, **self.facts, "tables": {one.name: one.to_dict() for one in self.tables}}


def analyze_panel(
    panel: Panel,
    settings: AuditSettings,
    *,
    only: Collection[str] | None = None,
    facts: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AuditAnalysis:
    """Compute every table, or those that are named.

    Args:
        panel: Scores of the models.
        settings: Design and rules, as registered.
        only: Numbers or names of tables; None: all.
        facts: Further facts to keep with the numbers, e.g. the digest of the registration.
        progress: Called with the tables that are done and their number.

    Raises:
        NotFoundError: If a name is of no table.
        StatisticsError: If scores and design contradict each other, or the registered interval does not exist for the
            design. What one table alone cannot say is said in its place.
    """
    makers = _makers(panel, settings)
    if only is not None:
        chosen = {_named(makers, name) for name in only}
        makers = {head: make for head, make in makers.items() if head in chosen}
    made: list[Table[Any]] = []
    for make in makers.values():
        made.append(_with_weights(make(), settings))
        if progress is not None:
            progress(len(made), len(makers))
    return AuditAnalysis(tuple(made), (facts or {}) | _facts(panel, settings))


def _with_weights(table: Table[Any], settings: AuditSettings) -> Table[Any]:
    """Say of a table over the drawn parents of a stratified sample that it is one."""
    if settings.design.strata is None or table.withheld is not None or table.head not in _OF_DRAWN_PARENTS:
        return table
    return replace(table, note=f"{table.note} {_UNWEIGHTED}".strip())


def _makers(panel: Panel, settings: AuditSettings) -> dict[TableHead, Callable[[], Table[Any]]]:
    return {
        heads.ADVANTAGE: partial(advantage, panel, settings),
        heads.CLAIMS: partial(claims, panel, settings),
        heads.SENSITIVITY: partial(sensitivity, panel, settings),
        heads.READINGS: partial(readings, panel, settings),
        heads.INTERVALS: partial(intervals, panel, settings),
        heads.DETECTORS: partial(detectors, panel, settings),
        heads.SIGNALS: partial(detector_signals, panel, settings),
        heads.CLUSTERING: partial(clustering, panel),
        heads.NEAR_COPIES: partial(near_copies, panel),
        heads.BUDGET: partial(budget, panel, settings),
        heads.DETECTION: partial(detection, panel, settings),
        heads.RELABELLING: partial(relabelling, panel, settings),
        heads.MISMATCH: partial(mismatch, panel, settings),
        heads.FORMATS: partial(formats, panel),
        heads.POWER: partial(power, panel, settings),
        heads.PLACEBO: partial(placebo, panel),
    }


def _named(makers: Iterable[TableHead], name: str) -> TableHead:
    return find_table([head.filled(()) for head in makers], name).head


def _facts(panel: Panel, settings: AuditSettings) -> dict[str, Any]:
    design = settings.design
    strata = {name: stratum.population_size for name, stratum in (design.strata or {}).items()}
    return {
        "settings": settings.inference.model_dump(mode="json")
        | {"population_size": design.population_size, "strata": strata, "seed": settings.seed},
        "scores": [
            {"model": table.model, "state": table.state, "kind": str(table.kind), "bank": bank, "digest": table.digest}
            for model in panel
            for bank, table in (
                ("audit", model.audit),
                ("control", model.control),
                *(("audit", signal) for signal in model.signals.values()),
            )
            if table is not None
        ],
    }
