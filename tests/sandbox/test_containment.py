"""Nothing passes from one program, fixture or job to another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from leakscale_sandbox.canonical_reader import Rows
from leakscale_server.sandbox_pool import Job, Limits, SandboxPool, Verdict

from .helpers import a_database, a_python_job, an_sql_job, value_of

LEAVE_TRACES = """
import builtins, json, sys, os
def transform(records):
    builtins.trace = "left"
    json.loads = lambda text: "patched"
    sys.modules["leakscale_sandbox.canonical"].CANONICAL_VERSION = 9
    os.environ["TRACE"] = "left"
    records.append("changed")
    left = list(records)
    # Put back, so that the verdict is about the value.
    records.pop()
    return left
"""
LOOK_FOR_TRACES = """
import builtins, json, os
def transform(records):
    return [hasattr(builtins, "trace"), json.loads("[1]"), "TRACE" in os.environ, records]
"""
# Walks every object that the collector knows and every frame; returns how much it saw and what it found.
SEARCH_MEMORY = """
import gc, sys
def transform(records):
    gc.unfreeze()
    seen = gc.get_objects()
    # Joined at run time: a constant would be found as a part of this program itself.
    needles = ["-".join(["secret", "of", owner]) for owner in ("this", "another")]
    found = [0, 0]
    for thing in seen:
        parts = thing.values() if type(thing) is dict else thing if type(thing) in (list, tuple) else ()
        for part in parts:
            if thing is not needles and type(part) in (str, bytes):
                text = part if type(part) is str else part.decode("latin-1")
                for n in (0, 1):
                    found[n] += needles[n] in text
    frame, depth = sys._getframe(), 0
    while frame:
        depth += 1
        frame = frame.f_back
    return [len(seen) > 1000, depth > 2, found[0] > 0, found[1]]
"""


def test_a_program_sees_nothing_of_the_one_before(pool: SandboxPool, honest: Callable[[], None]) -> None:
    """Each program has a process of its own, so patching the harness harms only the one that did it."""
    left, found = pool.run(a_python_job(LEAVE_TRACES, LOOK_FOR_TRACES))

    assert value_of(left[0]) == [1, "changed"]
    assert value_of(found[0]) == [False, [1], False, [1]]


def test_a_changed_argument_is_fresh_on_the_next_fixture(pool: SandboxPool) -> None:
    """Arguments are parsed anew for each fixture."""
    program = "def transform(records):\n    if len(records) > 1:\n        return records\n    records.append(9)"

    ((first, second),) = pool.run(a_python_job(program, fixtures=(b"[1]", b"[1]")))

    assert first.verdict is second.verdict is Verdict.ARGUMENT_CHANGED
    assert first.detail == "argument"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("return records", Verdict.RETURNED),
        ("return sorted(records, key=str)", Verdict.RETURNED),
        ("records.append(9)\n    return records.pop()", Verdict.RETURNED),
        ("records.sort(key=str)\n    return records", Verdict.ARGUMENT_CHANGED),
        ("records[0]['n'] = 1.0\n    return 1", Verdict.ARGUMENT_CHANGED),
        ("records[0]['n'] = True\n    return 1", Verdict.ARGUMENT_CHANGED),
        ("records[0]['n'] = records[0].pop('n')\n    return 1", Verdict.ARGUMENT_CHANGED),
        ("records.append({1})\n    return 1", Verdict.ARGUMENT_CHANGED),
        ("records.append(records)\n    return 1", Verdict.ARGUMENT_CHANGED),
        ("records.append(1)\n    raise ValueError", Verdict.EXCEPTION),
    ],
)
def test_a_program_that_changes_its_argument_is_told_apart(pool: SandboxPool, body: str, verdict: Verdict) -> None:
    """By value, type and the order of keys: each of them another call with the same argument would see."""
    fixture = b'[{"n": 1, "name": "b"}, "a"]'

    ((execution,),) = pool.run(a_python_job(f"def transform(records):\n    {body}", fixtures=(fixture,)))

    assert execution.verdict is verdict


def test_a_program_does_not_find_the_others_in_memory(pool: SandboxPool) -> None:
    """PID 1 never holds a payload, so there is nothing to inherit; earlier jobs' least of all."""
    other = "# secret-of-another\ndef transform(records):\n    return 1"
    pool.run(a_python_job(other, fixtures=(b'["secret-of-another"]',)), lane=0)

    looked = pool.run(a_python_job(SEARCH_MEMORY, other, fixtures=(b'["secret-of-this"]',)), lane=0)[0][0]

    # It looked through the heap and the frames, and found its own argument, but nothing else.
    assert value_of(looked) == [True, True, True, 0]


