"""What every engine is tried on before a bank, asked by the way the bank will be answered.

Source: LeakScale D.4 (adapter activity), F.2 (draws invariant to concurrency and order).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol

from leakscale.errors import ModelError
from leakscale.inference.attempts import Attempt, Mode
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.preflight import Check
from leakscale.inference.results import terminal_result
from leakscale.seeds import draw_seed

if TYPE_CHECKING:
    from leakscale.adaptation.rendering import EncodedRecord

__all__ = ["Scorer", "adapter_check", "bos_check", "constraint_check", "order_check", "probe_cases", "repeat_check"]

_DRAW_COUNT: Final = 4
_PROBE_SEED: Final = 20_260_101
"""Of the draws that are thrown away; a bank's own seeds are left for its own draws."""


class Scorer(Protocol):
    """Whatever says how probable the answers of a question are, and answers cases."""

    @property
    def mode(self) -> Mode:
        """How its draws are made."""

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Answer cases as a bank is answered."""

    def score(self, question: Question, *, adapter: bool) -> Sequence[Sequence[float]]:
        """Return log p of every token of every answer, in nats, with the adapter on or off."""


def probe_cases(questions: Sequence[Question]) -> list[Case]:
    """Return a few draws of each question, with seeds that no bank has."""
    return [
        Case(
            index=place * _DRAW_COUNT + draw,
            question=question,
            draw=draw,
            seed=draw_seed(
                _PROBE_SEED, family_id=question.family_id, domain=question.domain, ring=question.ring, draw=draw
            ),
        )
        for place, question in enumerate(questions)
        for draw in range(_DRAW_COUNT)
    ]


def constraint_check(engine: Scorer, questions: Sequence[Question]) -> Check:
    """Check that every draw is one of the four exact strings, in a mode that promises so."""
    cases = {case.index: case for case in probe_cases(questions)}
    texts = _texts(engine, cases.values())
    outside = [index for index, text in texts.items() if text not in cases[index].question.answers]
    if engine.mode is Mode.SAMPLED_FREE:
        return Check("choice-constraint", True, f"not constrained; {len(outside)} of {len(texts)} draws are malformed")
    return Check("choice-constraint", not outside, f"{len(outside)} of {len(texts)} draws are none of the four answers")


def repeat_check(engine: Scorer, questions: Sequence[Question]) -> Check:
    """Check that draws asked again, in another order and grouping, are the same."""
    cases = probe_cases(questions)
    shuffled = random.Random(0).sample(cases, len(cases))  # noqa: S311  an order, not a secret
    first, again = _texts(engine, cases), _texts(engine, shuffled)
    differing = sum(first[index] != again[index] for index in first)
    return Check("seed-repeatable", differing == 0, f"{differing} of {len(first)} draws changed when asked again")


def order_check(
    engine: Scorer, questions: Sequence[Question], *, tolerance_nats: float = 0.0, concurrency: int = 1
) -> Check:
    """Check that log-probabilities do not depend on what is asked before, or at the same time.

    Args:
        engine: Asked for every question alone and in order, then in reverse.
        questions: A few.
        tolerance_nats: Largest difference allowed.
        concurrency: Questions that the second time are asked at once, where an engine answers many at once.
    """
    forward = [engine.score(question, adapter=True) for question in questions]
    backward = _scored(engine, questions[::-1], concurrency)[::-1]
    shift = max(abs(one - other) for one, other in zip(_flat(forward), _flat(backward), strict=True))
    finding = f"log-probabilities moved by at most {shift:g} nats with the order of the questions"
    return Check("order-independent", shift <= tolerance_nats, f"{finding}; {tolerance_nats:g} are allowed")


def adapter_check(engine: Scorer, questions: Sequence[Question], *, strength: float) -> Check:
    """Check that the adapter moves the answers' tokens; at strength 0, that it moves none at all.

    All four answers are asked, for whoever answers a bank knows no association.
    """
    from leakscale.adaptation.probe import probe_adapter  # noqa: PLC0415  loads torch
    from leakscale.adaptation.rendering import EncodedRecord  # noqa: PLC0415

    records = {
        EncodedRecord(f"{place}-{answer}", question.prompt_ids + ids, len(question.prompt_ids)): (question, answer)
        for place, question in enumerate(questions)
        for answer, ids in enumerate(question.answer_ids)
    }
    try:
        report = probe_adapter(_RecordScorer(engine, records), list(records), strength=strength)
    except ModelError as error:
        return Check("adapter-active", False, str(error))
    finding = f"on against off moves an answer's token by up to {report.activity:g} nats at strength {strength:g}"
    return Check("adapter-active", True, finding)


def bos_check(questions: Sequence[Question], *, bos_id: int | None) -> Check:
    """Check that no prompt begins with two BOS tokens, which no chat was trained with."""
    doubled = sum(bos_id is not None and question.prompt_ids[:2] == (bos_id, bos_id) for question in questions)
    finding = "the tokenizer has no BOS" if bos_id is None else f"{doubled} of {len(questions)} prompts begin with two"
    return Check("one-bos", doubled == 0, finding)


class _RecordScorer:
    """Scores the records of a probe through an engine, which knows them as answers of questions."""

    def __init__(self, engine: Scorer, records: dict[EncodedRecord, tuple[Question, int]]) -> None:
        self._engine, self._records = engine, records

    def target_log_probabilities(self, records: Sequence[EncodedRecord], *, adapter: bool) -> Sequence[float]:
        """Return log p of every answer token of the records."""
        scored: dict[int, Sequence[Sequence[float]]] = {}
        values: list[float] = []
        for record in records:
            question, answer = self._records[record]
            if question.index not in scored:
                scored[question.index] = self._engine.score(question, adapter=adapter)
            values += scored[question.index][answer]
        return values


def _texts(engine: Scorer, cases: Iterable[Case]) -> dict[int, str]:
    """Return the text of every case's terminal attempt, by the case's index."""
    by_index = {case.index: case for case in cases}
    return {
        index: terminal_result(by_index[index], attempt, engine.mode).text
        for attempt in engine.answer(by_index.values())
        if attempt.is_terminal
        for index in range(attempt.case, attempt.case + attempt.case_count)
    }


def _scored(engine: Scorer, questions: Sequence[Question], concurrency: int) -> list[Sequence[Sequence[float]]]:
    if concurrency == 1:  # in this thread: torch counts its threads anew in each
        return [engine.score(question, adapter=True) for question in questions]
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        return list(pool.map(lambda question: engine.score(question, adapter=True), questions))


def _flat(scores: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    return [value for answers in scores for values in answers for value in values]
