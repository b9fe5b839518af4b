"""Scores of forms: what importers and scorers make, and what analysis reads."""

from leakscale.audit.scores.models import ScoreKind, ScoreSource, form_columns
from leakscale.audit.scores.table import ScoreTable

__all__ = ["ScoreKind", "ScoreSource", "ScoreTable", "form_columns"]
