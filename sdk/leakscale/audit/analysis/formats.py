"""How the runs went that made the scores, form by form.

Source: CleanScore 7.3 (an answer cut off censors the outcome), 7.12 (pull of the first option).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import Panel
from leakscale.audit.scoring.quality import FormQuality
from leakscale.tables import PERCENT, Table

__all__ = ["formats"]


@dataclass(frozen=True, slots=True)
class FormatRow:
    """Answers of one model to one form of every parent."""

    model: str
    form: str
    answers: int
    cut_off: float | None = field(metadata=PERCENT)
    """Share of generated answers that the token cap ended."""
    phrase: float | None = field(metadata=PERCENT)
    """Share with the registered answer phrase."""
    met: str
    """Numeric answers by the format in which the parser met the number."""
    first_option: float | None = field(metadata=PERCENT)
    """Share of choices that fell on the option listed first."""
    secondary_score: float | None = field(metadata=PERCENT)
    """Share of choices that the other choice score counts right."""


def formats(panel: Panel) -> Table[FormatRow]:
    """Truncation, phrase and formats of every model that was asked here."""
    rows = [_row(model.name, each) for model in panel if model.quality is not None for each in model.quality.forms]
    if not rows:
        return heads.FORMATS.withheld("the scores come from logs; what was cut off stands beside each import")
    reruns = [
        f"{model.name} {model.quality.rerun_alike_count} of {model.quality.rerun_count}"
        for model in panel
        if model.quality is not None and model.quality.rerun_count
    ]
    return heads.FORMATS.filled(rows, f"Asked twice and answered alike: {', '.join(reruns)}." if reruns else "")


def _row(model: str, quality: FormQuality) -> FormatRow:
    generated, choices = quality.answer_count - quality.choice_count, quality.choice_count
    return FormatRow(
        model=model,
        form=quality.form,
        answers=quality.answer_count,
        cut_off=quality.cut_off_count / generated if generated else None,
        phrase=quality.phrase_count / generated if generated else None,
        met=", ".join(f"{name} {count}" for name, count in quality.formats.items()) or "-",
        first_option=quality.first_option_count / choices if choices else None,
        secondary_score=None
        if quality.secondary_right_count is None or not choices
        else quality.secondary_right_count / choices,
    )
