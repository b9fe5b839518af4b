"""Every backend shows every behavior of the list, and stays sound after each."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from leakscale_sandbox.canonical_reader import Rows
from leakscale_server.sandbox_pool import Execution, Job, SandboxPool, Verdict

from .conformance import PYTHON_CASES, SQL_CASES, Case
from .helpers import A_FIXTURE, a_database, value_of

VIEW = "CREATE VIEW v AS SELECT count(*) FROM t; INSERT INTO t (id) VALUES (1), (2), (3)"


@pytest.mark.parametrize("case", PYTHON_CASES, ids=str)
def test_a_python_program_ends_as_it_must(case: Case, pool: SandboxPool, honest: Callable[[], None]) -> None:
    """A wrong verdict would certify a family on a limit, or blame a candidate for an attack of another."""
    ((execution,),) = pool.run(Job("python", (case.program,), (A_FIXTURE,), limits=case.limits))

    assert_ended(execution, case)
    if case.verdict is Verdict.RETURNED:
        assert repr(value_of(execution)) == repr(case.value)


@pytest.mark.parametrize("case", SQL_CASES, ids=str)
def test_an_sql_program_ends_as_it_must(case: Case, pool: SandboxPool, honest: Callable[[], None]) -> None:
    """An authorizer that forgot one action would let a candidate out of its fixture."""
    fixture = a_database(VIEW) if case.fixture else a_database()

    ((execution,),) = pool.run(Job("sql", (case.program,), (fixture,), ordered=case.ordered, limits=case.limits))

    assert_ended(execution, case)
    if case.verdict is Verdict.RETURNED:
        rows = value_of(execution)
        assert isinstance(rows, Rows)
        assert repr(list(rows.rows)) == repr(case.value)


def test_a_recursion_without_bound_never_ends_deterministically(pool: SandboxPool, honest: Callable[[], None]) -> None:
    """Where the memory ends decides how: MemoryError, SystemError or SIGSEGV, by release of Python."""
    program = "import sys\nsys.setrecursionlimit(2**31 - 1)\ndef transform(records):\n    return transform(records)"

    ((execution,),) = pool.run(Job("python", (program,), (A_FIXTURE,)))

    assert execution.verdict in {Verdict.MEMORY_LIMIT, Verdict.KILLED}
    assert not execution.verdict.is_deterministic


def assert_ended(execution: Execution, case: Case) -> None:
    assert execution.verdict is case.verdict, execution
    # Releases of SQLite and of Python's binding name the same refusal differently.
    assert execution.detail in case.detail.split("|"), execution
    assert bool(execution.output) == (case.verdict is Verdict.RETURNED)
