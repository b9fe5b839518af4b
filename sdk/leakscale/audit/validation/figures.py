"""The figure of a validation study: every contrast on one axis, with the runs that it is the mean of.

Source: CleanScore, Figure 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from leakscale.audit.validation.contrasts import Contrasts, named_contrasts
from leakscale.report.figures import MeanRow, forest_panel
from leakscale.report.page import PageFigure
from leakscale.stats import Interval
from leakscale.tables import Table, TableHead

__all__ = ["DifferenceRow", "contrast_figure", "difference_table"]

_DIFFERENCES: Final = TableHead("", "seed-contrasts", "Each seed's difference, and the mean over them")


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """Two runs of one seed compared."""

    contrast: str
    seed: str
    difference: float
    """Public-form advantage of the exposed run less that of the run with related practice alone."""
    over_seeds: Interval
    """Of the whole contrast, the same in each of its rows."""
    is_registered: str


def difference_table(contrasts: Contrasts) -> Table[DifferenceRow]:
    """Return the difference of every seed beside the interval over them."""
    return _DIFFERENCES.filled(_difference_rows(contrasts))


def contrast_figure(contrasts: Contrasts, *, command: str) -> PageFigure:
    """Draw every contrast with its seeds, the registered ones first.

    Args:
        contrasts: What a study found.
        command: What makes the figure, as one types it.
    """
    table = difference_table(contrasts)
    rows = []
    for (contrast, status), own in groupby(table.rows, key=lambda row: (row.contrast, row.is_registered)):
        seeds = list(own)
        single = {f"seed {row.seed}": row.difference for row in seeds}
        rows.append(MeanRow(status, contrast, seeds[0].over_seeds, single=single))
    return PageFigure(
        "seed-contrasts",
        "What each exposure did to the public-form advantage",
        "Exact and paraphrase exposure, each less related practice, on one axis in points. A small dot is the "
        "difference of two runs of one seed, the first seed uppermost; the large one is their mean, with Student's "
        "interval over seeds.",
        table,
        (forest_panel(rows, name="", title="Contrasts"),),
        command,
    )


def _difference_rows(contrasts: Contrasts) -> Iterator[DifferenceRow]:
    for name, (contrast, status) in named_contrasts(contrasts).items():
        for seed, difference in contrast.by_seed.items():
            yield DifferenceRow(name, seed, difference, contrast.difference, status)
