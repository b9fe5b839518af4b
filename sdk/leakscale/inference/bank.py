"""Measure how a model chooses among the candidates of families, in one call: the short way through this package.

It freezes a bank of one draw a family, answers it with the exact engine and hands back the distributions; any number of
draws then follows from them. Whoever wants the draws on disk, other engines or shards, freezes and answers a bank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leakscale.inference.answering import BankProgress, answer_bank
from leakscale.inference.binding import BankFiles
from leakscale.inference.draws import inverse_cdf
from leakscale.inference.trie import ChoiceDistribution
from leakscale.models import Answer, Family
from leakscale.seeds import draw_seed, uniform

__all__ = ["AnswerProgress", "FamilyChoice", "draw_answers", "measure_bank"]


@dataclass(frozen=True, slots=True)
class FamilyChoice:
    """How a model chooses among the four candidates of a family."""

    family: Family
    guided: tuple[float, ...]
    """Probability of each candidate under guided decoding, in display order; sums to one."""
    valid_mass: float
    """Probability in [0, 1] that the model writes any of the four answers with nothing forced."""


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """How far a bank is, in families."""

    done_count: int
    """Including those that the log already had."""
    family_count: int


def measure_bank(
    model: str | Path,
    families: Sequence[Family],
    *,
    adapter: Path | None,
    bank_seed: int,
    log: Path,
    progress: Callable[[AnswerProgress], None] | None = None,
) -> list[FamilyChoice]:
    """Compute the distribution of every family that the log does not hold yet; return all, sorted by family id.

    Killed at any moment and called again, it goes on after the last family in the log.

    Args:
        model: Folder or Hugging Face id.
        families: The bank's families, in any order.
        adapter: Folder of a completed adapter, or None for the base state.
        bank_seed: Bound to the log, so that a log stands for one bank.
        log: The attempts; the bank's other files stand beside it.
        progress: Called after each family.

    Raises:
        InvalidRequestError: If a family comes twice, or two candidates share an answer.
        ModelError: If the model or adapter cannot be used.
        ConflictError: If the log was begun by another model, adapter or bank seed, or on other questions.
        StorageFullError: If the disk is full; the families in the log are not computed again.
    """
    from leakscale.adaptation.loading import open_model_folder  # noqa: PLC0415  torch takes seconds to load
    from leakscale.inference.engines.exact import ExactEngine  # noqa: PLC0415
    from leakscale.inference.freezing import freeze_bank  # noqa: PLC0415

    beside = BankFiles.of(log.with_suffix(""))
    files = BankFiles(plan=beside.plan, attempts=log, results=beside.results, binding=beside.binding)
    folder = open_model_folder(model)
    bank = freeze_bank(files.plan, families, model=folder, bank_seed=bank_seed, draw_count=1)

    def show(at: BankProgress) -> None:
        if progress is not None:
            progress(AnswerProgress(at.done_count, at.case_count))

    answer_bank(bank, ExactEngine(folder, adapter=adapter), files, progress=show)
    by_case = {attempt.case: attempt.distribution for attempt in files.read_attempts()}
    ordered = sorted(families, key=lambda family: (family.family_id, family.ring.value))
    return [_choice(family, by_case[case]) for case, family in enumerate(ordered)]


def draw_answers(choices: Sequence[FamilyChoice], *, bank_seed: int, draw_count: int) -> list[Answer]:
    """Draw from measured distributions; draw `d` of a family is the same whatever the other draws and families are."""
    return [
        Answer(choice.family.family_id, draw, _drawn(choice, bank_seed, draw))
        for choice in choices
        for draw in range(draw_count)
    ]


def _choice(family: Family, distribution: ChoiceDistribution | None) -> FamilyChoice:
    assert distribution is not None  # noqa: S101 - the exact engine always gives one
    return FamilyChoice(family, distribution.guided, distribution.valid_mass)


def _drawn(choice: FamilyChoice, bank_seed: int, draw: int) -> str:
    family = choice.family
    seed = draw_seed(bank_seed, family_id=family.family_id, domain=family.domain, ring=family.ring, draw=draw)
    return family.candidates[inverse_cdf(choice.guided, uniform(seed))].answer
