"""What is wrong with a family's programs whichever candidate is right: found without regard to the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from leakscale.models import Ring
from leakscale_server.core.building.expected import Outputs
from leakscale_server.core.judging.endings import name_ending, name_endings
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.sandbox_pool import Execution, JobResult, Verdict

__all__ = [
    "cells",
    "find_difference",
    "find_failure",
    "find_instability",
    "find_mutation",
    "find_rewording",
    "find_unexpected",
    "is_equal",
]

Rings = Mapping[Ring, JobResult]
"""Executions of each ring as `[program][fixture]`, programs in display order."""


def cells(executions: JobResult) -> Iterator[tuple[int, int, Execution]]:
    """Yield display position, fixture index and execution of every program on every fixture."""
    for position, program in enumerate(executions):
        for index, execution in enumerate(program):
            yield position, index, execution


def is_equal(one: Execution, other: Execution) -> bool:
    """Return whether two programs returned the same; one that did not return equals none."""
    return one.verdict is other.verdict is Verdict.RETURNED and one.output == other.output


def find_instability(rings: Rings) -> Rejection | None:
    """Find a verdict that depends on the machine's load, or the death of a program."""
    for ring, executions in rings.items():
        for position, index, execution in cells(executions):
            if not execution.verdict.is_deterministic:
                is_killed = execution.verdict is Verdict.KILLED
                return Rejection(
                    RejectionReason.PROGRAM_KILLED if is_killed else RejectionReason.UNSTABLE,
                    ring,
                    candidate_position=position,
                    fixture_index=index,
                    endings=name_ending(execution),
                )
    return None


def find_failure(rings: Rings) -> Rejection | None:
    """Find a ring in which no program ever returns; what gave a value and more is for the other rules."""
    for ring, executions in rings.items():
        verdicts = {execution.verdict for _, _, execution in cells(executions)}
        if not verdicts & {Verdict.RETURNED, Verdict.ORDER_DEPENDENT, Verdict.ARGUMENT_CHANGED}:
            endings = name_endings(execution for _, _, execution in cells(executions))
            return Rejection(RejectionReason.PROGRAM_FAILED, ring, endings=endings)
    return None


def find_mutation(rings: Rings) -> Rejection | None:
    """Find a program that changed its argument: what it returns may hang on how often it was called with it."""
    for ring, executions in rings.items():
        for position, index, execution in cells(executions):
            if execution.verdict is Verdict.ARGUMENT_CHANGED:
                return Rejection(
                    RejectionReason.ARGUMENT_CHANGED, ring, candidate_position=position, fixture_index=index
                )
    return None


def find_difference(first: Rings, second: Rings) -> Rejection | None:
    """Find a result that the second pass does not repeat."""
    return next(
        (
            Rejection(RejectionReason.NONDETERMINISTIC, ring, candidate_position=position, fixture_index=index)
            for ring, executions in first.items()
            for position, index in _changed(executions, second[ring])
        ),
        None,
    )


def find_unexpected(rings: Rings, outputs: Mapping[Ring, Outputs]) -> Rejection | None:
    """Find a program that does not return what its author says, of all candidates in the order of their display."""
    for ring, expected in outputs.items():
        for position, index, execution in cells(rings[ring]):
            if execution.verdict is not Verdict.RETURNED or execution.output != expected[position][index]:
                return Rejection(RejectionReason.OUTPUT_DIFFERS, ring, candidate_position=position, fixture_index=index)
    return None


def find_rewording(rings: Rings) -> Rejection | None:
    """Find a program of R1 that does not return, byte for byte, what that of R0 returns."""
    for position, index in _changed(rings[Ring.R0], rings[Ring.R1]):
        return Rejection(RejectionReason.REWORDING_DIFFERS, Ring.R1, candidate_position=position, fixture_index=index)
    return None


def _changed(executions: JobResult, others: JobResult) -> Iterator[tuple[int, int]]:
    """Yield display position and fixture index wherever verdict or output differ."""
    for (position, index, one), (_, _, other) in zip(cells(executions), cells(others), strict=True):
        if (one.verdict, one.output) != (other.verdict, other.output):
            yield position, index
