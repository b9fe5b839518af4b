"""Number, name and title of every table of an audit, and what several of them say.

The numbers are those of the CleanScore paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from leakscale.tables import TableHead

__all__ = [
    "ADVANTAGE",
    "BUDGET",
    "CLAIMS",
    "CLUSTERING",
    "DETECTION",
    "DETECTORS",
    "FORMATS",
    "INTERVALS",
    "MISMATCH",
    "NEAR_COPIES",
    "NO_ROOM",
    "PLACEBO",
    "POWER",
    "READINGS",
    "RELABELLING",
    "SENSITIVITY",
    "SIGNALS",
    "STRATIFIED",
    "not_planted",
]

ADVANTAGE: Final = TableHead("3", "advantage", "Public and fresh scores, and the gap between them")
CLAIMS: Final = TableHead("3b", "claims", "What of the gap may be owed to exposure")
SENSITIVITY: Final = TableHead("3c", "sensitivity", "The part owed to exposure, by transport radius")
READINGS: Final = TableHead("5", "readings", "The same part under three readings of the control bank")
INTERVALS: Final = TableHead("6", "intervals", "Every interval of the gap; the registered one is in table 3")
DETECTORS: Final = TableHead(
    "7", "detectors", "Two detectors on the same forms, and where they disagree with the score"
)
SIGNALS: Final = TableHead("7b", "signals", "Every detector on the same forms, and where it disagrees with the score")
CLUSTERING: Final = TableHead("8", "clustering", "Parents that fool several models at once, and the mirror image")
NEAR_COPIES: Final = TableHead(
    "9", "near-copies", "The gap without parents whose fresh form nearly copies the original"
)
BUDGET: Final = TableHead("10", "budget", "What smaller audits of these models would have shown")
DETECTION: Final = TableHead("11", "detection", "How often an audit of this bank detects a planted advantage")
RELABELLING: Final = TableHead(
    "12", "relabelling", "A planted advantage: detected by the interval, rejected by the relabelling test"
)
MISMATCH: Final = TableHead("13", "mismatch", "Rejections of the relabelling test where only the forms differ")
FORMATS: Final = TableHead("", "formats", "Answers cut off, the registered phrase, and the format the parser met")
POWER: Final = TableHead("", "power", "Least advantage that this audit detects")
PLACEBO: Final = TableHead("", "placebo", "The placebo-label identity, which is zero unless scoring is asymmetric")
STRATIFIED: Final = "it redraws simple random samples, and this sample is stratified"
"""Why a table of planted audits is withheld."""
NO_ROOM: Final = "hardly a parent answers all its forms alike, and an advantage is planted into such parents"
"""Why it is, too."""


def not_planted(left_out: Sequence[str]) -> str:
    """Say at the end of a note which models have too few parents whose forms agree to plant an advantage into."""
    return f" Too few parents without a gap to plant it: {'; '.join(dict.fromkeys(left_out))}." if left_out else ""
