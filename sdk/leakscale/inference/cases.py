"""A frozen bank: every question with its token ids and every seed, fixed in a file before the first answer.

A bank asks each question (a family in one ring) `draw_count` times; a case is one of these draws. The file holds one
line a question, and cases are counted, not stored: a bank of 262,144 cases costs the memory of an index of its
questions.

Source: LeakScale F.1 (frozen cases), F.2 (deterministic seeds).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.inference.lines import check_stamp, has_stamp, json_line, stamp_of, stamped_line
from leakscale.models import Domain, Family, Message, Ring
from leakscale.reading import fault_of, parse_json
from leakscale.seeds import draw_seeds

__all__ = ["BANK_FORMAT", "PLAN_MEND", "Case", "FrozenBank", "Question", "families_digest", "plan_lines"]

BANK_FORMAT: Final = "leakscale-bank-v2"
PLAN_MEND: Final = (
    "it was changed since it was frozen: restore the file, or delete it with the answers beside it, and freeze the "
    "bank again"
)
"""What to do about a damaged plan."""


@dataclass(frozen=True, slots=True)
class Question:
    """One family in one ring, as a model is asked it."""

    index: int
    """0-based place in its bank, where questions are sorted by family id and ring."""
    family_id: str
    domain: Domain
    ring: Ring
    prompt: tuple[Message, ...]
    """For engines that render the chat themselves."""
    prompt_ids: tuple[int, ...]
    """The prompt under the model's chat template, exactly as training renders it."""
    answers: tuple[str, ...]
    """The four exact answer strings, in display order."""
    answer_ids: tuple[tuple[int, ...], ...]
    """Token ids of each answer, with the end-of-turn token."""
    shared_length: int = 0
    """Tokens that the prompt begins with whatever it asks, e.g. the system turn; below its length."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema that admits the four answers and nothing else.

        Source: LeakScale B.2. JSON schema says nothing about whitespace, so an answer may satisfy it and still be none
        of the four strings; such an answer is malformed.
        """
        return {
            "type": "object",
            "properties": {"choice": {"enum": [parse_json(answer)["choice"] for answer in self.answers]}},
            "required": ["choice"],
            "additionalProperties": False,
        }

    @property
    def prompt_digest(self) -> str:
        """Hex SHA-256 of the prompt's token ids."""
        return hashlib.sha256(json.dumps(self.prompt_ids, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Case:
    """One draw of one question."""

    index: int
    """0-based place in its bank: question index times draws a question, plus draw."""
    question: Question
    draw: int
    """0-based sample index."""
    seed: bytes
    """32 bytes; all the randomness that its answer may have."""
    tier: int = 0
    """Length tier to begin with; above 0 only where an earlier attempt already made the transition."""


class FrozenBank:
    """A bank on disk; `leakscale.inference.freeze_bank` makes one.

    Reading is by position, so an open bank may be shared by threads. It pickles as its path.
    """

    def __init__(self, path: Path) -> None:
        """Open a frozen bank and hash it.

        Raises:
            NotFoundError: If there is no such file.
            IntegrityError: If it is no frozen bank, not whole, or a line is not as it was frozen.
        """
        self.path = path
        try:
            self._file = os.open(path, os.O_RDONLY)
        except FileNotFoundError as error:
            raise NotFoundError(f"bank '{path}' does not exist; freeze it first") from error
        header = _header(path)
        self._offsets, self.digest = _index(path)
        self.bank_seed = int(header["bank_seed"])
        self.draw_count = int(header["draw_count"])
        self.tokenizer: str = header["tokenizer"]
        """Hex SHA-256 of the tokenizer whose ids the questions are in."""
        self.template: str = header["template"]
        """Hex SHA-256 of the chat template."""
        self.families: str = header["families"]
        """Hex SHA-256 over the public families."""
        self.question_count = int(header["question_count"])
        if len(self._offsets) != self.question_count + 2:
            raise IntegrityError(
                f"bank '{path}' has {len(self._offsets) - 2} of {self.question_count} questions; {PLAN_MEND}"
            )
        self.question = lru_cache(maxsize=16)(self._read_question)
        """The question of a 0-based index; the last few are kept."""
        self._seeds = lru_cache(maxsize=16)(self._read_seeds)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def __reduce__(self) -> tuple[type[FrozenBank], tuple[Path]]:
        return FrozenBank, (self.path,)

    @property
    def case_count(self) -> int:
        """Questions times draws."""
        return self.question_count * self.draw_count

    def questions(self) -> Iterator[Question]:
        """Read every question, one at a time."""
        return map(self.question, range(self.question_count))

    def case(self, index: int, *, tier: int = 0) -> Case:
        """Return one case."""
        place, draw = divmod(index, self.draw_count)
        return Case(index, self.question(place), draw, self._seeds(place)(draw), tier)

    def cases(self, indices: Iterable[int] | None = None) -> Iterator[Case]:
        """Return cases one at a time; all of them by default."""
        return map(self.case, range(self.case_count) if indices is None else indices)

    def _read_seeds(self, index: int) -> Callable[[int], bytes]:
        question = self.question(index)
        return draw_seeds(self.bank_seed, family_id=question.family_id, domain=question.domain, ring=question.ring)

    def _read_question(self, index: int) -> Question:
        if not 0 <= index < self.question_count:
            raise InvalidRequestError(f"question {index} is not in bank '{self.path}' of {self.question_count}")
        fields = parse_json(self._line(index + 1))
        return Question(
            index=index,
            family_id=fields["family_id"],
            domain=Domain(fields["domain"]),
            ring=Ring(fields["ring"]),
            prompt=tuple(Message(role, content) for role, content in fields["prompt"]),
            prompt_ids=tuple(fields["prompt_ids"]),
            answers=tuple(fields["answers"]),
            answer_ids=tuple(tuple(ids) for ids in fields["answer_ids"]),
            shared_length=fields["shared_length"],
        )

    def _line(self, number: int) -> bytes:
        start, stop = self._offsets[number], self._offsets[number + 1]
        return os.pread(self._file, stop - start, start)


def plan_lines(header: Mapping[str, Any], questions: Iterable[Question]) -> Iterator[bytes]:
    """Write a bank line by line; each is stamped, with the line before it."""
    line = stamped_line(header)
    yield line
    for question in questions:
        line = stamped_line(_fields(question), after=stamp_of(line))
        yield line


def families_digest(ordered: Sequence[Family]) -> str:
    """Return the hex SHA-256 of the public families of a bank, sorted by family id and ring."""
    state = hashlib.sha256()
    for family in ordered:
        state.update(json_line(dataclasses.asdict(family)))
    return state.hexdigest()


def _fields(question: Question) -> dict[str, Any]:
    return {
        "family_id": question.family_id,
        "domain": question.domain.value,
        "ring": question.ring.value,
        "prompt": [[turn.role, turn.content] for turn in question.prompt],
        "prompt_ids": question.prompt_ids,
        "answers": question.answers,
        "answer_ids": question.answer_ids,
        "shared_length": question.shared_length,
    }


def _header(path: Path) -> dict[str, Any]:
    with path.open("rb") as opened:
        line = opened.readline()
    if has_stamp(line):
        check_stamp(path, line, 1, mend=PLAN_MEND)
    try:
        header = parse_json(line)
        if header["format"] != BANK_FORMAT:
            raise ValueError(f"its format is {header['format']}, not {BANK_FORMAT}")
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"'{path}' is no frozen bank ({fault_of(error)}); delete it and freeze it again"
        ) from error
    return dict(header)


def _index(path: Path) -> tuple[array[int], str]:
    """Check every line; return where each begins, with the end of the last one after them, and the file's SHA-256."""
    offsets, state, before = array("Q", [0]), hashlib.sha256(), ""
    with path.open("rb") as opened:
        for number, line in enumerate(opened, start=1):
            check_stamp(path, line, number, mend=PLAN_MEND, after=before)
            state.update(line)
            offsets.append(offsets[-1] + len(line))
            before = stamp_of(line)
    return offsets, state.hexdigest()
