"""Draws made token by token follow the exact distribution, and each is the same alone as in company."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
import torch
from scipy import stats

from leakscale.adaptation.loading import open_model_folder
from leakscale.inference import Attempt, Case, FrozenBank, Outcome, Question, open_engine
from leakscale.inference.agreement import chi_square
from leakscale.inference.draws import counter_uniform, inverse_cdf
from leakscale.inference.engines.exact import ExactEngine
from leakscale.inference.engines.sampling import SamplingEngine, SamplingOptions
from leakscale.inference.freezing import freeze_bank
from leakscale.models import Family

from .random_models import ARCHITECTURES, random_model


@pytest.fixture(scope="module")
def guided(base_model: Path) -> SamplingEngine:
    """The shipped model, constrained."""
    return SamplingEngine(open_model_folder(base_model))


@pytest.fixture(scope="module")
def free(base_model: Path) -> SamplingEngine:
    """The shipped model with nothing forced, and tiers short enough to be met."""
    options = SamplingOptions(constrained=False, tokens_max=10, tokens_max_second=40)
    return SamplingEngine(open_model_folder(base_model), options=options)


def draws_of(question: Question, count: int) -> list[Case]:
    """Build many draws of one question."""
    return [Case(draw, question, draw, random.Random(f"draw {draw}").randbytes(32)) for draw in range(count)]


@pytest.mark.parametrize("place", [0, 9, 17, 30])
def test_guided_draws_follow_the_exact_distribution(
    engine: ExactEngine, guided: SamplingEngine, bank: FrozenBank, place: int
) -> None:
    """Chi-square of 3,000 draws against the computed law, at a level that a right sampler fails once in 1e6."""
    question = bank.question(place)
    law = engine.local.distribution(question).guided

    counts = Counter(attempt.text for attempt in guided.answer(draws_of(question, 3000)))

    found = [counts[answer] for answer in question.answers]
    assert sum(found) == 3000
    assert stats.chisquare(found, [3000 * each for each in law]).pvalue > 1e-6


def test_sampled_bank_agrees_with_the_exact_one(engine: ExactEngine, guided: SamplingEngine, bank: FrozenBank) -> None:
    """The test that ties sampled to expected accuracy, over a bank, refuses other laws."""
    laws = [engine.local.distribution(question).guided for question in bank.questions()]
    counts = [[0] * 4 for _ in laws]
    for attempt in guided.answer(bank.cases()):
        question = bank.case(attempt.case).question
        counts[question.index][question.answers.index(attempt.text or "")] += 1

    same, other = chi_square(laws, counts), chi_square([law[::-1] for law in laws], counts)

    assert same.p_value > 1e-6
    assert other.p_value < 1e-9


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_walk_equals_a_decoder_without_a_cache(
    architecture: str, base_model: Path, families: list[Family], tmp_path: Path
) -> None:
    """Brute force on every architecture: reread everything at each token, renormalise over what may follow, draw."""
    folder = random_model(architecture, base_model, tmp_path / "model")
    bank = freeze_bank(tmp_path / "plan", families[::8], model=folder, bank_seed=0, draw_count=4)
    opened = open_model_folder(folder)
    model = opened.load(dtype="float32", attention="eager")

    drawn = [attempt.text for attempt in SamplingEngine(opened).answer(bank.cases())]

    assert drawn == [_slow_draw(model, case) for case in bank.cases()]


@pytest.mark.parametrize("name", ["guided", "free"])
def test_a_draw_is_the_same_alone_as_in_company(name: str, bank: FrozenBank, request: pytest.FixtureRequest) -> None:
    """Batch, order and resume point change who shares a forward, and may change no bit."""
    engine: SamplingEngine = request.getfixturevalue(name)
    cases = list(bank.cases(range(64)))
    shuffled = random.Random(5).sample(cases, len(cases))

    together = _terminal(list(engine.answer(cases)))
    alone = _terminal([attempt for case in shuffled for attempt in engine.answer([case])])

    assert together == alone


def test_free_draws_are_valid_as_often_as_the_mass_says(
    engine: ExactEngine, free: SamplingEngine, bank: FrozenBank
) -> None:
    """The unconstrained mass that the report prints is what an unconstrained decoder does: within five deviations."""
    question = bank.question(3)
    mass = engine.local.distribution(question).valid_mass

    texts = [attempt.text for attempt in free.answer(draws_of(question, 2000)) if attempt.is_terminal]

    valid = sum(text in question.answers for text in texts)
    assert len(texts) == 2000
    assert abs(valid - 2000 * mass) < 5 * (2000 * mass * (1 - mass)) ** 0.5 + 1


def test_free_draw_that_is_cut_off_is_drawn_again_in_the_second_tier_only(base_model: Path, bank: FrozenBank) -> None:
    """Two tokens hold no answer: every draw makes the transition, once, and begins with the same tokens."""
    options = SamplingOptions(constrained=False, tokens_max=2, tokens_max_second=40)
    engine = SamplingEngine(open_model_folder(base_model), options=options)

    attempts = list(engine.answer(bank.cases(range(8))))

    first = [attempt for attempt in attempts if attempt.tier == 0]
    second = {attempt.case: attempt for attempt in attempts if attempt.tier == 1}
    assert [attempt.outcome for attempt in first] == [Outcome.LENGTH] * 8
    assert all((second[attempt.case].text or "").startswith(attempt.text or "?") for attempt in first)
    assert all(attempt.is_terminal for attempt in second.values())


def test_free_draw_cut_off_in_both_tiers_is_final(base_model: Path, bank: FrozenBank) -> None:
    """A model that does not stop has answered, badly."""
    options = {"constrained": False, "tokens_max": 1, "tokens_max_second": 2}
    engine = open_engine("transformers", model=base_model, options=options)

    attempts = [attempt for attempt in engine.answer(bank.cases(range(4))) if attempt.is_terminal]

    assert [attempt.outcome for attempt in attempts] == [Outcome.LENGTH] * 4


def _terminal(attempts: list[Attempt]) -> dict[int, Attempt]:
    return {attempt.case: attempt for attempt in attempts if attempt.is_terminal}


@torch.no_grad()
def _slow_draw(model: torch.nn.Module, case: Case) -> str:
    question = case.question
    written: tuple[int, ...] = ()
    while written not in question.answer_ids:
        options = sorted({answer[len(written)] for answer in question.answer_ids if answer[: len(written)] == written})
        logits = model(input_ids=torch.tensor([question.prompt_ids + written])).logits[0, -1].double()
        law = torch.softmax(logits[options], dim=0).tolist()
        written += (options[inverse_cdf(law, counter_uniform(case.seed, len(written)))],)
    return question.answers[question.answer_ids.index(written)]
