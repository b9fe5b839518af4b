"""Answer a bank: the distribution of every family once, then any number of draws from it.

A draw is the inverse of the family's cumulative distribution at a uniform that only the draw's identity decides. So
answers do not depend on the order of the families, on what a run was resumed from, or on how many draws are taken.

Source: LeakScale F.2 (deterministic seeds), E.7 (evaluation banks).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.inference.choice_log import ChoiceLog, LoggedChoice
from leakscale.inference.engine import ChoiceEngine, EncodedFamily
from leakscale.models import Answer, Family
from leakscale.seeds import draw_seed, uniform

__all__ = ["AnswerProgress", "FamilyChoice", "answer_bank", "draw_answers", "measure_bank"]


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


ProgressCallback = Callable[[AnswerProgress], None]


def answer_bank(
    model: str | Path,
    families: Sequence[Family],
    *,
    adapter: Path | None,
    bank_seed: int,
    draw_count: int,
    log: Path,
    progress: ProgressCallback | None = None,
) -> list[Answer]:
    """Draw `draw_count` answers to each family, sorted by family id and draw; see `measure_bank` and `draw_answers`.

    Raises:
        InvalidRequestError: If `draw_count` is below one, or a family comes twice.
        ModelError: If the model or adapter cannot be used.
        ConflictError: If the log was begun by another model, adapter or bank seed, or on other questions.
    """
    if draw_count < 1:
        raise InvalidRequestError(f"draw_count is {draw_count}; ask for at least one draw a family")
    choices = measure_bank(model, families, adapter=adapter, bank_seed=bank_seed, log=log, progress=progress)
    return draw_answers(choices, bank_seed=bank_seed, draw_count=draw_count)


def measure_bank(
    model: str | Path,
    families: Sequence[Family],
    *,
    adapter: Path | None,
    bank_seed: int,
    log: Path,
    progress: ProgressCallback | None = None,
) -> list[FamilyChoice]:
    """Compute the distribution of every family that the log does not hold yet; return all, sorted by family id.

    Killed at any moment and called again, it goes on after the last family in the log.

    Args:
        model: Folder or Hugging Face id.
        families: The bank's families, in any order.
        adapter: Folder of a completed adapter, or None for the base state.
        bank_seed: Bound to the log, so that a log stands for one bank.
        log: Append-only file, begun if it is not there.
        progress: Called after each family.

    Raises:
        InvalidRequestError: If a family comes twice, or two candidates share an answer.
        ModelError: If the model or adapter cannot be used.
        ConflictError: If the log was begun by another model, adapter or bank seed, or on other questions.
        StorageFullError: If the disk is full; the families in the log are not computed again.
    """
    ordered = _checked(families)
    engine = ChoiceEngine(model, adapter=adapter)
    choices = []
    with ChoiceLog(log, {**engine.identity, "bank_seed": bank_seed}) as opened:
        for number, family in enumerate(ordered, start=1):
            encoded = engine.encode(family)
            logged = opened.choices.get((family.family_id, family.ring.value))
            if logged is None:
                logged = _measure(engine, encoded)
                opened.append(logged)
            elif logged.tokens != _tokens_digest(encoded):
                raise ConflictError(
                    f"log '{log}' answered another question under family '{family.family_id}'; delete it to answer anew"
                )
            choices.append(FamilyChoice(family, logged.guided, math.fsum(map(math.exp, logged.unconstrained))))
            if progress is not None:
                progress(AnswerProgress(number, len(ordered)))
    return choices


def draw_answers(choices: Sequence[FamilyChoice], *, bank_seed: int, draw_count: int) -> list[Answer]:
    """Draw from measured distributions; draw `d` of a family is the same whatever the other draws and families are."""
    return [
        Answer(choice.family.family_id, draw, _drawn(choice, bank_seed, draw))
        for choice in choices
        for draw in range(draw_count)
    ]


def _drawn(choice: FamilyChoice, bank_seed: int, draw: int) -> str:
    family = choice.family
    point = uniform(draw_seed(bank_seed, family_id=family.family_id, domain=family.domain, ring=family.ring, draw=draw))
    cumulative = 0.0
    for candidate, probability in zip(family.candidates, choice.guided, strict=True):
        cumulative += probability
        if point < cumulative:
            return candidate.answer
    return family.candidates[-1].answer  # the sum may end a rounding below one


def _measure(engine: ChoiceEngine, encoded: EncodedFamily) -> LoggedChoice:
    distribution = engine.distribution(encoded)
    return LoggedChoice(
        family_id=encoded.family.family_id,
        ring=encoded.family.ring.value,
        tokens=_tokens_digest(encoded),
        guided=distribution.guided,
        unconstrained=distribution.unconstrained,
    )


def _tokens_digest(encoded: EncodedFamily) -> str:
    payload = json.dumps([encoded.prompt_ids, encoded.answer_ids], separators=(",", ":"))
    return hashlib.sha256(payload.encode()).hexdigest()


def _checked(families: Sequence[Family]) -> list[Family]:
    ordered = sorted(families, key=lambda family: (family.family_id, family.ring.value))
    for one, other in pairwise(ordered):
        if one.family_id == other.family_id:
            raise InvalidRequestError(f"family '{one.family_id}' comes twice; a bank asks each family once")
    return ordered
