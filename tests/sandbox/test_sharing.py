"""SQL programs that share a process must give what they give in processes of their own."""

from __future__ import annotations

import dataclasses

import pytest

from leakscale_server.sandbox_pool import Execution, Job, Limits, SandboxPool, Verdict

from .helpers import a_database, an_sql_job

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


SCRIPTS = {
    "text key": "CREATE TABLE o (k TEXT PRIMARY KEY, g TEXT)",
    "key that no answer reads": "CREATE TABLE o (k TEXT, g TEXT, n TEXT, m TEXT, PRIMARY KEY (n, m))",
    "column named like the row number": "CREATE TABLE o (k TEXT, g TEXT, _rowid_ TEXT)",
    "no key": "CREATE TABLE o (k TEXT, g TEXT)",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT k FROM (SELECT k, row_number() OVER (PARTITION BY g) AS n FROM o) AS r WHERE n = 5 ORDER BY k",
        "SELECT g, group_concat(k) AS s FROM o GROUP BY g ORDER BY g",
        "SELECT k FROM o ORDER BY g LIMIT 3",
    ],
)
def test_an_order_left_open_is_found_wherever_rows_can_lie_elsewhere(
    pool: SandboxPool, script: str, statement: str
) -> None:
    """A key in an author's fixture must not hide that a program's answer hangs on where the rows lie."""
    rows = ", ".join(f"('k{(7 * n) % 30:02}', 'g{n % 2}')" for n in range(30))
    fixture = a_database(f"{script}; INSERT INTO o (k, g) VALUES {rows}")
    job = an_sql_job(statement, fixtures=(fixture,))

    first, second = (pool.run(job, lane=lane)[0][0] for lane in (0, 1))

    assert first.verdict is Verdict.RETURNED
    assert first != second


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE o (k TEXT, CHECK (rowid > 0))",
        "CREATE TABLE o (k TEXT, _rowid_ INTEGER)",
        "CREATE TABLE o (k TEXT, rowid TEXT, _rowid_ TEXT, oid TEXT)",
        "CREATE TABLE o (k TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE o (k TEXT); CREATE TRIGGER w BEFORE UPDATE ON o BEGIN SELECT raise(ABORT, 'no'); END",
        "CREATE TABLE o (k TEXT); CREATE TABLE l (s TEXT); "
        "CREATE TRIGGER w AFTER UPDATE ON o BEGIN INSERT INTO l VALUES (old.k); END",
    ],
)
def test_a_fixture_that_cannot_be_reordered_is_read_as_it_is(pool: SandboxPool, script: str) -> None:
    """What happens while a fixture is prepared is not the program's doing."""
    fixture = a_database(f"{script}; INSERT INTO o (k) VALUES ('b'), ('a')")
    job = an_sql_job("SELECT k FROM o ORDER BY k", fixtures=(fixture,))

    first, second = (pool.run(job, lane=lane)[0][0] for lane in (0, 1))

    assert first.verdict is Verdict.RETURNED
    assert first == second


def test_a_limit_met_in_one_order_only_is_that_limit(pool: SandboxPool) -> None:
    """Work that depends on the order of rows is no disagreement about the answer."""
    rows = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) INSERT INTO o SELECT i FROM n"
    )
    fixture = a_database(f"CREATE TABLE o (i INTEGER); {rows}")
    job = an_sql_job(
        "SELECT EXISTS(SELECT 1 FROM o WHERE i < 5) AS e", fixtures=(fixture,), limits=Limits(work_steps_max=9000)
    )

    first, second = (pool.run(job, lane=lane)[0][0] for lane in (0, 1))

    assert first.verdict is Verdict.RETURNED
    assert second.verdict is Verdict.WORK_BUDGET
