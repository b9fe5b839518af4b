"""From answered banks to results: each answer joined with the association of its family.

Whoever has both is the server, the author of a practice edition, or anybody once the openings of a private edition are
public. A case is correct when the candidate that it chose is the one whose artifact passed every fixture.

Source: LeakScale B.3 (frozen look-up); an answer outside the four exact strings is malformed and wrong.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from leakscale.analysis.result_table import LabelColumn, ResultTable
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.models import Condition, Domain, ModelState
from leakscale.reading import parse_json

__all__ = ["AnsweredBank", "FamilyKey", "join_banks"]


@dataclass(frozen=True, slots=True)
class AnsweredBank:
    """One model in one state, and the files of what it was asked and what it answered."""

    model: str
    state: ModelState
    plan: Path
    """`<bank>.plan.jsonl`: the frozen bank."""
    results: Path
    """`<bank>.results.jsonl`: one result a case."""
    strength: float = 1.0
    """Of the adapter; not read in the base state."""
    laws: Path | None = None
    """`<bank>.attempts.jsonl` of the same plan, model and state as the engine `exact` answered it: of this bank, or of
    another where the answers of this one were sampled. Gives each row the probability of the correct candidate; None
    where nobody read it."""


@dataclass(frozen=True, slots=True)
class FamilyKey:
    """The private part of a family, and where it stands in the design."""

    domain: Domain
    shape: str
    condition: Condition
    truth: int
    """Display index of the correct candidate, 0 to 3; one for all rings."""
    truth_rank: int | None = None
    """None where candidates are handles and nobody knows their values."""


def join_banks(banks: Iterable[AnsweredBank], families: Mapping[str, FamilyKey]) -> ResultTable:
    """Score every result of answered banks.

    Args:
        banks: Of any models, domains, states, rings and strengths. Probabilities are kept if every bank has laws.
        families: By family id. Ranks are kept if every family has one.

    Raises:
        NotFoundError: If a file is missing.
        IntegrityError: If a line cannot be read, a result is of a question that its bank does not ask, or laws are of
            another plan or lack a question.
        InvalidRequestError: If a family that was asked has no key, or there is no result.
    """
    rows: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, "probability")}
    for bank in banks:
        questions = {
            (fields["family_id"], fields["ring"]): list(fields["answers"])
            for fields in _lines(bank.plan, "family_id", "ring", "answers")
        }
        laws = None if bank.laws is None else _laws(bank, bank.laws, list(questions))
        for result in _lines(bank.results, "family_id", "ring", "text"):
            name = result["family_id"], result["ring"]
            if name not in questions:
                raise IntegrityError(f"'{bank.results}' answers {name}, which '{bank.plan}' does not ask")
            if name[0] not in families:
                raise InvalidRequestError(f"family '{name[0]}' has no key; give the openings of its edition")
            key = families[name[0]]
            _add(rows, bank, result, key, questions[name])
            rows["probability"].append(None if laws is None else _law(laws[name], result)[key.truth])
    return _table(rows)


_TEXTS = ("model", "domain", "shape", "condition", "family", "ring", "state")
_COLUMNS = (*_TEXTS, "truth_rank", "display_position", "draw", "correct", "valid", "strength")
_QuestionName = tuple[str, str]
"""Family id and ring."""


def _laws(bank: AnsweredBank, path: Path, names: list[_QuestionName]) -> dict[_QuestionName, Mapping[str, Any]]:
    """Read the law of every question, in the order in which the plan asks them."""
    header, plan_header = _header(path), _header(bank.plan)
    digest = hashlib.sha256(bank.plan.read_bytes()).hexdigest()
    if header.get("bank") != digest:
        raise IntegrityError(
            f"'{path}' holds no laws of '{bank.plan}' (SHA-256 {digest}); answer it with engine 'exact'"
        )
    found = {
        names[fields["case"] // plan_header["draw_count"]]: fields
        for fields in _lines(path, "case")
        if "guided" in fields
    }
    if len(found) < len(names):
        raise IntegrityError(f"'{path}' holds laws of {len(found)} of {len(names)} questions; answer it to its end")
    return found


def _law(fields: Mapping[str, Any], result: Mapping[str, Any]) -> list[float]:
    """Return the probability of each answer in the mode that a result was drawn in; unforced, they sum to below one."""
    if result["mode"] in {"exact-guided", "sampled-guided"}:
        return list(fields["guided"])
    unforced = [math.exp(value) for value in fields["unconstrained"]]
    if result["mode"] == "sampled-free":  # a malformed answer is wrong, and takes its share
        return unforced
    return [value / math.fsum(unforced) for value in unforced]


def _add(
    rows: dict[str, list[Any]], bank: AnsweredBank, result: Mapping[str, Any], key: FamilyKey, answers: list[str]
) -> None:
    # Strings are compared, as the server does; a malformed answer is never repaired.
    choice = answers.index(result["text"]) if result["text"] in answers else None
    values = (
        bank.model,
        key.domain.value,
        key.shape,
        key.condition.value,
        result["family_id"],
        result["ring"],
        bank.state.value,
        key.truth_rank,
        key.truth,
        int(result["draw"]),
        int(choice == key.truth),
        int(choice is not None),
        0.0 if bank.state is ModelState.BASE else bank.strength,
    )
    for name, value in zip(_COLUMNS, values, strict=True):
        rows[name].append(value)


def _table(rows: Mapping[str, list[Any]]) -> ResultTable:
    if not rows["correct"]:
        raise InvalidRequestError("banks hold no result; answer them first")
    has_ranks = None not in rows["truth_rank"]
    has_laws = None not in rows["probability"]

    def texts(name: str) -> LabelColumn:
        return LabelColumn.of_texts(name, rows[name])

    def whole(name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array(rows[name], np.int64)

    return ResultTable(
        model=texts("model"),
        domain=texts("domain"),
        shape=texts("shape"),
        condition=texts("condition"),
        family=texts("family"),
        ring=texts("ring"),
        state=texts("state"),
        display_position=whole("display_position"),
        correct=whole("correct"),
        valid=whole("valid"),
        draw_count=np.ones(len(rows["correct"]), np.int64),
        truth_rank=whole("truth_rank") if has_ranks else None,
        draw=whole("draw"),
        strength=np.array(rows["strength"], np.float64),
        probability=np.array(rows["probability"], np.float64) if has_laws else None,
    )


def _header(path: Path) -> Mapping[str, Any]:
    return next(_parsed(path))[1]


def _lines(path: Path, *required: str) -> Iterator[Mapping[str, Any]]:
    """Read the lines of a file behind its header."""
    for number, fields in islice(_parsed(path), 1, None):
        for name in required:
            if name not in fields:
                raise IntegrityError(f"line {number} of '{path}' has no {name}; answer the bank again")
        yield fields


def _parsed(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as opened:
            for number, line in enumerate(opened, 1):
                yield number, dict(parse_json(line))
    except FileNotFoundError as error:
        raise NotFoundError(f"'{path}' does not exist; answer the bank first") from error
    except (ValueError, TypeError) as error:
        raise IntegrityError(f"'{path}' cannot be read: {error}; answer the bank again") from error
