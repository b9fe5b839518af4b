"""The figures of a study's report: each with its numbers, or with the reason why it is not there."""

from leakscale.report.figures.canvas import spread
from leakscale.report.figures.forest import ForestRow, MeanRow, forest_panel
from leakscale.report.figures.study import absence_word, study_figures

__all__ = ["ForestRow", "MeanRow", "absence_word", "forest_panel", "spread", "study_figures"]
