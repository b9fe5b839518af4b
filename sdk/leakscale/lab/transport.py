"""The laboratory of transport: what the sensitivity interval covers when the control bank carries over badly.

A control bank has the ordinary form gap b_C and the benchmark b_C + mismatch; nothing was exposed, so the part owed to
exposure is 0. The interval must hold 0 whenever the assumed radius is at least the mismatch, and may lose it below.

Source: CleanScore 6.3 (mismatch .05, 800 parents in each bank of 2,400, 3,000 audits); METHODS 2, 4.2 and 13.8. The
paper's populations are not given; `spread` has the variance that its widths imply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from leakscale.lab.cells import Cell, Row, Size, rng_of
from leakscale.lab.laboratory import Laboratory
from leakscale.lab.populations import frame, nonzero_share
from leakscale.lab.tables import Table, points, share
from leakscale.stats import (
    COMBINATIONS,
    COMPONENTS,
    FinitePopulationDesign,
    Gaps,
    Interval,
    guardrail,
    sensitivity_interval,
)
from leakscale.stats.planning.detection import planted_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LABORATORY"]

_REPLICATES: Final = {Size.QUICK: 20, Size.FULL: 2_000}
_FRAME_SIZE: Final = 2_400
_MISMATCH: Final = 0.05
_RHOS: Final = (0.0, 0.01, 0.02, 0.025, 0.05, 0.10)
_HEADLINE: Final = 0.02
_BANKS: Final = ((800, 800), (200, 40), (200, 60), (200, 200))
"""Audited and control parents; the paper's stress test, its two audits, and what it recommends."""
_CONSTRUCTIONS: Final = (
    *((component, combine, None) for component, combine in product(COMPONENTS, COMBINATIONS)),
    ("wald", "union", "guardrail"),
    ("wald", "union", "fixed"),
)
"""Component, combination and reading of the control bank; None: the default one."""

_LAWS: Final[Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "spread": ((0.025, 0.085, 0.745, 0.105, 0.04), (0.025, 0.035, 0.745, 0.155, 0.04)),
    "near ceiling": (nonzero_share(0.08), (0.08 / 6, 0.08 / 3, 0.87, 0.08 / 3, 0.08 / 6 + 0.05)),
}
"""Law of the control bank, and of a benchmark whose ordinary gap is larger by the mismatch."""


def _cells(size: Size) -> list[Cell]:
    return [
        Cell(
            f"{law}/{audit}+{control}/mismatch {mismatch:g}",
            {
                "law": law,
                "audit": audit,
                "control": control,
                "mismatch": mismatch,
                "replicates": _REPLICATES[size],
            },
            weight=200 + audit + control,
        )
        for law, (audit, control), mismatch in product(_LAWS, _BANKS, (0.0, _MISMATCH))
    ]


def _measure(cell: Cell, seed: int) -> dict[str, Any]:
    """Count, for each construction and radius, the intervals that hold 0, and the claims that the rule would make."""
    settings = cell.settings
    control_law, mismatched_law = _LAWS[settings["law"]]
    audit_law = mismatched_law if settings["mismatch"] else control_law
    benchmark = Gaps.of(frame(audit_law, _FRAME_SIZE), denominator=2)
    writing = Gaps.of(frame(control_law, _FRAME_SIZE), denominator=2)
    design, rng, replicates = FinitePopulationDesign(_FRAME_SIZE), rng_of(seed, cell.name), settings["replicates"]
    audits = planted_samples(benchmark, design, n=settings["audit"], advantage=0.0, replicates=replicates, rng=rng)
    banks = planted_samples(
        writing,
        FinitePopulationDesign(None),
        n=settings["control"],
        advantage=0.0,
        replicates=replicates,
        rng=rng,
    )
    tallies = {construction: _Tally() for construction in _CONSTRUCTIONS}
    for audit, bank in zip(audits, banks, strict=True):
        gaps, control = Gaps(audit, 2), Gaps(bank, 2)
        has_gap = guardrail(gaps, design).primary.low > 0
        for (component, combine, reading), tally in tallies.items():
            interval = sensitivity_interval(
                gaps, design, control, rho=0.0, component=component, combine=combine, control=reading
            )
            tally.add(interval, has_gap)
    return {_name(*construction): tally.to_dict() for construction, tally in tallies.items()}


def _name(component: str, combine: str, reading: str | None) -> str:
    return f"{component}, {combine}" + (f", control {reading}" if reading else "")


