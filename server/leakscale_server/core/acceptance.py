"""Whether a family may be certified: the acceptance rule over two passes of executions.

Source: LeakScale C.1: the registered candidate is fully correct, every alternative fails at least a quarter of the
hidden fixtures. Added to it: both passes agree byte for byte, no verdict depends on the machine's load, and the
reference does not answer every fixture alike.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from leakscale_server.core.endings import name_ending, name_endings
from leakscale_server.sandbox_pool import Execution, JobResult, Verdict

__all__ = [
    "Accepted",
    "Rejection",
    "RejectionReason",
    "Scoring",
    "Utility",
    "assess",
    "find_failure",
    "find_instability",
]


class RejectionReason(enum.StrEnum):
    """Which rule a family breaks; they are checked in this order."""

    UNSTABLE = "UNSTABLE"
    """A program ended in a way that depends on the machine's load."""
    PROGRAM_FAILED = "PROGRAM_FAILED"
    """No candidate's program returns on any fixture, so none can be right."""
    NONDETERMINISTIC = "NONDETERMINISTIC"
    """The two passes differ."""
    REFERENCE_FAILED = "REFERENCE_FAILED"
    """The correct candidate's program does not return on every fixture."""
    DEGENERATE = "DEGENERATE"
    """The expected output is the same on every fixture, so a constant program would be right."""
    PERFECT_COUNT = "PERFECT_COUNT"
    """Not exactly one candidate is right on every fixture."""
    WEAK_ALTERNATIVE = "WEAK_ALTERNATIVE"
    """A wrong candidate is right on more than three quarters of the fixtures."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """One pass over a family."""

    executions: JobResult
    """As `[program][fixture]`, programs in display order."""
    truth: int
    """Display index of the correct candidate."""


class Utility(NamedTuple):
    """Share of fixtures on which a candidate's output equals the expected one, exactly."""

    passed_count: int
    fixture_count: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """A family that keeps the rule. Private: the utilities say which candidate is right."""

    utilities: tuple[Utility, ...]
    """In display order."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A family that breaks the rule, with numbers that are the same whichever candidate is right.

    A place (`candidate_position`, `fixture_index`) is given only for faults that are looked for without regard to the
    truth. It does *not* hide from an author what a program of theirs was built to reveal, such as one value that
    raises: whether a family is rejected at all depends on the truth.
    """

    reason: RejectionReason
    candidate_position: int | None = None
    """0-based display index."""
    fixture_index: int | None = None
    """0-based."""
    fixture_count: int | None = None
    passed_count: int | None = None
    """Fixtures that the best wrong candidate passes."""
    passed_count_max: int | None = None
    """The most that a wrong candidate may pass."""
    perfect_count: int | None = None
    """Candidates that pass every fixture."""
    endings: str = ""
    """How programs ended that did not return: at one place, or of all candidates together, never of the correct one."""

    @property
    def figures(self) -> dict[str, int]:
        """Return the numbers by name."""
        names = ("candidate_position", "fixture_index", "fixture_count", "passed_count", "passed_count_max")
        found = {name: getattr(self, name) for name in (*names, "perfect_count")}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def message(self) -> str:
        """Say in one sentence what is wrong and what an author can do."""
        return _MESSAGES[self.reason].format(**self.figures, endings=self.endings)


_MESSAGES = {
    RejectionReason.UNSTABLE: "candidate {candidate_position} on fixture {fixture_index} ended with {endings}, which"
    " depends on load; make the program cheaper or the fixtures smaller",
    RejectionReason.PROGRAM_FAILED: "no candidate's program returns: {endings}; correct the program",
    RejectionReason.NONDETERMINISTIC: "candidate {candidate_position} gave two different results on fixture"
    " {fixture_index}; order rows and sets totally, and use neither time nor randomness",
    RejectionReason.REFERENCE_FAILED: "the correct candidate must return on all {fixture_count} fixtures; candidates"
    " end with {endings}; guard the program against the values its generators draw",
    RejectionReason.DEGENERATE: "the expected output is the same on all {fixture_count} fixtures; widen the generators"
    " or bring values nearer to the candidates",
    RejectionReason.PERFECT_COUNT: "{perfect_count} candidates pass all fixtures, and exactly 1 must; raise the"
    " distance of the candidates or near_candidates of a column",
    RejectionReason.WEAK_ALTERNATIVE: "a wrong candidate passes {passed_count} of {fixture_count} fixtures, and at most"
    " {passed_count_max} may; raise the distance of the candidates or near_candidates of a column",
}


