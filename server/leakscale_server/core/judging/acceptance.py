"""Whether a family may be certified: the acceptance rule over two passes of executions in three rings.

Source: LeakScale C.1: the registered candidate is fully correct, every alternative fails at least a quarter of the
hidden fixtures. Added to it: both passes agree byte for byte, no verdict depends on the machine's load, the reference
does not answer every fixture alike, no program changes its argument, R1 returns what R0 returns, and renaming changes
nothing but names. What is found without running a program is in `core/checks/family_rules`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from leakscale.models import Ring
from leakscale_server.core.building.expected import Outputs
from leakscale_server.core.judging.endings import name_endings
from leakscale_server.core.judging.faults import (
    cells,
    find_difference,
    find_failure,
    find_instability,
    find_mutation,
    find_rewording,
    find_unexpected,
    is_equal,
)
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.judging.renaming import find_other_result, find_renaming
from leakscale_server.sandbox_pool import JobResult, Verdict

__all__ = ["Accepted", "Scoring", "Utility", "assess"]


@dataclass(frozen=True, slots=True)
class Scoring:
    """One pass over a family."""

    rings: Mapping[Ring, JobResult]
    """Executions of R0, R1 and R2 as `[program][fixture]`, programs in display order."""
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
    """In display order, the same in every ring."""


def assess(
    first: Scoring,
    second: Scoring,
    *,
    outputs: Mapping[Ring, Outputs] | None = None,
    names: Mapping[str, str] | None = None,
) -> Accepted | Rejection:
    """Apply the acceptance rule to two passes over one family, run on different lanes.

    Args:
        first: The pass whose reference outputs become the expected ones.
        second: The pass that must repeat it.
        outputs: What programs must return, where the author says so.
        names: The name in R2 of each name in R0; without them, only who agrees with whom is compared between the two.

    Raises:
        ValueError: If the two passes are not over the same rings, programs and fixtures. That is our fault, not the
            family's.
    """
    _require_same_form(first, second)
    fault = (
        find_instability(first.rings)
        or find_instability(second.rings)
        or find_failure(first.rings)
        or find_mutation(first.rings)
        or find_difference(first.rings, second.rings)
        or find_unexpected(first.rings, outputs or {})
        or find_rewording(first.rings)
        or find_renaming(first.rings)
        or (find_other_result(first.rings, names) if names is not None else None)
    )
    if fault is not None:
        return fault
    # What holds for R0 now holds for the others, but for a constant output: two names may make one of two.
    for ring in (Ring.R0, Ring.R2):
        fault = _reference_fault(first.rings[ring], first.truth, ring)
        if fault is not None:
            return fault
    return _weigh(first.rings[Ring.R0], first.truth)


def _require_same_form(first: Scoring, second: Scoring) -> None:
    def form(scoring: Scoring) -> dict[Ring, list[int]]:
        return {ring: [len(program) for program in executions] for ring, executions in scoring.rings.items()}

    sizes = {size for lengths in form(first).values() for size in lengths}
    if form(first) != form(second) or set(form(first)) != set(Ring) or len(sizes) != 1 or first.truth != second.truth:
        raise ValueError("two passes of one family have the same rings, programs, fixtures and truth")


def _reference_fault(executions: JobResult, truth: int, ring: Ring) -> Rejection | None:
    reference = executions[truth]
    if any(execution.verdict is not Verdict.RETURNED for execution in reference):
        # Of all candidates: how the correct one ended would say which one it is.
        endings = name_endings(execution for _, _, execution in cells(executions))
        return Rejection(RejectionReason.REFERENCE_FAILED, ring, fixture_count=len(reference), endings=endings)
    if len({execution.output for execution in reference}) == 1:
        return Rejection(RejectionReason.DEGENERATE, ring, fixture_count=len(reference))
    return None


def _weigh(executions: JobResult, truth: int) -> Accepted | Rejection:
    fixture_count = len(executions[truth])
    counts = [_equal_count(executions, position, truth) for position in range(len(executions))]
    equal_count_max = fixture_count - -(-fixture_count // 4)
    if all(count <= equal_count_max for position, count in enumerate(counts) if position != truth):
        return Accepted(tuple(Utility(count, fixture_count) for count in counts))
    return _closest_pair(executions, fixture_count=fixture_count, equal_count_max=equal_count_max)


def _closest_pair(executions: JobResult, *, fixture_count: int, equal_count_max: int) -> Rejection:
    """Name the two candidates that are hardest to tell apart, of all pairs, whether or not the correct one is in it."""
    pairs = itertools.combinations(range(len(executions)), 2)
    one, other = max(pairs, key=lambda pair: _equal_count(executions, *pair))
    equal_count = _equal_count(executions, one, other)
    return Rejection(
        RejectionReason.PERFECT_COUNT if equal_count == fixture_count else RejectionReason.WEAK_ALTERNATIVE,
        candidate_position=one,
        other_position=other,
        fixture_count=fixture_count,
        equal_count=equal_count,
        equal_count_max=equal_count_max,
    )


def _equal_count(executions: JobResult, one: int, other: int) -> int:
    """Count the fixtures on which two candidates return the same; no error matches an empty result."""
    return sum(itertools.starmap(is_equal, zip(executions[one], executions[other], strict=True)))