def test_one_bad_fixture_does_not_spoil_the_others(pool: SandboxPool) -> None:
    """A huge integer once ended a whole candidate, and so hid what it did on fifteen other fixtures."""
    program = "def transform(n):\n    return [1, 10 ** 5000, {1}, 1, 2][n] if n != 3 else 1 // 0"
    fixtures = (b"0", b"1", b"2", b"3", b"4")

    (outcome,) = pool.run(a_python_job(program, fixtures=fixtures))

    assert [one.verdict for one in outcome] == [
        Verdict.RETURNED,
        Verdict.OUTPUT_LIMIT,
        Verdict.REFUSED_TYPE,
        Verdict.EXCEPTION,
        Verdict.RETURNED,
    ]


def test_values_beyond_a_frame_are_too_large_in_any_order(pool: SandboxPool) -> None:
    """Sixteen values of 250 KiB are 4 MiB, a frame holds one: which come first must not decide which of them count."""
    fixtures = (b"250000",) * 15 + (b"1",)
    job = a_python_job("def transform(n):\n    return 'x' * n", fixtures=fixtures)

    (forwards,) = pool.run(job)
    (backwards,) = pool.run(dataclasses.replace(job, fixtures=fixtures[::-1]))

    assert {one.verdict for one in forwards} == {Verdict.OUTPUT_LIMIT}
    assert forwards == backwards[::-1]


def test_an_early_limit_does_not_stay_for_the_next_job(pool: SandboxPool) -> None:
    """A small limit that stuck to the lane would fail honest programs later."""
    needs_memory = "def transform(records):\n    return len(bytearray(100 << 20))"
    small = Limits(memory_bytes_max=80 << 20)

    assert pool.run(a_python_job(needs_memory, limits=small), lane=0)[0][0].verdict is Verdict.MEMORY_LIMIT
    assert value_of(pool.run(a_python_job(needs_memory), lane=0)[0][0]) == 100 << 20


def test_each_fixture_of_an_sql_job_is_its_own_database(pool: SandboxPool) -> None:
    """One connection serves all fixtures; nothing of one may show in the next, not even after a failure."""
    fixtures = (
        a_database(),
        a_database("INSERT INTO t VALUES (7, 'z', 0.5)"),
        a_database("CREATE TABLE u (id); INSERT INTO u VALUES (1)"),
        a_database(),
    )
    program = "SELECT count(*), (SELECT max(id) FROM t) FROM t"

    plain, only_third, table_function = pool.run(
        an_sql_job(program, "SELECT id FROM u", "SELECT * FROM json_each('[1]')", fixtures=fixtures)
    )

    assert [value_of(one).rows for one in plain] == [((3, 3),), ((1, 7),), ((0, None),), ((3, 3),)]  # type: ignore[attr-defined]
    assert [one.verdict for one in only_third] == [Verdict.EXCEPTION] * 2 + [Verdict.RETURNED, Verdict.EXCEPTION]
    assert {one.verdict for one in table_function} == {Verdict.EXCEPTION}


def test_lanes_disagree_about_what_a_program_leaves_to_chance(pool: SandboxPool) -> None:
    """Two passes on two lanes find an order that a program left open: set order, and rows without ORDER BY."""
    by_hash = a_python_job("def transform(records):\n    return list({'a', 'b', 'c', 'd', 'e', 'f'})")
    by_row = an_sql_job("SELECT id FROM t")

    for job in (by_hash, by_row):
        assert pool.run(job, lane=0) != pool.run(job, lane=1)
        assert pool.run(job, lane=0) == pool.run(job, lane=0)


