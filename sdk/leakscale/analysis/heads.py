"""Number, name and title of every table, so that one that is withheld is still named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from leakscale.models import Domain
from leakscale.tables import TableHead

__all__ = [
    "ANSWER_STRATA",
    "ARTIFACTS",
    "COMPLETION",
    "CROSSED",
    "DOSES",
    "EFFECTS",
    "EXACT_CHOICES",
    "EXPECTED_ACCURACIES",
    "FAMILY_ACCURACIES",
    "FAMILY_PROFILES",
    "INTEGER_TOTALS",
    "LEAVE_ONE_SHAPE_OUT",
    "RINGS",
    "SEEDS",
    "SHAPES",
    "SIZES",
    "SOURCES",
    "STREAMS",
    "TRAJECTORIES",
    "WITHOUT_SHAPES",
]

EFFECTS: Final = TableHead("2", "effects", "Exposure effects")
ARTIFACTS: Final = TableHead("9", "artifacts", "Identities of models, corpora and adapters")
SIZES: Final = TableHead("10", "sizes", "Families and draws")
INTEGER_TOTALS: Final = TableHead("11", "integer-totals", "Correct draws")
FAMILY_PROFILES: Final = TableHead("12", "family-profiles", "Accuracy of families")
ANSWER_STRATA: Final = TableHead("13", "answer-strata", "Effects by answer stratum")
SHAPES: Final[Mapping[Domain, TableHead]] = {
    Domain.SQL: TableHead("14", "shapes-sql", "Effects by SQL shape"),
    Domain.PYTHON: TableHead("15", "shapes-python", "Effects by Python shape"),
}
LEAVE_ONE_SHAPE_OUT: Final = TableHead("16", "leave-one-shape-out", "Effects without one shape")
CROSSED: Final = TableHead("17", "crossed", "Means over models and domains")
COMPLETION: Final = TableHead("18", "completion", "Completion and validity")
STREAMS: Final = TableHead("19", "streams", "Identities of results and attempts")
SEEDS: Final = TableHead("20", "seeds", "Seeds")
SOURCES: Final = TableHead("21", "sources", "Identities of sources")
FAMILY_ACCURACIES: Final = TableHead("", "family-accuracies", "Families by accuracy")
TRAJECTORIES: Final = TableHead("", "trajectories", "Accuracy before and after adaptation, over all cells")
WITHOUT_SHAPES: Final = TableHead("", "without-shapes", "Every effect without one shape")
RINGS: Final = TableHead("", "rings", "Effects in other forms of the same families")
EXACT_CHOICES: Final = TableHead("", "exact-choices", "Sampled effects beside those of exact choice probabilities")
EXPECTED_ACCURACIES: Final = TableHead("", "expected-accuracies", "Sampled accuracies beside the expected ones")
DOSES: Final = TableHead("", "doses", "Effects by strength of the adapter")
