"""Hold sampled answers against the exact law they should come from: one test over all questions of a bank.

A question alone has 32 draws, and often an answer that is expected less than once among them, where Pearson's statistic
is not chi-square. So the questions are added up first, each with its answers in order of their probability: how often
the likeliest answer was drawn, the second, and so on. Sums over many questions are normal, their covariance is known
exactly, and a sampler that is too hot, too cold or asks another model moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.inference.attempts import ATTEMPTS_MEND, Mode
from leakscale.inference.binding import BankFiles, verify_bank
from leakscale.inference.cases import FrozenBank
from leakscale.inference.lines import read_header

__all__ = ["Agreement", "chi_square", "compare_banks"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well counts agree with the laws they were drawn from."""

    statistic: float
    degrees_of_freedom: int
    """At most three; fewer where the laws leave nothing to chance."""
    p_value: float
    """Probability of a statistic at least as large if the counts were drawn from the laws."""
    expected: tuple[float, ...]
    """Expected draws of the likeliest answer, the second, and so on, over all questions."""
    observed: tuple[int, ...]


def chi_square(laws: Sequence[Sequence[float]], counts: Sequence[Sequence[int]]) -> Agreement:
    """Test whether counts were drawn from laws.

    Args:
        laws: For each question, the probability of each answer.
        counts: For each question, how often each answer was drawn.

    Raises:
        InvalidRequestError: If there is no question, or laws and counts are of different shape.
    """
    law, count = np.array(laws, dtype=float), np.array(counts, dtype=np.int64)
    if law.ndim != 2 or law.shape != count.shape or law.size == 0:
        raise InvalidRequestError(f"laws have shape {law.shape}, counts {count.shape}; give one row a question to both")
    order = np.argsort(-law, axis=1, kind="stable")
    law, count = np.take_along_axis(law, order, axis=1), np.take_along_axis(count, order, axis=1)
    draws = count.sum(axis=1)
    expected, observed = (draws[:, None] * law).sum(axis=0), count.sum(axis=0)
    covariance = np.diag(expected) - (law * draws[:, None]).T @ law
    inverse, rank = _inverse_on_range(covariance)
    difference = observed - expected
    statistic = float(difference @ inverse @ difference)
    return Agreement(
        statistic=statistic,
        degrees_of_freedom=rank,
        p_value=float(stats.chi2.sf(statistic, rank)) if rank else 1.0,
        expected=tuple(expected.tolist()),
        observed=tuple(observed.tolist()),
    )


def compare_banks(exact: BankFiles, drawn: BankFiles) -> Agreement:
    """Test whether one bank's answers were drawn from the laws that another run computed for the same questions.

    Answers of a guided mode are held against the guided laws. Of an answer that nothing forced, what is well-formed is
    held against the conditional law; how often it is well-formed, `ChoiceDistribution.valid_mass` says.

    Args:
        exact: Answered by the engine `exact`.
        drawn: Another answering of the same plan, by any engine.

    Raises:
        ConflictError: If the two are not of one plan; the message names what differs.
        IntegrityError: If one of them is damaged or not complete.
        InvalidRequestError: If `exact` holds no laws.
        NotFoundError: If a file is missing.
    """
    bank = _common_plan(FrozenBank(exact.plan), FrozenBank(drawn.plan))
    for files in (exact, drawn):
        verify_bank(files)
    mode = Mode(read_header(drawn.attempts, mend=ATTEMPTS_MEND)["mode"])
    is_guided = mode in {Mode.EXACT_GUIDED, Mode.SAMPLED_GUIDED}
    laws: dict[int, tuple[float, ...]] = {}
    for attempt in exact.read_attempts():
        if attempt.distribution is not None:
            law = attempt.distribution.guided if is_guided else attempt.distribution.conditional
            laws[attempt.case // bank.draw_count] = law
    if not laws:
        raise InvalidRequestError(f"'{exact.attempts}' holds no laws; answer that bank with the engine 'exact'")
    counts = {question: [0] * len(law) for question, law in laws.items()}
    for result in drawn.read_results():
        index = result.case // bank.draw_count
        answers = bank.question(index).answers
        if index in counts and result.text in answers:
            counts[index][answers.index(result.text)] += 1
    return chi_square(list(laws.values()), [counts[index] for index in laws])


def _common_plan(one: FrozenBank, other: FrozenBank) -> FrozenBank:
    if one.digest == other.digest:
        return one
    names = ("families", "tokenizer", "template", "bank_seed", "draw_count")
    differing = [name for name in names if getattr(one, name) != getattr(other, name)] or ["questions"]
    raise ConflictError(
        f"'{one.path}' and '{other.path}' are different plans: they differ in {', '.join(differing)} (SHA-256 "
        f"{one.digest[:12]} and {other.digest[:12]}); compare two answerings of one plan"
    )


def _inverse_on_range(covariance: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the pseudo-inverse and rank of a covariance; the sum of the counts is fixed, so it is singular."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * max(1.0, float(values[-1]))
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, int(kept.sum())
