"""Run programs that can see chance in more kinds of lanes, once two passes have agreed on a family.

Between two hash seeds half of all sets of two texts keep their order, so two passes catch such a program every other
time. In eleven further kinds of lanes hash seed and heap are others each time; what gives the same bytes in all of them
hangs on none, but for one set of two texts in some 1,700. Fixtures come in another order in each, which no program can
know: what one keeps from call to call may look the same forwards and backwards.

Only programs that `can_see_chance` are run, of families that are accepted otherwise, so an honest family costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from leakscale.models import Domain, Ring
from leakscale_server.core.building.construction import Construction
from leakscale_server.core.judging.chance import can_see_chance
from leakscale_server.core.judging.faults import find_difference, find_instability
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.sandbox_pool import CHANCE_LANES, JobResult

__all__ = ["Pass", "RunPrograms", "find_chance"]

_SIDE_BY_SIDE: Final = 4
"""Lanes asked at a time: most of what differs at all differs in one of the first, and each takes a while to start."""

Pass: TypeAlias = Mapping[Ring, JobResult]
"""Executions of each ring as `[program][fixture]`, programs in display order."""
RunPrograms: TypeAlias = Callable[[Ring, tuple[str, ...], int], JobResult]
"""Runs programs on the fixtures of a ring in a lane."""


def find_chance(construction: Construction, first: Pass, run: RunPrograms) -> tuple[Rejection, Pass] | None:
    """Look for a program that gives other bytes in another kind of lane.

    Args:
        construction: The family.
        first: Its first pass.
        run: How to run programs.

    Returns:
        What is wrong and the pass that shows it, or None.

    Raises:
        SandboxFault: If a sandbox failed after its retries. That is no verdict on the family.
    """
    suspects = _find_suspects(construction)
    if not suspects:
        return None

    def run_in(lane: int) -> Pass:
        return {
            ring: _replaced(first[ring], run(ring, tuple(programs.values()), lane), programs)
            for ring, programs in suspects.items()
        }

    with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="chance") as threads:
        for begin in range(0, len(CHANCE_LANES), _SIDE_BY_SIDE):
            for rings in threads.map(run_in, CHANCE_LANES[begin : begin + _SIDE_BY_SIDE]):
                other: Pass = {**first, **rings}
                fault = find_instability(other) or find_difference(first, other)
                if fault is not None:
                    return fault, other
    return None


def _find_suspects(construction: Construction) -> dict[Ring, dict[int, str]]:
    """Return the programs that can see chance by display position, in each ring that has one."""
    found = {
        form.public.ring: {
            position: program for position, program in enumerate(form.programs) if can_see_chance(program)
        }
        for form in construction.forms
        if form.public.domain is Domain.PYTHON
    }
    return {ring: programs for ring, programs in found.items() if programs}


def _replaced(executions: JobResult, results: JobResult, places: Iterable[int]) -> JobResult:
    """Return executions of a ring with those at some display positions replaced."""
    changed = list(executions)
    for place, result in zip(places, results, strict=True):
        changed[place] = result
    return tuple(changed)