def assess(first: Scoring, second: Scoring) -> Accepted | Rejection:
    """Apply the acceptance rule to two passes over one family, run on different lanes.

    Args:
        first: The pass whose reference outputs become the expected ones.
        second: The pass that must repeat it.

    Raises:
        ValueError: If the two passes are not over the same programs and fixtures. That is our fault, not the family's.
    """
    _require_same_form(first, second)
    reference = first.executions[first.truth]
    fixture_count = len(reference)
    fault = (
        find_instability(first.executions)
        or find_instability(second.executions)
        or find_failure(first.executions)
        or _difference(first, second)
    )
    if fault is not None:
        return fault
    if any(execution.verdict is not Verdict.RETURNED for execution in reference):
        # Of all candidates: how the correct one ended would say which one it is.
        endings = name_endings(execution for _, _, execution in _cells(first.executions))
        return Rejection(RejectionReason.REFERENCE_FAILED, fixture_count=fixture_count, endings=endings)
    if len({execution.output for execution in reference}) == 1:
        return Rejection(RejectionReason.DEGENERATE, fixture_count=fixture_count)
    utilities = tuple(_utility(program, reference) for program in first.executions)
    return _weakness(utilities) or Accepted(utilities)


def _require_same_form(first: Scoring, second: Scoring) -> None:
    forms = {len(program) for scoring in (first, second) for program in scoring.executions}
    if len(forms) != 1 or len(first.executions) != len(second.executions) or first.truth != second.truth:
        raise ValueError("two passes of one family have the same programs, fixtures and truth")


def find_instability(executions: JobResult) -> Rejection | None:
    """Return a rejection if a verdict depends on the machine's load. It is found without regard to the truth."""
    for position, index, execution in _cells(executions):
        if not execution.verdict.is_deterministic:
            return Rejection(
                RejectionReason.UNSTABLE,
                candidate_position=position,
                fixture_index=index,
                endings=name_ending(execution),
            )
    return None


def find_failure(executions: JobResult) -> Rejection | None:
    """Return a rejection if no program ever returns. It is found without regard to the truth.

    Args:
        executions: Of all candidates; what depends on the order of rows is for the comparison of two passes.
    """
    verdicts = {execution.verdict for _, _, execution in _cells(executions)}
    if verdicts & {Verdict.RETURNED, Verdict.ORDER_DEPENDENT}:
        return None
    return Rejection(
        RejectionReason.PROGRAM_FAILED, endings=name_endings(execution for _, _, execution in _cells(executions))
    )


def _cells(executions: JobResult) -> Iterator[tuple[int, int, Execution]]:
    for position, program in enumerate(executions):
        for index, execution in enumerate(program):
            yield position, index, execution


def _difference(first: Scoring, second: Scoring) -> Rejection | None:
    pairs = zip(_cells(first.executions), _cells(second.executions), strict=True)
    for (position, index, one), (_, _, other) in pairs:
        if (one.verdict, one.output) != (other.verdict, other.output):
            return Rejection(RejectionReason.NONDETERMINISTIC, candidate_position=position, fixture_index=index)
    return None


def _utility(program: tuple[Execution, ...], reference: tuple[Execution, ...]) -> Utility:
    """Count equal outputs; only a program that returned can be right, so no error matches an empty result."""
    passed = sum(
        execution.verdict is Verdict.RETURNED and execution.output == expected.output
        for execution, expected in zip(program, reference, strict=True)
    )
    return Utility(passed, len(reference))


def _weakness(utilities: tuple[Utility, ...]) -> Rejection | None:
    """Judge the counts in sorted order, so the outcome cannot depend on where the correct candidate stands."""
    fixture_count = utilities[0].fixture_count
    passed_counts = sorted((each.passed_count for each in utilities), reverse=True)
    if (perfect_count := passed_counts.count(fixture_count)) != 1:
        return Rejection(RejectionReason.PERFECT_COUNT, perfect_count=perfect_count)
    runner_up = passed_counts[1]
    passed_count_max = fixture_count - -(-fixture_count // 4)
    if runner_up > passed_count_max:
        return Rejection(
            RejectionReason.WEAK_ALTERNATIVE,
            fixture_count=fixture_count,
            passed_count=runner_up,
            passed_count_max=passed_count_max,
        )
    return None
