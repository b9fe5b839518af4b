"""The files of an answered bank, and what ties them together.

    <bank>.plan.jsonl       the frozen bank
    <bank>.attempts.jsonl   every attempt, in the order in which it ended
    <bank>.results.jsonl    one result a case, in case order; a function of the two above
    <bank>.binding.json     SHA-256 of the three, written when every case has its result

Source: LeakScale E.7 (digests that bind each result stream to its append-only attempt stream).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.inference.attempts import Attempt, Mode, read_attempts
from leakscale.inference.cases import FrozenBank
from leakscale.inference.chain import AttemptChain
from leakscale.inference.journal import file_digest, json_line, read_header, read_lines
from leakscale.inference.results import TerminalResult, read_results
from leakscale.models import Answer
from leakscale.whole_files import replacing

__all__ = ["ATTEMPTS_FORMAT", "RESULTS_FORMAT", "BankFiles", "Binding", "bind", "replay", "verify_bank"]

ATTEMPTS_FORMAT: Final = "leakscale-attempts-v1"
RESULTS_FORMAT: Final = "leakscale-results-v1"
_BINDING_FORMAT: Final = "leakscale-binding-v1"


@dataclass(frozen=True, slots=True)
class BankFiles:
    """Where the files of an answered bank are."""

    plan: Path
    attempts: Path
    results: Path
    binding: Path

    @classmethod
    def of(cls, stem: Path) -> BankFiles:
        """Name the four files after a stem, e.g. `banks/sql-base`."""
        return cls(
            *(
                stem.with_name(f"{stem.name}.{suffix}")
                for suffix in ("plan.jsonl", "attempts.jsonl", "results.jsonl", "binding.json")
            )
        )

    def read_results(self) -> Iterator[TerminalResult]:
        """Read the results, one at a time, in case order."""
        return read_results(self.results)

    def read_attempts(self) -> Iterator[Attempt]:
        """Read the attempts, one at a time, in the order in which they ended."""
        return read_attempts(self.attempts)

    def read_answers(self) -> Iterator[Answer]:
        """Read the results as answers to submit."""
        return (Answer(result.family_id, result.draw, result.text) for result in self.read_results())


@dataclass(frozen=True, slots=True)
class Binding:
    """What ties a complete result stream to its attempt stream and both to the frozen bank; hex SHA-256 of each."""

    plan: str
    attempts: str
    results: str
    case_count: int
    attempt_count: int
    first_case: int = 0
    """Above 0 in a shard."""


def replay(chain: AttemptChain, attempts: Path, results: Path) -> Iterator[TerminalResult]:
    """Follow the attempts on disk; return the results that follow from them and are not on disk yet.

    Raises:
        IntegrityError: If the attempts follow no rule, or a result on disk does not follow from them.
    """
    written = read_results(results)
    for attempt in read_attempts(attempts):
        for result in chain.add(attempt):
            found = next(written, None)
            if found is None:
                yield result
            elif found != result:
                raise _unfounded(results, found.case)
    extra = next(written, None)
    if extra is not None:
        raise _unfounded(results, extra.case)


def bind(bank: FrozenBank, files: BankFiles, asked: range) -> Binding:
    """Write the binding of a bank whose every case has its result, durably."""
    binding = _binding(bank, files, asked)
    with replacing(files.binding) as opened:
        opened.write(json_line({"format": _BINDING_FORMAT, **asdict(binding)}))
    return binding


def verify_bank(files: BankFiles) -> Binding:
    """Derive the results of an answered bank again from its attempts, and compare every digest.

    Does not show that a model gave these answers, only that nothing was changed, left out or asked again since.

    Raises:
        NotFoundError: If a file is missing.
        IntegrityError: If anything differs; the message names the first thing that does.
    """
    bank = FrozenBank(files.plan)
    try:
        stored = json.loads(files.binding.read_text(encoding="utf-8"))
        found = Binding(**{name: value for name, value in stored.items() if name != "format"})
    except FileNotFoundError as error:
        raise NotFoundError(f"bank '{files.plan}' has no binding; answer it to its end first") from error
    except (ValueError, TypeError) as error:
        raise IntegrityError(f"'{files.binding}' is no binding: {error}; answer the bank again to write it") from error
    head = read_header(files.attempts)
    if head["bank"] != bank.digest or {**head, "format": RESULTS_FORMAT} != read_header(files.results):
        raise IntegrityError(f"'{files.attempts}' and '{files.results}' are not of bank '{files.plan}'")
    asked = range(found.first_case, found.first_case + found.case_count)
    wanted = _binding(bank, files, asked)
    differing = [name for name, value in asdict(wanted).items() if value != getattr(found, name)]
    if differing:
        raise IntegrityError(f"'{files.binding}' does not match the {', '.join(differing)} beside it")
    chain = AttemptChain(bank, Mode(head["mode"]), asked)
    if next(replay(chain, files.attempts, files.results), None) is not None or not chain.is_complete:
        raise IntegrityError(f"'{files.results}' is not complete; answer the bank again, it goes on")
    return found


def _binding(bank: FrozenBank, files: BankFiles, asked: range) -> Binding:
    return Binding(
        plan=bank.digest,
        attempts=file_digest(files.attempts),
        results=file_digest(files.results),
        case_count=len(asked),
        attempt_count=sum(1 for _ in read_lines(files.attempts)),
        first_case=asked.start,
    )


def _unfounded(path: Path, case: int) -> IntegrityError:
    return IntegrityError(
        f"'{path}' has a result of case {case} that does not follow from the attempts; delete it and answer again"
    )