class _Tally:
    """Counts of one construction. The radius widens the interval at radius 0 on both sides."""

    def __init__(self) -> None:
        self._covered = dict.fromkeys(_RHOS, 0)
        self._widths: list[float] = []
        self._claims = self._degenerate = 0

    def add(self, interval: Interval, has_gap: bool) -> None:
        if interval.is_degenerate:
            self._degenerate += 1
            return
        self._widths.append(interval.high - interval.low)
        for rho in _RHOS:
            self._covered[rho] += interval.low - rho <= 0 <= interval.high + rho
        self._claims += has_gap and interval.low - _HEADLINE > 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "covered": [int(count) for count in self._covered.values()],
            "mean_width": float(np.mean(self._widths)) if self._widths else None,
            "claims": int(self._claims),
            "degenerate": self._degenerate,
            "replicates": len(self._widths) + self._degenerate,
        }


def _tables(rows: Sequence[Row]) -> list[Table]:
    return [_stress_table(_stress_row(rows)), *(_coverage_table(rows, mismatch) for mismatch in (0.0, _MISMATCH))]


def _stress_row(rows: Sequence[Row]) -> Row:
    """Return the paper's setting."""
    wanted = ("spread", 800, _MISMATCH)
    return next(r for r in rows if (r.settings["law"], r.settings["audit"], r.settings["mismatch"]) == wanted)


def _stress_table(row: Row) -> Table:
    lines = [
        [name, *(f"{_coverage(found, i)} ({points(found['mean_width'] + 2 * rho)})" for i, rho in enumerate(_RHOS))]
        for name, found in row.measures.items()
    ]
    return Table(
        "The stress test: mismatch .05, 800 parents in each bank, coverage and mean width by assumed radius",
        ["component, combination", *(f"rho {rho:g}" for rho in _RHOS)],
        lines,
        note="The paper prints .445, .931 and .9997 with widths .095, .145 and .195 at radius 0, .025 and .05, for"
        " Wald components and the union bound.",
    )


def _coverage(measures: Mapping[str, Any], place: int) -> str:
    return share(measures["covered"][place] / measures["replicates"])


def _coverage_table(rows: Sequence[Row], mismatch: float) -> Table:
    place = _RHOS.index(mismatch)
    chosen = [row for row in rows if row.settings["mismatch"] == mismatch]
    lines = []
    for name in chosen[0].measures:
        cells = [row.measures[name] for row in chosen]
        texts = [
            f"{_coverage(c, place)} ({points(c['mean_width'])}) {share(c['claims'] / c['replicates'])}" for c in cells
        ]
        lines.append([name, *texts])
    return Table(
        f"Mismatch {mismatch:g}, radius {mismatch:g}: coverage, mean width at radius 0, false claims at radius .02",
        [
            "component, combination",
            *(f"{s['law']}, {s['audit']} + {s['control']}" for s in (r.settings for r in chosen)),
        ],
        lines,
        note="Columns name the law and the audited and control parents. Nominal coverage is at least .95. A false claim"
        " needs the primary interval of the gap above zero, too.",
    )


def _draw(rows: Sequence[Row], figure: Figure) -> None:
    radius, banks = figure.subplots(1, 2)
    stress = _stress_row(rows)
    audits = [
        r for r in rows if (r.settings["law"], r.settings["audit"], r.settings["mismatch"]) == ("spread", 200, 0.0)
    ]
    for place, (name, found) in enumerate(stress.measures.items()):
        style = {"marker": "o", "linewidth": 4 - 0.4 * place, "label": name}
        radius.plot(_RHOS, [count / found["replicates"] for count in found["covered"]], **style)
        banks.plot([r.settings["control"] for r in audits], [r.measures[name]["mean_width"] for r in audits], **style)
    radius.axhline(0.95, color="0.4", linewidth=0.8, linestyle="--")
    radius.set(title="mismatch .05, 800 + 800 parents", xlabel="assumed radius", ylabel="coverage of 0")
    radius.legend()
    banks.set(title="200 audited parents", xlabel="control parents", ylabel="mean width at radius 0", ylim=(0, None))


LABORATORY = Laboratory(
    name="transport",
    title="Sensitivity intervals: coverage when the control bank carries over badly",
    about="Nothing was exposed; the ordinary form gap of the benchmark exceeds the control bank's by the mismatch."
    " Components are `primary` (guardrail), `wald` and `betting`; the control bank is read by Wald, beside a betting"
    " component by betting.",
    cells=_cells,
    measure=_measure,
    tables=_tables,
    draw=_draw,
)
