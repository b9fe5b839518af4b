"""Ask models for the four answers of a family: frozen banks, engines, attempts, results.

    bank = freeze_bank(files.plan, families, model=model, bank_seed=7, draw_count=32)
    engine = open_engine("exact", model=model, adapter=adapter)
    answer_bank(bank, engine, files)
    answers = files.read_answers()

Importing this loads no torch; freezing, and opening an engine, do.

Source: LeakScale B (choice interface), E.6, E.7 and F (evaluation banks and their invariants).
"""

from leakscale.inference.answering import BankProgress, answer_bank
from leakscale.inference.attempts import Attempt, Mode, Outcome
from leakscale.inference.binding import BankFiles, Binding, verify_bank
from leakscale.inference.cases import Case, FrozenBank, Question
from leakscale.inference.engines import Engine, PreflightReport, open_engine
from leakscale.inference.results import TerminalResult
from leakscale.inference.trie import ChoiceDistribution

__all__ = [
    "Attempt",
    "BankFiles",
    "BankProgress",
    "Binding",
    "Case",
    "ChoiceDistribution",
    "Engine",
    "FrozenBank",
    "Mode",
    "Outcome",
    "PreflightReport",
    "Question",
    "TerminalResult",
    "answer_bank",
    "open_engine",
    "verify_bank",
]
