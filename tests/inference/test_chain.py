"""Results follow from attempts by fixed rules, in case order, whatever the order of the attempts."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leakscale.errors import IntegrityError
from leakscale.inference import Attempt, ChoiceDistribution, FrozenBank, Mode, Outcome
from leakscale.inference.chain import AttemptChain
from leakscale.inference.results import Finish

from .builders import FakeEngine, a_question, write_bank

LAW = ChoiceDistribution((0.1, 0.2, 0.3, 0.4), (-1.0, -2.0, -3.0, -4.0))


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> FrozenBank:
    """Three questions of two draws."""
    return write_bank(tmp_path_factory.mktemp("bank") / "plan", map(a_question, range(3)), draw_count=2)


def a_chain(bank: FrozenBank, mode: Mode = Mode.SAMPLED_FREE) -> AttemptChain:
    return AttemptChain(bank, mode, range(bank.case_count))


def completed(case: int, text: str = "x", tier: int = 0) -> Attempt:
    return Attempt(case, Outcome.COMPLETED, tier=tier, text=text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000))
def test_results_come_in_case_order_whatever_the_order_of_the_attempts(six: FrozenBank, seed: int) -> None:
    """Concurrency changes who ends first, and must change no byte of the results."""
    engine, rng = FakeEngine(), random.Random(seed)
    attempts = [engine.attempt(case) for case in six.cases()]
    failures = [Attempt(rng.randrange(6), Outcome.TRANSPORT, detail="HTTP 500") for _ in range(3)]
    shuffled = rng.sample(attempts, 6)

    chain = a_chain(six)
    results = [result for attempt in [*failures, *shuffled] for result in chain.add(attempt)]

    assert [result.case for result in results] == list(range(6))
    assert [result.text for result in results] == [attempt.text for attempt in attempts]
    assert chain.is_complete


def test_answer_cut_off_is_asked_once_more_in_the_second_tier(six: FrozenBank) -> None:
    """The one registered transition; a second cut is final, and its text is kept as it is."""
    chain = a_chain(six)

    first = list(chain.add(Attempt(0, Outcome.LENGTH, text="   ")))
    tier = next(chain.open_cases()).tier
    second = list(chain.add(Attempt(0, Outcome.LENGTH, tier=1, text="      ")))

    assert first == []
    assert tier == 1
    assert [(result.finish, result.text) for result in second] == [(Finish.LENGTH, "      ")]


def test_malformed_answer_is_terminal(six: FrozenBank) -> None:
    """Asking until the answer is well-formed would select answers."""
    chain = a_chain(six)

    results = list(chain.add(completed(0, text="I think it is the first one.")))

    assert [result.text for result in results] == ["I think it is the first one."]
    assert [case.index for case in chain.open_cases()] == [1, 2, 3, 4, 5]


def test_draws_of_a_distribution_are_a_function_of_their_seeds(six: FrozenBank) -> None:
    """Asked together or one by one, each draw is the same."""
    together, alone = a_chain(six, Mode.EXACT_GUIDED), a_chain(six, Mode.EXACT_GUIDED)

    one = list(together.add(Attempt(0, Outcome.COMPLETED, case_count=2, distribution=LAW)))
    other = [result for case in (0, 1) for result in alone.add(Attempt(case, Outcome.COMPLETED, distribution=LAW))]

    assert one == other


@pytest.mark.parametrize(
    ("attempts", "rule"),
    [
        ([completed(0), completed(0)], "follows a terminal one"),
        ([completed(0), Attempt(0, Outcome.TRANSPORT)], "follows a terminal one"),
        ([completed(0, tier=1)], "is in length tier 1 out of turn"),
        ([Attempt(0, Outcome.LENGTH, text=""), completed(0)], "is in length tier 0 out of turn"),
        ([completed(6)], "is not within cases 0 to 5"),
        ([Attempt(0, Outcome.COMPLETED, case_count=0, distribution=LAW)], "is not within cases"),
        ([Attempt(1, Outcome.COMPLETED, case_count=2, distribution=LAW)], "covers two questions"),
        ([Attempt(0, Outcome.COMPLETED, case_count=2, text="x")], "gives one answer to several cases"),
        ([Attempt(0, Outcome.COMPLETED)], "needs either an answer or a distribution"),
    ],
)
def test_attempt_that_no_rule_allows_is_refused(six: FrozenBank, attempts: list[Attempt], rule: str) -> None:
    """A log with such a line was not written by this program, or not as it should have been."""
    chain = a_chain(six)
    for attempt in attempts[:-1]:
        list(chain.add(attempt))

    with pytest.raises(IntegrityError, match=rule):
        chain.add(attempts[-1])


def test_attempt_is_read_back_as_it_was_written() -> None:
    """The results are derived again from what is on disk."""
    attempts = [
        completed(3, text='{"choice":"é"}'),
        Attempt(4, Outcome.COMPLETED, case_count=4, distribution=LAW),
        Attempt(8, Outcome.TRANSPORT, tier=1, detail="ReadTimeout"),
        Attempt(9, Outcome.LENGTH, text=""),
    ]

    assert [Attempt.from_json(attempt.to_json()) for attempt in attempts] == attempts


@pytest.mark.parametrize("fields", [{}, {"case": 0, "outcome": "won", "tier": 0}, {"case": "x", "outcome": "length"}])
def test_line_that_is_no_attempt_is_refused(fields: dict[str, object]) -> None:
    """It names what it found."""
    with pytest.raises(IntegrityError, match="is no attempt"):
        Attempt.from_json(fields)


def test_modes_keep_their_names() -> None:
    """They are part of every published result."""
    assert [mode.value for mode in Mode] == ["exact-guided", "exact-conditional", "sampled-guided", "sampled-free"]
