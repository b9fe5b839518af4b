"""`leakscale-server sandbox run` and `check` as their user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from leakscale_sandbox.preloaded import MODULE_NAMES

from .conftest import BACKENDS

PROGRAMS = {
    "sum.py": "def transform(records):\n    return sum(records)\n",
    "loop.py": "def transform(records):\n    while True: pass\n",
    "fork.py": "import os\ndef transform(records):\n    os.fork()\n",
    "set.py": "def transform(records):\n    return {1}\n",
    "open.py": "def transform(records):\n    return open('/etc/passwd').read()\n",
    "rows.sql": "SELECT name FROM t ORDER BY id DESC\n",
    "endless.sql": "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r\n",
    "attach.sql": "ATTACH '/etc/passwd' AS z\n",
}
FIXTURES = {
    "three.json": "[1, 2, 3]",
    "none.json": "[]",
    "t.sql": "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t (id INTEGER, name TEXT);\n"
    "INSERT INTO t VALUES (1, 'a'), (2, NULL);\nCOMMIT;\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (PROGRAMS | FIXTURES).items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def command(folder: Path, state_dir: Path) -> Any:
    def run(verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "leakscale_server", "sandbox", verb, *arguments, "--cache-dir", str(state_dir)]
        return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)

    return run


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def brief(line: dict[str, Any]) -> tuple[object, ...]:
    return tuple(line[key] for key in ("program", "fixture", "verdict", "output", "detail"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_python_execution_is_one_line_whatever_its_verdict(command: Any, backend: str) -> None:
    """An author sees what becomes of a program before a family depends on it."""
    fixtures = ("--fixture", "three.json", "--fixture", "none.json")
    bombs = ("loop.py", "fork.py", "set.py", "open.py", "--fixture", "none.json", "--cpu-time-s", "1")

    honest = lines(command("run", "--backend", backend, "--domain", "python", "sum.py", *fixtures))
    hostile = lines(command("run", "--backend", backend, "--domain", "python", *bombs))

    assert [brief(line) for line in honest] == [
        ("sum.py", "three.json", "returned", "6", ""),
        ("sum.py", "none.json", "returned", "0", ""),
    ]
    assert [brief(line) for line in hostile] == [
        ("loop.py", "none.json", "cpu_limit", None, "CPU time"),
        ("fork.py", "none.json", "killed", None, "SIGSYS"),
        ("set.py", "none.json", "refused_type", None, "type"),
        ("open.py", "none.json", "exception", None, "PermissionError"),
    ]
    assert hostile[0]["cpu_ms"] > honest[0]["cpu_ms"] > 0
    assert hostile[0].keys() == {"program", "fixture", "verdict", "output", "detail", "message", "cpu_ms", "wall_ms"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_sql_fixture_is_a_script(command: Any, backend: str) -> None:
    """What the sqlite3 shell dumps can be used as it is."""
    programs = ("rows.sql", "endless.sql", "attach.sql", "--fixture", "t.sql", "--work-steps", "100000")

    told = lines(command("run", "--backend", backend, "--domain", "sql", *programs))

    assert [brief(line) for line in told] == [
        ("rows.sql", "t.sql", "returned", '{"columns":["name"],"rows":[[null],["a"]]}', ""),
        ("endless.sql", "t.sql", "work_budget", None, "virtual-machine steps"),
        ("attach.sql", "t.sql", "exception", None, "StatementRefusedError"),
    ]


def test_what_is_not_there_is_named_with_what_is(command: Any, folder: Path) -> None:
    """A class of exceptions alone would send an author to the source of the sandbox."""
    (folder / "module.py").write_text("def transform(records):\n    import numpy")
    (folder / "function.sql").write_text("SELECT julianday('2024-03-05') AS day")
    (folder / "column.sql").write_text("SELECT ide AS id FROM t")
    asked = ("run", "--backend", "bubblewrap", "--domain")

    [module] = lines(command(*asked, "python", "module.py", "--fixture", "none.json"))
    function, column = lines(command(*asked, "sql", "function.sql", "column.sql", "--fixture", "t.sql"))

    assert module["detail"] == "ModuleNotFoundError"
    assert module["message"] == f"a program can import {', '.join(MODULE_NAMES)}"
    assert function["message"].startswith(
        "not authorized to use function: julianday; a statement can call ->, ->>, abs,"
    )
    assert column["message"] == "no such column: ide"


def test_the_second_pass_and_bags_can_be_seen(command: Any, folder: Path) -> None:
    """A family that was rejected as nondeterministic is looked into here."""
    (folder / "open-order.sql").write_text("SELECT id FROM t")
    asked = ("run", "--backend", "bubblewrap", "--domain", "sql", "open-order.sql", "--fixture", "t.sql")

    outputs = [lines(command(*asked, *more))[0]["output"] for more in ((), ("--second-pass",), ("--bag",))]

    assert outputs == [
        '{"columns":["id"],"rows":[[1],[2]]}',
        '{"columns":["id"],"rows":[[2],[1]]}',
        '{"columns":["id"],"bag":[[1],[2]]}',
    ]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("ATTACH 'here.db' AS z; CREATE TABLE z.t (a)", "not authorized"),
        ("VACUUM INTO 'here.db'", "authorization denied"),
        ("PRAGMA hard_heap_limit=1", "not authorized"),
        ("CREATE VIRTUAL TABLE t USING fts5(a)", "not authorized"),
        ("CREATE TEMP TABLE t (a)", "not authorized"),
        ("CREATE TABLE t AS SELECT load_extension('x') AS a", "not authorized"),
        ("CREATE TABLE t AS SELECT printf('%.*c', 1000000000, 'x') AS a", "not authorized"),
        ("CREATE TABLE t (a); WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
         " INSERT INTO t SELECT hex(hex(hex(x))) FROM r", "full"),
        ("CREATE TABLE t AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r",
         "interrupted"),
        ("INSERT INTO nowhere VALUES (1)", "no such table"),
        ("\0", "null character"),
        ("-- " + "x" * (5 << 20), "larger than 4 MiB"),
    ],
)  # fmt: skip
def test_a_fixture_script_only_builds_a_database(command: Any, folder: Path, script: str, words: str) -> None:
    """It runs outside the sandbox: it is the user's own, but a copied one must not reach a file."""
    (folder / "bad.sql").write_text(script)

    done = command("run", "--backend", "bubblewrap", "--domain", "sql", "rows.sql", "--fixture", "bad.sql")

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "here.db").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--domain", "python", "sum.py", "--fixture", "t.sql"], "t.sql is not JSON"),
        (["--domain", "python", "none-such.py", "--fixture", "none.json"], "none-such.py cannot be read: No such file"),
        (["--domain", "python", ".", "--fixture", "none.json"], "Is a directory"),
        (["--domain", "cobol", "sum.py", "--fixture", "none.json"], "cobol"),
        (["--domain", "python", "--fixture", "none.json"], "PROGRAM"),
        (["--domain", "python", "sum.py"], "--fixture"),
        (["--domain", "python", "sum.py", "--fixture", "none.json", "--cpu-time-s", "0"], "cpu_time_s_max"),
        (["--domain", "python", "sum.py", "--fixture", "none.json", "--backend", "chroot"], "docker or bubblewrap"),
        (
            ["--domain", "python", "sum.py", "--fixture", "none.json", "--docker-runtime", "runsc"],
            "--docker-runtime runsc",
        ),
    ],
)
def test_what_cannot_be_run_is_one_line(command: Any, arguments: list[str], words: str) -> None:
    """With the file or the option that is wrong."""
    done = command("run", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_check_prints_what_this_host_promises(command: Any, backend: str) -> None:
    """A host on which it ends otherwise is not fit to certify."""
    table = command("check", "--backend", backend)
    told = json.loads(command("check", "--backend", backend, "--json").stdout)

    assert table.returncode == 0, table.stdout
    assert "cgroups" in table.stdout
    assert table.stdout.splitlines()[-1] == f"all {len(told['findings'])} hold"
    assert (told["backend"], told["failed"]) == (backend, [])
    assert told["findings"][0]["limit"] == told["findings"][-2]["limit"] == "honest Python"


def test_check_without_a_daemon_says_so(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for Docker it fails; left to choose, it says what it chose."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")

    strict, free = command("check", "--backend", "docker"), command("check")

    assert (strict.returncode, strict.stdout) == (3, "")
    assert "no Docker daemon answers" in strict.stderr
    assert free.returncode == 0
    assert "candidates run under bubblewrap" in free.stderr
