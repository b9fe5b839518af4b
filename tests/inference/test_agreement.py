"""The test that ties sampled answers to exact laws keeps its level and has power."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from leakscale.cli.entry import run
from leakscale.cli.exits import ExitCode
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError
from leakscale.inference import BankFiles, Mode, answer_bank
from leakscale.inference.agreement import chi_square, compare_banks

from .builders import FakeEngine, a_question, write_bank


def some_laws(rng: np.random.Generator, question_count: int, concentration: float) -> np.ndarray:
    """Draw laws over four answers; a small concentration makes most of them nearly certain."""
    return rng.dirichlet([concentration] * 4, size=question_count)


def counts_of(rng: np.random.Generator, laws: np.ndarray, draw_count: int = 32) -> np.ndarray:
    return np.array([rng.multinomial(draw_count, law) for law in laws])


@pytest.mark.parametrize("concentration", [0.05, 0.3, 3.0])
def test_p_values_of_right_samplers_are_uniform(concentration: float) -> None:
    """Also where most answers are expected less than once a question, as in an adapted bank."""
    rng = np.random.default_rng(1)

    p_values = []
    for _ in range(400):
        laws = some_laws(rng, 128, concentration)
        p_values.append(chi_square(laws.tolist(), counts_of(rng, laws).tolist()).p_value)

    assert stats.kstest(p_values, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("temperature", [0.8, 1.25])
def test_sampler_at_another_temperature_is_refused(temperature: float) -> None:
    """The commonest fault of an endpoint: it took the temperature of the model's generation config."""
    rng = np.random.default_rng(2)
    laws = some_laws(rng, 256, 0.5)
    heated = laws ** (1 / temperature)
    heated /= heated.sum(axis=1, keepdims=True)

    assert chi_square(laws.tolist(), counts_of(rng, heated).tolist()).p_value < 1e-6


def test_laws_that_leave_nothing_to_chance_leave_nothing_to_test() -> None:
    """A model that is sure of everything gives zero degrees of freedom, not a division by zero."""
    found = chi_square([[1.0, 0.0, 0.0, 0.0]] * 5, [[32, 0, 0, 0]] * 5)

    assert (found.statistic, found.degrees_of_freedom, found.p_value) == (0.0, 0, 1.0)


@pytest.mark.parametrize(("laws", "counts"), [([], []), ([[0.5, 0.5]], [[1, 2], [3, 4]]), ([[0.5, 0.5]], [[1, 2, 3]])])
def test_laws_and_counts_of_different_shape_are_refused(laws: list[list[float]], counts: list[list[int]]) -> None:
    """They are not of the same bank."""
    with pytest.raises(InvalidRequestError, match="give one row a question to both"):
        chi_square(laws, counts)


def an_answered_bank(stem: Path, mode: Mode, *, bank_seed: int = 0, first: int = 0, draw_count: int = 32) -> BankFiles:
    """Answer forty questions with an engine whose exact laws are .1, .2, .3, .4, and whose samples are flat."""
    files = BankFiles.of(stem)
    bank = write_bank(files.plan, map(a_question, range(first, first + 40)), draw_count=draw_count, bank_seed=bank_seed)
    answer_bank(bank, FakeEngine(mode), files)
    return files


def test_draws_of_an_exact_bank_agree_with_its_laws(tmp_path: Path) -> None:
    """The draws are by inverse CDF, and are held against the laws that they came from."""
    exact = an_answered_bank(tmp_path / "exact", Mode.EXACT_GUIDED)

    found = compare_banks(exact, exact)

    assert found.p_value > 1e-4
    assert sum(found.observed) == 40 * 32


def test_draws_of_another_model_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command says so, and a script sees it in the exit code."""
    an_answered_bank(tmp_path / "exact", Mode.EXACT_GUIDED)
    an_answered_bank(tmp_path / "drawn", Mode.SAMPLED_GUIDED)

    code = run(["bank", "compare", str(tmp_path / "exact"), str(tmp_path / "drawn")])
    agreeing = run(["bank", "compare", str(tmp_path / "exact"), str(tmp_path / "exact")])

    assert (code, agreeing) == (ExitCode.NEGATIVE, ExitCode.OK)
    assert "were not drawn from the exact laws" in capsys.readouterr().out


def test_free_draws_are_held_against_the_conditional_law(tmp_path: Path) -> None:
    """Malformed answers are not drawn from any law over the four, and are not counted."""
    exact = an_answered_bank(tmp_path / "exact", Mode.EXACT_GUIDED)
    drawn = an_answered_bank(tmp_path / "drawn", Mode.SAMPLED_FREE)

    found = compare_banks(exact, drawn)

    assert sum(found.observed) < 40 * 32
    assert found.expected[0] / sum(found.expected) == pytest.approx(1 / sum(np.exp([0, -1, -2, -3])))


def test_banks_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    """Laws of other questions, or no laws at all."""
    exact = an_answered_bank(tmp_path / "exact", Mode.EXACT_GUIDED)
    sampled = an_answered_bank(tmp_path / "sampled", Mode.SAMPLED_GUIDED)
    damaged = an_answered_bank(tmp_path / "damaged", Mode.SAMPLED_GUIDED)
    damaged.results.write_bytes(damaged.results.read_bytes().replace(b'"draw":7', b'"draw":8', 1))

    with pytest.raises(InvalidRequestError, match="holds no laws"):
        compare_banks(sampled, exact)
    with pytest.raises(IntegrityError, match=r"damaged\.results\.jsonl' line 9"):
        compare_banks(exact, damaged)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"bank_seed": 9}, "bank_seed"), ({"draw_count": 16}, "draw_count"), ({"first": 1}, "questions")],
)
def test_answers_to_another_plan_are_not_compared(tmp_path: Path, change: dict[str, int], named: str) -> None:
    """That two engines agree means nothing if they were asked different things."""
    exact = an_answered_bank(tmp_path / "exact", Mode.EXACT_GUIDED)
    other = an_answered_bank(tmp_path / "other", Mode.EXACT_GUIDED, **change)

    with pytest.raises(ConflictError, match=rf"are different plans: they differ in {named} \(SHA-256"):
        compare_banks(exact, other)
