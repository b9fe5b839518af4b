"""What SQLite says of a statement reaches its author; what it says of a row reaches nobody."""

from __future__ import annotations

import sqlite3

import pytest

from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_server.sandbox_pool import Job, SandboxPool
from leakscale_server.sandbox_pool.statement_errors import is_about_statement

UNPREPARED = {
    "SELECT t.secret FROM t": "no such column: t.secret",
    "SELECT * FROM nowhere": "no such table: nowhere",
    "SELECT soundslike(a) FROM t": "no such function: soundslike",
    "SELECT a FROM t WHERE WHERE a": 'near "WHERE": syntax error',
    "SELECT a FROM t, t AS u": "ambiguous column name: a",
    "SELECT a FROM (": "incomplete input",
    "SELECT max(sum(a)) FROM t": "misuse of aggregate function SUM()",
    "SELECT abs(a, a) FROM t": "wrong number of arguments to function abs()",
    "SELECT a FROM t UNION SELECT a, a FROM t": "SELECTs to the left and right of UNION do not have the same number of "
    "result columns",
    "SELECT a FROM t ORDER BY 2": "1st ORDER BY term out of range - should be between 1 and 1",
    "SELECT 1; SELECT 2": "You can only execute one statement at a time.",
}


def a_fixture() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES ('hidden')")
    connection.commit()
    return connection.serialize()


@pytest.mark.parametrize(("statement", "message"), UNPREPARED.items())
def test_words_of_sqlite_and_of_the_statement_pass(statement: str, message: str) -> None:
    """Without them eight families fail alike and nobody knows why."""
    assert is_about_statement(message, statement)


@pytest.mark.parametrize(
    "message", ["no such column: t.hidden", "malformed JSON: hidden", "no such column: t.a\n12345"]
)
def test_a_word_of_neither_does_not_pass(message: str) -> None:
    """A worker that was taken over could put a fixture's value there."""
    assert not is_about_statement(message, "SELECT t.a FROM t")


def test_every_lane_says_what_sqlite_says_of_the_statement_only(pool: SandboxPool) -> None:
    """A path into JSON that is no path is quoted while the statement runs; here it comes out of a row."""
    statements = (*UNPREPARED, "SELECT json_extract('[1]', a) FROM t")
    for lane in range(2):
        outcomes = pool.run(Job("sql", statements, (a_fixture(),)), lane=lane)
        said = [execution.message for (execution,) in outcomes]

        assert all(execution.verdict is not Verdict.RETURNED for (execution,) in outcomes)
        # Releases of SQLite word the later ones differently.
        assert said[:5] == [*UNPREPARED.values()][:5]
        assert said[-1] == ""


def test_a_python_program_has_no_message(pool: SandboxPool) -> None:
    """It owns its process, so what follows the name of a class is its own invention."""
    program = (
        "import sys\n"
        "def transform(records):\n"
        "    sys.modules['leakscale_sandbox.python_runner'].exception_name = lambda error: b'ValueError: records'\n"
        "    raise ValueError\n"
    )
    ((execution,),) = pool.run(Job("python", (program,), (b"[]",), limits=Limits()))

    assert (execution.verdict, execution.detail, execution.message) == (Verdict.KILLED, "forged result", "")
