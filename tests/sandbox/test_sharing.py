"""SQL programs that share a process must give what they give in processes of their own."""

from __future__ import annotations

import dataclasses

import pytest

from leakscale_server.sandbox_pool import Execution, Job, Limits, SandboxPool, Verdict

from .helpers import an_sql_job

HONEST = "SELECT id, name FROM t ORDER BY id"
TOO_MUCH_WORK = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
LIMITS = Limits(wall_time_s_max=5.0, cpu_time_s_max=2, work_steps_max=2_000_000)


def a_hungry_program() -> str:
    """Sort more text than SQLite's heap may hold."""
    text = "'" + "x" * 30_000 + "'"
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
    return f"{numbers} SELECT count(*) FROM (SELECT i, {text} || i AS s FROM n ORDER BY s DESC LIMIT 4000)"


def a_large_program(letter: str) -> str:
    """Give 200 KiB: six of them are more than one frame holds."""
    return f"SELECT replace('{'z' * 2000}', 'z', '{letter * 100}') AS s"


def apart(pool: SandboxPool, job: Job) -> tuple[tuple[Execution, ...], ...]:
    return tuple(pool.run(dataclasses.replace(job, programs=(program,)), lane=0)[0] for program in job.programs)


@pytest.mark.parametrize(
    ("odd_one", "verdict"),
    [
        ("SELECT nothing FROM t", Verdict.EXCEPTION),
        ("ATTACH 'x' AS y", Verdict.EXCEPTION),
        (TOO_MUCH_WORK, Verdict.WORK_BUDGET),
        (a_hungry_program(), Verdict.MEMORY_LIMIT),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n",
         Verdict.OUTPUT_LIMIT),
    ],
    ids=["no such column", "refused", "work", "memory", "rows"],
)  # fmt: skip
def test_a_program_in_trouble_changes_nothing_for_its_neighbours(
    pool: SandboxPool, odd_one: str, verdict: Verdict
) -> None:
    """A candidate that fails because another one was greedy would be certified as wrong."""
    job = an_sql_job(HONEST, odd_one, HONEST, limits=LIMITS)

    together = pool.run(job, lane=0)

    assert [executions[0].verdict for executions in together] == [Verdict.RETURNED, verdict, Verdict.RETURNED]
    assert together == apart(pool, job)
    assert together[0] == together[2]


def test_programs_that_are_slow_together_each_have_their_time(pool: SandboxPool) -> None:
    """The CPU limit is a program's: what all of them take together must not end any."""
    limits = Limits(cpu_time_s_max=1, work_steps_max=2_000_000)
    alone = pool.run(an_sql_job(TOO_MUCH_WORK, limits=limits), lane=0)[0][0]
    count = min(64, 1 + int(2 / alone.cpu_time_s))

    together = pool.run(an_sql_job(*[TOO_MUCH_WORK] * count, limits=limits), lane=0)

    assert sum(executions[0].cpu_time_s for executions in together) > limits.cpu_time_s_max
    assert {executions[0].verdict for executions in together} == {Verdict.WORK_BUDGET}


def test_results_too_large_for_one_frame_come_in_several(pool: SandboxPool) -> None:
    """What fits when a program runs alone must not be cut because five others are as large."""
    job = an_sql_job(*map(a_large_program, "abcdef"))

    together = pool.run(job, lane=0)

    assert {executions[0].verdict for executions in together} == {Verdict.RETURNED}
    assert together == apart(pool, job)


def test_programs_of_one_process_carry_its_times(pool: SandboxPool) -> None:
    """A reader of times must not add up what is one measurement."""
    together = pool.run(an_sql_job(HONEST, HONEST), lane=0)

    assert together[0][0].cpu_time_s == together[1][0].cpu_time_s
    assert together[0][0].wall_time_s == together[1][0].wall_time_s