CLOCKS = [
    "time.time()",
    "time.time_ns()",
    "time.monotonic() // 86400",
    "time.perf_counter_ns() // 10**15",
    "time.clock_gettime(time.CLOCK_REALTIME)",
    "time.gmtime().tm_year",
    "time.localtime(None)[1]",
    "time.strftime('%d')",
    "time.asctime()",
    "time.ctime()[:3]",
    "str(datetime.date.today())",
    "datetime.date.today().weekday() >= 5",
    "datetime.date.today() > datetime.date(2024, 1, 1)",
    "calendar.isleap(datetime.datetime.now().year)",
    "datetime.datetime.utcnow().hour < 12",
    "datetime.datetime.now(datetime.timezone.utc).minute",
    "datetime.datetime.now().microsecond % 2",
    "datetime.datetime.today().day % 2",
    "(datetime.date.today() - datetime.date(1980, 5, 5)).days // 365",
    "[type(d).today().month for d in [datetime.date(2020, 1, 1)]]",
]


@pytest.mark.parametrize("clock", CLOCKS)
def test_lanes_disagree_about_the_time(pool: SandboxPool, clock: str) -> None:
    """Two passes are a second apart: what reads the date would agree today, be certified, and differ tomorrow."""
    job = a_python_job(f"import calendar, datetime, time\ndef transform(records):\n    return {clock}")

    first, second = (pool.run(job, lane=lane)[0][0] for lane in (0, 1))

    assert value_of(first) != value_of(second)
    assert pool.run(job, lane=0)[0][0] == first


SURROUNDINGS = [
    "dict(os.environ)",
    "len(os.environ)",
    "os.environ.get('HOME', '/root')",
    "os.getenv('LANG')",
    "os.environb.get(b'USER', b'').decode()",
    "os.getcwd()",
    "os.path.abspath('x')",
    "os.cpu_count()",
    "min(posix.cpu_count(), 8)",
    "sys.argv",
    "sys.executable",
    "sys.platform",
    "sys.version[:3]",
]


@pytest.mark.parametrize("read", SURROUNDINGS)
def test_lanes_disagree_about_their_surroundings(pool: SandboxPool, read: str) -> None:
    """Both lanes are of one host: what a program reads of it would agree today, and differ on another one."""
    job = a_python_job(f"import os, posix, sys\ndef transform(records):\n    return {read}")

    first, second = (pool.run(job, lane=lane)[0][0] for lane in (0, 1))

    assert value_of(first) != value_of(second)
    assert pool.run(job, lane=0)[0][0] == first


@pytest.mark.parametrize("read", ["os.sysconf('SC_NPROCESSORS_ONLN')", "os.uname()", "os.sched_getaffinity(0)"])
def test_what_the_machine_is_is_refused(pool: SandboxPool, read: str) -> None:
    job = a_python_job(f"import os\ndef transform(records):\n    return str({read})")

    for lane in (0, 1):
        assert pool.run(job, lane=lane)[0][0].detail == "PermissionError"


@pytest.mark.parametrize(
    "read", ["time.strftime('%Z')", "'b' < 'B'", "locale.strcoll('b', 'B')", "locale.setlocale(0, '')"]
)
def test_lanes_agree_about_time_zone_and_sorting(pool: SandboxPool, read: str) -> None:
    """Variables of the second lane are there to be read; they must not move what is the same everywhere."""
    job = a_python_job(f"import locale, time\ndef transform(records):\n    time.tzset()\n    return {read}")

    assert pool.run(job, lane=0) == pool.run(job, lane=1)


PLACES = [
    "len(gc.get_objects())",
    "sys.getallocatedblocks()",
    "sys.getrefcount(None) % 10**6",
    "[id(kind()) // 16 % 64 for kind in (list, dict, object, Thing)]",
    "[thing.n for thing in {Thing(n) for n in range(6)}]",
]


