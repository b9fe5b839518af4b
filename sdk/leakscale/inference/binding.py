"""The files of an answered bank, and what ties them together.

    <bank>.plan.jsonl       the frozen bank
    <bank>.attempts.jsonl   every attempt, in the order in which it ended
    <bank>.results.jsonl    one result a case, in case order; a function of the two above
    <bank>.binding.json     SHA-256 of the three, written when every case has its result

Source: LeakScale E.7 (digests that bind each result stream to its append-only attempt stream).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.inference.attempts import ATTEMPTS_MEND, Attempt, Mode, read_attempts
from leakscale.inference.cases import FrozenBank
from leakscale.inference.chain import AttemptChain
from leakscale.inference.lines import damage, file_digest, json_line, read_header
from leakscale.inference.results import RESULTS_MEND, TerminalResult, read_results
from leakscale.inference.validity import valid_count
from leakscale.models import Answer
from leakscale.reading import fault_of, parse_json
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
    valid_count: int
    """Cases whose answer is one of their question's four strings; the others count as wrong."""
    first_case: int = 0
    """Above 0 in a shard."""

    @property
    def validity(self) -> str:
        """Say in words how many answers are valid."""
        return f"{self.valid_count:,} of {self.case_count:,} answers valid"


def replay(chain: AttemptChain, attempts: Path, results: Path) -> Iterator[TerminalResult]:
    """Follow the attempts on disk; return the results that follow from them and are not on disk yet.

    Raises:
        IntegrityError: If the attempts follow no rule, or a result on disk does not follow from them.
    """
    written = enumerate(read_results(results), start=2)
    for number, attempt in enumerate(read_attempts(attempts), start=2):
        try:
            due = chain.add(attempt)
        except IntegrityError as error:
            raise damage(attempts, number, f"breaks a rule: {error}", mend=ATTEMPTS_MEND) from error
        for result in due:
            place, found = next(written, (0, None))
            if found is None:
                yield result
            elif found != result:
                raise _unfounded(results, place, found, result)
    for place, extra in written:
        raise _unfounded(results, place, extra, None)


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
    bank, bound = FrozenBank(files.plan), _read_binding(files)
    head = read_header(files.attempts, mend=ATTEMPTS_MEND)
    _check_plan(
        bank,
        {
            files.attempts: head["bank"],
            files.results: read_header(files.results, mend=RESULTS_MEND)["bank"],
            files.binding: bound.plan,
        },
    )
    asked = range(head["first_case"], head["first_case"] + head["case_count"])
    chain = AttemptChain(bank, Mode(head["mode"]), asked)
    if next(replay(chain, files.attempts, files.results), None) is not None or not chain.is_complete:
        raise IntegrityError(f"'{files.results}' is not complete; answer the bank again, it goes on")
    own, stated = asdict(_binding(bank, files, asked)), asdict(bound)
    differing = sorted(name for name in own if own[name] != stated[name])
    if differing:
        raise IntegrityError(
            f"'{files.binding}' names another {', '.join(differing)} than the files beside it, which agree with each "
            "other; if nobody changed them, delete it and answer the bank again: it is written anew, nothing is asked"
        )
    return bound


def _read_binding(files: BankFiles) -> Binding:
    try:
        stored = parse_json(files.binding.read_text(encoding="utf-8"))
        return Binding(**{name: value for name, value in stored.items() if name != "format"})
    except FileNotFoundError as error:
        raise NotFoundError(f"bank '{files.plan}' has no binding; answer it to its end first") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise IntegrityError(
            f"'{files.binding}' is no binding: {fault_of(error)}; delete it and answer the bank again: nothing is asked"
        ) from error


def _check_plan(bank: FrozenBank, named: Mapping[Path, str]) -> None:
    """Compare the plan with what each file says about it, and blame the one that stands alone.

    Raises:
        IntegrityError: If one says otherwise.
    """
    others = {path: digest for path, digest in named.items() if digest != bank.digest}
    if len(others) == len(named):
        raise IntegrityError(
            f"bank '{bank.path}' has SHA-256 {bank.digest}, and its answers were given to "
            f"{next(iter(others.values()))}; restore the plan that was answered"
        )
    for path, digest in others.items():
        raise IntegrityError(
            f"'{path}' belongs to the bank with SHA-256 {digest}, and '{bank.path}' has {bank.digest}; put back the "
            "file that was written with this bank"
        )


def _binding(bank: FrozenBank, files: BankFiles, asked: range) -> Binding:
    attempt_count = valid = 0
    for attempt in read_attempts(files.attempts):
        attempt_count += 1
        valid += valid_count(bank, attempt)
    return Binding(
        plan=bank.digest,
        attempts=file_digest(files.attempts),
        results=file_digest(files.results),
        case_count=len(asked),
        attempt_count=attempt_count,
        valid_count=valid,
        first_case=asked.start,
    )


def _unfounded(path: Path, number: int, result: TerminalResult, expected: TerminalResult | None) -> IntegrityError:
    what = f"has a result of case {result.case} that does not follow from the attempts"
    if expected is not None:
        found, due = result.to_json(), expected.to_json()
        name = next(name for name in due if found[name] != due[name])
        what += f": {name} is {json.dumps(found[name])}, expected {json.dumps(due[name])}"
    return damage(path, number, what, mend=RESULTS_MEND)
