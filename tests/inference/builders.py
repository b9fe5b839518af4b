"""Valid questions, banks and engines in a line each; no model is needed for any of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from leakscale.inference import Attempt, Case, FrozenBank, Mode, Outcome, PreflightReport, Question
from leakscale.inference.cases import BANK_FORMAT, plan_lines
from leakscale.inference.engines import Check
from leakscale.inference.trie import ChoiceDistribution
from leakscale.models import Domain, Message, Ring

__all__ = ["FakeEngine", "a_question", "write_bank"]


def a_question(
    index: int = 0, *, family_id: str | None = None, domain: Domain = Domain.SQL, ring: Ring = Ring.R0
) -> Question:
    """Build a question with four answers of two tokens behind a common one."""
    return Question(
        index=index,
        family_id=family_id or f"f-{index:06d}",
        domain=domain,
        ring=ring,
        prompt=(Message("system", "Pick."), Message("user", f"Question {index}?")),
        prompt_ids=(1, 2, 3, 100 + index),
        answers=tuple(f'{{"choice":"{index}-{place}"}}' for place in range(4)),
        answer_ids=tuple((5, 10 + place, 0) for place in range(4)),
    )


def write_bank(path: Path, questions: Iterable[Question], *, draw_count: int = 4, bank_seed: int = 0) -> FrozenBank:
    """Write questions as a frozen bank, without a tokenizer."""
    asked = list(questions)
    header = {
        "format": BANK_FORMAT,
        "bank_seed": str(bank_seed),
        "draw_count": draw_count,
        "question_count": len(asked),
        "tokenizer": "a" * 64,
        "template": "b" * 64,
        "families": "c" * 64,
    }
    path.write_bytes(b"".join(plan_lines(header, asked)))
    return FrozenBank(path)


class FakeEngine:
    """Answers as a function of the case's seed; in exact mode with a distribution, otherwise with a text.

    Every fifth text is malformed where nothing forces it.
    """

    def __init__(self, mode: Mode = Mode.SAMPLED_FREE, *, checks: Sequence[Check] = ()) -> None:
        self.mode = mode
        self.identity: Mapping[str, str | int] = {"engine": "fake", "version": 1}
        self.asked: list[int] = []
        """Index of every case that was asked, in order."""
        self._checks = tuple(checks)

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        return PreflightReport(self._checks)

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        for case in cases:
            self.asked.append(case.index)
            yield self.attempt(case)

    def attempt(self, case: Case) -> Attempt:
        if self.mode in {Mode.EXACT_GUIDED, Mode.EXACT_CONDITIONAL}:
            law = ChoiceDistribution((0.1, 0.2, 0.3, 0.4), (-1.0, -2.0, -3.0, -4.0))
            return Attempt(case.index, Outcome.COMPLETED, distribution=law)
        place = hashlib.sha256(case.seed).digest()[0] % (5 if self.mode is Mode.SAMPLED_FREE else 4)
        text = json.dumps("malformed") if place == 4 else case.question.answers[place]
        return Attempt(case.index, Outcome.COMPLETED, tier=case.tier, text=text)