@pytest.mark.parametrize("place", PLACES)
def test_lanes_disagree_about_where_objects_lie(pool: SandboxPool, place: str) -> None:
    """Two fresh processes of one program have one heap: addresses agree in all but the page, and so do their sets."""
    thing = "class Thing:\n    def __init__(self, n=0): self.n = n"
    program = f"import gc, sys\n{thing}\ndef transform(records):\n    return {place}"
    job = a_python_job(program, fixtures=(b"[1]",) * 16)

    first, second = (pool.run(job, lane=lane)[0] for lane in (0, 1))

    assert {one.verdict for one in (*first, *second)} == {Verdict.RETURNED}
    assert first != second


# Each leaves open which of two rows comes first; an ORDER BY, even one of a tie, keeps SQLite from scanning backwards.
OPEN_ORDERS = [
    "SELECT name FROM t ORDER BY length(name)",
    "SELECT length(name) AS n, group_concat(name) FROM t GROUP BY n ORDER BY n",
    "SELECT length(name) AS n, name FROM t GROUP BY n ORDER BY n",
    "SELECT name, row_number() OVER (ORDER BY length(name)) FROM t ORDER BY name",
    "SELECT name, lag(name) OVER (PARTITION BY length(name)) FROM t ORDER BY name",
    "SELECT name FROM t ORDER BY length(name) DESC LIMIT 1",
    "SELECT name, max(length(name)) FROM t ORDER BY name",
    "SELECT sum(amount) FROM t GROUP BY length(name) ORDER BY 1",
    "SELECT rowid, name FROM t ORDER BY name",
    "SELECT (SELECT name FROM t AS o WHERE length(o.name) = length(t.name)) FROM t ORDER BY id",
    "WITH c AS MATERIALIZED (SELECT name FROM t ORDER BY name) SELECT group_concat(name) FROM c",
]
ROWS = """DROP TABLE t; CREATE TABLE t (id INTEGER, name TEXT, amount REAL);
INSERT INTO t VALUES (4, 'aa', 0.1), (2, 'bb', 0.2), (9, 'cc', 1e17), (1, 'dd', -1e17)"""


@pytest.mark.parametrize("statement", OPEN_ORDERS)
def test_lanes_disagree_about_rows_that_tie(pool: SandboxPool, statement: str) -> None:
    """An ORDER BY that is not total gives the rows as they happen to lie; no prompt says how they lie."""
    job = an_sql_job(statement, fixtures=(a_database(ROWS),))

    first, second = (pool.run(job, lane=lane)[0][0] for lane in (0, 1))

    assert first.verdict is Verdict.RETURNED
    assert (second.verdict, second.output) != (first.verdict, first.output)
    assert second.verdict.is_deterministic


def test_lanes_agree_about_rows_in_a_total_order(pool: SandboxPool) -> None:
    """Moving the rows of a table must not change what the statement says."""
    statement = """
        SELECT name, amount, rank() OVER (ORDER BY amount, id) AS r, (SELECT count(*) FROM t AS o WHERE o.id < t.id)
        FROM t ORDER BY length(name), name
    """
    job = an_sql_job(statement, fixtures=(a_database(ROWS), a_database()))

    assert pool.run(job, lane=0) == pool.run(job, lane=1)
    assert {one.verdict for one in pool.run(job, lane=1)[0]} == {Verdict.RETURNED}


def test_lanes_agree_about_a_bag(pool: SandboxPool) -> None:
    """A family whose rows have no order is certified as a bag."""
    job = an_sql_job("SELECT name, amount FROM t", ordered=False)

    assert pool.run(job, lane=0) == pool.run(job, lane=1)
    assert isinstance(value_of(pool.run(job, lane=0)[0][0]), Rows)


@pytest.mark.parametrize("fixture", [b"", b"{", b"[1"])
@pytest.mark.parametrize("domain", ["python", "sql"])
def test_a_fixture_that_does_not_parse_is_our_own_fault(pool: SandboxPool, fixture: bytes, domain: str) -> None:
    """It must not look like a failure of the candidate."""
    with pytest.raises(ValueError, match="does not parse"):
        pool.run(Job(domain, ("x",), (fixture,)))
