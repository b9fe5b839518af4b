"""Number, name and title of every table of a positive control; the numbers are those of the CleanScore paper."""

from __future__ import annotations

from typing import Final

from leakscale.tables import TableHead

__all__ = [
    "ACCURACIES",
    "AUDIT",
    "BORROWED",
    "CHECKS",
    "CONSEQUENCE",
    "EFFECTS",
    "FIRST_OPTION",
    "NULL_RUN",
    "POOLED",
    "POOLED_CONTROLS",
    "POOLED_SHARE",
    "SEEDS",
    "TRANSFER",
]

ACCURACIES: Final = TableHead("14", "accuracies", "Accuracy before and after, of exposed and of untouched parents")
EFFECTS: Final = TableHead("15", "effects", "What the leak did to each kind of form: difference in differences")
CHECKS: Final = TableHead("", "manipulation", "Whether the leak was planted at all: effect on the leaked form")
TRANSFER: Final = TableHead("16", "transfer", "What an audit sees of the leak, and what reached wording never shown")
BORROWED: Final = TableHead("", "borrowed", "Deep forms, with a counterfactual borrowed from fresh ones")
AUDIT: Final = TableHead("", "audit", "The registered audit, before and after")
CONSEQUENCE: Final = TableHead("", "detectors", "Detectors, by how well they track what the leak did to the score")
FIRST_OPTION: Final = TableHead("17", "first-option", "How often the option listed first was chosen")
NULL_RUN: Final = TableHead("20", "null-run", "The same run with nothing planted")
SEEDS: Final = TableHead("21", "seeds", "Effects over all training seeds")
POOLED: Final = TableHead("", "pooled", "What a leak did on average, over all controls of a kind")
POOLED_SHARE: Final = TableHead("", "pooled-share", "How much of it is in wording never shown")
POOLED_CONTROLS: Final = TableHead("", "pooled-controls", "The controls that were pooled, one by one")
