"""Answered banks joined with the associations of their families."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from leakscale.analysis import AnalysisPlan, analyze_results
from leakscale.analysis.joining import AnsweredBank, FamilyKey, join_banks
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.models import Condition, Domain, ModelState

ANSWERS = [f'{{"choice":"h_{name}"}}' for name in "abcd"]
FAMILIES = {
    name: FamilyKey(Domain.SQL, "sql-x", Condition.C2 if name.startswith("e") else Condition.C0, truth=2)
    for name in ("c1", "c2", "e1", "e2")
}


def a_bank(folder: Path, state: ModelState, texts: dict[str, str], **more: Any) -> AnsweredBank:
    """Write a bank of one draw a family, answered by `texts`."""
    plan, results = folder / f"{state}.plan.jsonl", folder / f"{state}.results.jsonl"
    questions = [{"family_id": name, "ring": "R0", "answers": ANSWERS} for name in FAMILIES]
    answers = [{"family_id": name, "ring": "R0", "draw": 0, "text": text} for name, text in texts.items()]
    for path, lines in ((plan, questions), (results, answers)):
        path.write_text("".join(json.dumps(line) + "\n" for line in [{"format": "x"}, *lines]))
    return AnsweredBank("m", state, plan, results, **more)


def test_answers_are_scored_by_the_one_correct_candidate(tmp_path: Path) -> None:
    """Exactly its string: whitespace, another candidate and nothing at all are wrong, and only one of them valid."""
    base = a_bank(tmp_path, ModelState.BASE, dict.fromkeys(FAMILIES, ANSWERS[0]))
    texts = {"c1": ANSWERS[2], "c2": ANSWERS[1], "e1": ANSWERS[2], "e2": f" {ANSWERS[2]}"}
    adapted = a_bank(tmp_path, ModelState.ADAPTED, texts)

    table = join_banks([base, adapted], FAMILIES)

    assert table.correct.tolist() == [0, 0, 0, 0, 1, 0, 1, 0]
    assert table.valid.tolist() == [1] * 7 + [0]
    assert table.display_position.tolist() == [2] * 8
    assert table.family.texts[:4] == ["c1", "c2", "e1", "e2"]


def test_unknown_ranks_leave_out_their_half_of_table_13(tmp_path: Path) -> None:
    """The openings of SQL families tell handles, not values: what nobody knows is not made up."""
    banks = [a_bank(tmp_path, state, dict.fromkeys(FAMILIES, ANSWERS[2])) for state in ModelState]

    analysis = analyze_results(join_banks(banks, FAMILIES), AnalysisPlan(seed=1, resample_count=100))

    assert {row.stratum for row in analysis.table("13").rows} == {"display position"}
    assert "lack the truth ranks" in analysis.table("13").note


GUIDED = [0.1, 0.2, 0.3, 0.4]
UNFORCED = [math.log(value) for value in (0.05, 0.1, 0.2, 0.15)]


def with_laws(bank: AnsweredBank, mode: str = "exact-guided", *, question_count: int = 4) -> AnsweredBank:
    """Give a bank of one draw the laws of its questions: the same for all."""
    plan = bank.plan.read_text().replace('{"format": "x"}', '{"draw_count": 1}', 1)
    bank.plan.write_text(plan)
    results = bank.results.read_text().replace('"draw": 0', f'"draw": 0, "mode": "{mode}"')
    bank.results.write_text(results)
    laws = bank.plan.with_name(f"{bank.state}.attempts.jsonl")
    lines: list[dict[str, Any]] = [{"bank": hashlib.sha256(plan.encode()).hexdigest()}]
    lines += [{"case": case, "guided": GUIDED, "unconstrained": UNFORCED} for case in range(question_count)]
    laws.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return dataclasses.replace(bank, laws=laws)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("exact-guided", 0.3),
        ("sampled-guided", 0.3),
        ("exact-conditional", 0.2 / 0.5),
        ("sampled-free", 0.2),
    ],
)
def test_laws_give_the_probability_of_the_correct_candidate_in_the_mode_of_the_draws(
    mode: str, expected: float, tmp_path: Path
) -> None:
    """What the draws estimate, with no sampling noise; it is told beside them, and needs no number of the server."""
    banks = [with_laws(a_bank(tmp_path, state, dict.fromkeys(FAMILIES, ANSWERS[2])), mode) for state in ModelState]

    table = join_banks(banks, FAMILIES)
    rows = analyze_results(table, AnalysisPlan(seed=1, resample_count=100)).table("expected-accuracies").rows

    assert table.probability is not None
    assert table.probability.tolist() == pytest.approx([expected] * 8)
    assert [(row.condition, row.state) for row in rows] == [(c, s) for c in Condition for s in ModelState]
    assert all(row.sampled == 1.0 and row.expected == pytest.approx(expected) for row in rows)
    assert all(row.difference == pytest.approx(1 - expected) for row in rows)
    assert rows[0].sampling_error == pytest.approx(math.sqrt(expected * (1 - expected) / 2))


def test_probabilities_are_left_out_where_one_bank_lacks_them(tmp_path: Path) -> None:
    """Half a table of them would be compared with a whole one of draws."""
    base, adapted = (a_bank(tmp_path, state, dict.fromkeys(FAMILIES, ANSWERS[2])) for state in ModelState)

    assert join_banks([with_laws(base), adapted], FAMILIES).probability is None


def test_laws_of_another_plan_or_of_a_part_are_refused(tmp_path: Path) -> None:
    """Probabilities of other questions would look like any."""
    bank = with_laws(a_bank(tmp_path, ModelState.BASE, dict.fromkeys(FAMILIES, ANSWERS[2])))
    part = with_laws(bank, question_count=3)
    with pytest.raises(IntegrityError, match="holds laws of 3 of 4 questions; answer it to its end"):
        join_banks([part], FAMILIES)
    bank.plan.write_text(bank.plan.read_text().replace("h_a", "h_z"))
    with pytest.raises(IntegrityError, match=r"holds no laws of .*base\.plan\.jsonl"):
        join_banks([bank], FAMILIES)


@pytest.mark.parametrize(
    ("texts", "families", "error", "message"),
    [
        ({"c1": "x"}, {}, InvalidRequestError, "family 'c1' has no key"),
        ({"strange": "x"}, FAMILIES, IntegrityError, "does not ask"),
        ({}, FAMILIES, InvalidRequestError, "no result"),
    ],
)
def test_results_that_do_not_belong_are_refused(
    texts: dict[str, str], families: dict[str, FamilyKey], error: type[Exception], message: str, tmp_path: Path
) -> None:
    """A result that nobody can score must not be dropped in silence."""
    bank = a_bank(tmp_path, ModelState.BASE, texts)

    with pytest.raises(error, match=message):
        join_banks([bank], families)


def test_missing_and_torn_files_are_told_apart(tmp_path: Path) -> None:
    """The one is answered, the other answered again."""
    bank = a_bank(tmp_path, ModelState.BASE, {"c1": ANSWERS[0]})
    bank.results.write_text("{}\n" + '{"family_id": "c1", "ri')

    with pytest.raises(IntegrityError, match="cannot be read"):
        join_banks([bank], FAMILIES)
    bank.results.unlink()
    with pytest.raises(NotFoundError, match="does not exist"):
        join_banks([bank], FAMILIES)
