"""Ask models for the four answers of a family: exact distributions, seeded draws, resumable banks.

    from leakscale.inference import answer_bank

Source: LeakScale E.7 and F (evaluation banks and their invariants).
"""

from leakscale.adaptation import _environment as _environment  # before torch
from leakscale.inference.bank import AnswerProgress, FamilyChoice, answer_bank, draw_answers, measure_bank
from leakscale.inference.engine import ChoiceEngine

__all__ = [
    "AnswerProgress",
    "ChoiceEngine",
    "FamilyChoice",
    "answer_bank",
    "draw_answers",
    "measure_bank",
]
