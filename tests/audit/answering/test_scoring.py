"""Answers become scores by criterion: numbers by the parser, choices by probability, exact answers letter by letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.builders import bank, choice, line

from leakscale.audit.answering import FormAnswer
from leakscale.audit.answering.asks import asks_of
from leakscale.audit.registration.fields import ScoringTable
from leakscale.audit.registration.plan import AuditPlan, plan_from_fields
from leakscale.audit.scoring.answers import is_right, score_answers
from leakscale.audit.scoring.numbers import NumericParser
from leakscale.audit.scoring.quality import answer_quality
from leakscale.inference.forms import Generated, OptionScore


def plan(**tables: object) -> AuditPlan:
    """Return a plan but for these tables."""
    source = {"id": "b", "source": "here", "license": "CC0-1.0"}
    fields = {
        "format": 1,
        "name": "n",
        "title": "t",
        "benchmark": source,
        "models": [{"id": "m", "source": "s", "revision": "1"}],
    }
    return plan_from_fields(fields | tables, source="test")


def options(form: str, *log_probabilities: float) -> FormAnswer:
    """Return scores of a form's options, of two tokens each."""
    return FormAnswer(
        form, 0, is_rerun=False, generated=None, options=tuple(OptionScore(each, 2) for each in log_probabilities)
    )


def said(form: str, text: str) -> FormAnswer:
    """Return a generated answer."""
    return FormAnswer(form, 0, is_rerun=False, generated=Generated(text, 3, is_cut_off=False, confidence=-0.25))


def test_a_long_option_is_not_wrong_for_its_length(tmp_path: Path) -> None:
    """Log-probability over characters is primary; the raw sum is reported beside."""
    forms = bank(tmp_path, choice())  # ice (gold), iron, air, oil
    answers = [options("c1/original", -6.0, -5.9, -9.0, -9.0), options("c1/fresh-1", -3.0, -9.0, -9.0, -9.0)]
    by_characters = score_answers(forms, answers, ScoringTable(), model="m")
    by_sum = score_answers(forms, answers, ScoringTable(choice_score="sum"), model="m")
    quality = answer_quality(forms, answers, plan())

    assert by_characters.accuracy.scores.tolist() == [[0.0, 1.0]]  # -5.9 / 4 against -6.0 / 3
    assert by_sum.accuracy.scores.tolist() == [[0.0, 1.0]]
    assert [form.first_option_count for form in quality.forms] == [0, 1]
    assert by_characters.accuracy.metric != by_sum.accuracy.metric


def test_the_two_choice_scores_can_differ(tmp_path: Path) -> None:
    """Otherwise the secondary one would say nothing."""
    forms = bank(tmp_path, choice(gold="B", fresh=[]))
    answers = [options("c1/original", -3.9, -4.0, -9.0, -9.0)]  # -3.9 / 3 < -4.0 / 4
    quality = answer_quality(forms, answers, plan())

    (parent,) = forms.parents
    assert quality.forms[0].secondary_right_count == 0
    assert is_right(answers[0], parent.original, parent.criterion, parser=NumericParser())


def test_the_chosen_option_gives_the_confidence(tmp_path: Path) -> None:
    """Mean log-probability a token, as PaCoST pairs it."""
    forms = bank(tmp_path, choice())
    answers = [options("c1/original", -1.0, -9.0, -9.0, -9.0), options("c1/fresh-1", -9.0, -9.0, -3.0, -9.0)]
    confidence = score_answers(forms, answers, ScoringTable(), model="m").confidence

    assert confidence is not None
    assert confidence.scores.tolist() == [[-0.5, -1.5]]


@pytest.mark.parametrize(
    ("text", "score"), [("blue", 1.0), ("  blue\n", 1.0), ("Blue", 0.0), ("the blue one", 0.0), ("", 0.0)]
)
def test_an_exact_answer_is_the_gold_one_letter_by_letter(tmp_path: Path, text: str, score: float) -> None:
    """White space at the ends is no part of an answer; everything else is."""
    forms = bank(
        tmp_path, line(criterion="exact", gold="blue", fresh=["Which colour has the sky at noon, by daylight?"])
    )
    table = score_answers(forms, [said("p1/original", text)], ScoringTable(), model="m").accuracy
    assert table.scores[0, 0] == score


def test_a_form_without_an_answer_has_no_score(tmp_path: Path) -> None:
    """A missing one is not a wrong one."""
    table = score_answers(bank(tmp_path, line()), [said("p1/original", "The answer is 31.")], ScoringTable(), model="m")
    assert table.accuracy.scores[0, 0] == 1
    assert [str(name) for name in table.accuracy.missing()] == ["p1/fresh-1", "p1/fresh-2"]


def test_prompts_are_the_registered_ones(tmp_path: Path) -> None:
    """Examples stand before the form, the system turn before both, and a choice is asked without a chat template."""
    table = {"system": "Be brief.", "few_shot": ["Q: 1 + 1? A: 2"], "template": "Q: {question} A:"}
    numeric, *_ = asks_of(bank(tmp_path, line()), plan(prompt=table))
    chosen, *_ = asks_of(bank(tmp_path, choice()), plan(prompt=table))

    assert [turn.role for turn in numeric.prompt.turns] == ["system", "user"]
    assert numeric.prompt.turns[1].content.startswith("Q: 1 + 1? A: 2\n\nQ: Tom buys")
    assert numeric.prompt.is_chat
    assert not chosen.prompt.is_chat
    assert chosen.prompt.text.endswith("grows warm?\nAnswer:")
    assert chosen.options == (" ice", " iron", " air", " oil")
