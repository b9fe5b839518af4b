"""`leakscale catalog new`, `check`, `show` and `audit` as an author runs them: what is said, where, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale_server.core.shapes import parse_shape

from .builders import CATALOGS

MALFORMED = Path(__file__).parent / "malformed"
CACHE = Path(tempfile.gettempdir()) / "leakscale-test-cache"
SANDBOX = ("--backend", "bubblewrap", "--cache-dir", str(CACHE))
SDK = (sys.executable, "-m", "leakscale.cli", "catalog")
SERVER = (sys.executable, "-m", "leakscale_server", "catalog")


class Done:
    """A command that ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self, code: int = 0) -> Any:
        assert self.code == code, self.err
        return json.loads(self.out)


@pytest.fixture
def catalog(tmp_path: Path) -> Any:
    """Run a verb in an empty folder."""

    def command(*arguments: str | Path, program: tuple[str, ...] = SDK) -> Done:
        line = [*program, *map(str, arguments)]
        return Done(subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False))

    return command


@pytest.mark.parametrize("domain", ["sql", "python"])
def test_a_new_shape_passes_its_check_as_it_is(catalog: Any, tmp_path: Path, domain: str) -> None:
    """A template that had to be repaired first would teach its faults."""
    made = catalog("new", "my-family", "--domain", domain)
    text = (tmp_path / "my-family.toml").read_text(encoding="utf-8")
    check = catalog("check", "my-family.toml", *SANDBOX)

    assert (made.code, made.err) == (0, "")
    assert made.out == "wrote my-family.toml; check it with `leakscale catalog check my-family.toml`\n"
    assert parse_shape(text, source="my-family.toml").id == f"{domain}-my-family"
    assert text.count("#") >= 15
    assert check.code == 0, check.out
    assert "8 of 8 families certified" in check.out


@pytest.mark.parametrize("name", ["My-Family", "my_family", "../family", "-x", "x" * 45])
def test_a_name_that_no_id_may_have_is_refused(catalog: Any, tmp_path: Path, name: str) -> None:
    """Nor does it write outside the folder."""
    made = catalog("new", "--", name)

    assert made.code == 2
    assert made.err.startswith("error: ")
    assert made.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_not_overwritten(catalog: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("work of a week")
    made = catalog("new", "mine")

    assert made.code == 2
    assert "'mine.toml' exists; choose another name" in made.err
    assert (tmp_path / "mine.toml").read_text() == "work of a week"


def test_a_file_that_breaks_the_format_is_one_line(catalog: Any) -> None:
    """Nothing is built and no sandbox is started."""
    path = MALFORMED / "wrong-type.toml"
    check = catalog("check", path, "--backend", "docker")

    assert check.code == 1
    assert f"✗ {path}:" in check.out
    assert "candidates.pool[2]: must be an integer; got '40'" in check.out
    assert check.err == ""


def test_a_rejected_family_comes_with_table_and_page(catalog: Any, tmp_path: Path) -> None:
    check = catalog("check", MALFORMED / "differs-on-one-of-eight.toml", "--html", "page.html", *SANDBOX)

    assert check.code == 1
    # Those of which 10 or 25 is right: half of them, since ranks are balanced.
    assert "✗ sql-malformed: 4 of 8 families certified" in check.out
    assert "right on" in check.out
    assert "every table is on page.html" in check.err
    assert "WEAK_ALTERNATIVE" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["mine.toml", "folder", "no/such/page.html"])
def test_a_page_takes_no_file_s_place(catalog: Any, tmp_path: Path, name: str) -> None:
    """An author who names the shape twice must find it afterwards; and nobody waits for a page that cannot be."""
    shape = tmp_path / "mine.toml"
    shape.write_bytes((CATALOGS / "sql" / "threshold.toml").read_bytes())
    (tmp_path / "folder").mkdir()

    check = catalog("check", "mine.toml", "--html", name, *SANDBOX)

    assert check.code == 2
    assert name in check.err
    assert shape.read_bytes() == (CATALOGS / "sql" / "threshold.toml").read_bytes()


def test_a_check_for_machines_is_one_value(catalog: Any) -> None:
    told = catalog("check", CATALOGS / "sql" / "threshold.toml", "--json", *SANDBOX).json()

    assert told["holds"]
    assert told["backend"] == "bubblewrap"
    assert [shape["certified"] for shape in told["shapes"]] == [8]


def test_what_cannot_be_checked_ends_otherwise_than_what_is_wrong(catalog: Any, tmp_path: Path) -> None:
    """A script must not take a missing daemon for a bad family."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "circle.toml").symlink_to("circle.toml")
    shape = CATALOGS / "sql" / "threshold.toml"
    asked = [
        ("check", "not-there.toml"),
        ("check", "empty"),
        ("check", "/dev/null"),
        ("check", shape, "--backend", "chroot"),
        ("check", shape, "--families-per-cell", "5"),
        ("check", shape, "--html", "no/such/folder.html", *SANDBOX),
        ("check", shape, "--html", "/proc/page.html", *SANDBOX),
        ("check", "circle.toml"),
        ("show", "circle.toml"),
        ("show", "empty"),
        ("show", "/dev/null"),
        ("check",),
        ("show", "sql-nothing"),
        ("audit", "not-there"),
        ("audit", "demo", "--data-dir", "not-there"),
        ("audit", "--data-dir", "not-there"),
        ("audit", shape, "--earlier", shape, "--without-sandbox"),
    ]
    for arguments in asked:
        done = catalog(*arguments, "--json")
        error = json.loads(done.err.splitlines()[-1])["error"]

        assert done.code == error["exit_code"] == 2, arguments
        assert done.out == "", arguments
        assert len(error["message"]) > 20, arguments


@pytest.mark.parametrize("name", ["wrong-type", "latin-1", "no-toml", "fixture-file-missing"])
@pytest.mark.parametrize("verb", ["check", "show", "audit"])
def test_a_fault_in_a_file_ends_every_verb_alike(catalog: Any, verb: str, name: str) -> None:
    """A script that looks and one that checks must not disagree about whose fault it is."""
    path = MALFORMED / f"{name}.toml"
    done = catalog(verb, path, *SANDBOX)

    assert done.code == 1
    assert f"{path}:" in done.out + done.err


def test_a_page_that_no_folder_takes_is_refused_before_anything_runs(catalog: Any) -> None:
    check = catalog("check", CATALOGS / "sql" / "threshold.toml", "--html", "/proc/page.html", *SANDBOX)

    assert (check.code, check.out) == (2, "")
    assert check.err.startswith("error: --html /proc/page.html: its folder takes no file (")
    assert check.err.count("\n") == 1


def test_a_link_in_a_circle_is_called_one(catalog: Any, tmp_path: Path) -> None:
    (tmp_path / "circle.toml").symlink_to("circle.toml")
    for verb in ("check", "show", "audit"):
        assert "'circle.toml' is a link in a circle or to nothing" in catalog(verb, "circle.toml").err


def test_a_host_without_the_sandbox_says_so(catalog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    check = catalog("check", CATALOGS / "sql" / "threshold.toml", "--backend", "docker")

    assert (check.code, check.out) == (2, "")
    assert "no Docker daemon answers" in check.err


@pytest.mark.parametrize("shape", ["sql-recursive-hierarchy", "python-nested-update", "path"])
def test_a_shape_is_shown_from_prompt_to_fixture(catalog: Any, shape: str) -> None:
    name = CATALOGS / "sql" / "sum.toml" if shape == "path" else shape
    text = catalog("show", name, *SANDBOX).out
    told = catalog("show", name, "--json", *SANDBOX).json()

    assert [text.count(f"── prompt in {ring}") for ring in ("R0", "R1", "R2")] == [1, 1, 1]
    assert all(prompt[-1]["content"] in text for prompt in told["prompts"].values())
    assert told["right"] in told["answers"]
    assert told["artifacts"]["R0"].strip() in text
    assert told["artifacts"]["R1"].strip() in text
    assert "── fixture 0 of" in text
    assert told["fixture"]
    assert "── expected output on fixture 0" in text
    assert told["expected"]
    assert told["ended"] == ""


def test_a_shape_is_shown_where_no_sandbox_works(catalog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is run is missing then, and it is said why."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    asked = ("show", "sql-sum", "--backend", "docker")
    shown, left_out = catalog(*asked), catalog(*asked, "--without-sandbox")

    assert (shown.code, left_out.code) == (0, 0)
    assert shown.out == left_out.out
    assert "expected output on" not in shown.out
    assert "the expected output is left out: no Docker daemon answers" in shown.err
    assert left_out.err == ""


def test_another_seed_shows_another_family(catalog: Any) -> None:
    shown = [catalog("show", "sql-sum", "--seed", seed, "--without-sandbox").out for seed in ("0", "1", "0")]

    assert shown[0] == shown[2] != shown[1]


def test_an_audit_says_one_line_an_invariant(catalog: Any, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("nothing of ours")
    for name in ("sql/threshold", "python/nested-update"):
        (tmp_path / f"{Path(name).name}.toml").write_bytes((CATALOGS / f"{name}.toml").read_bytes())
    asked = ("audit", ".", "--families-per-cell", "4", "--corpus", "texts", *SANDBOX)

    told = catalog(*asked, "--json").json()
    lines = catalog(*asked).out.splitlines()

    assert [line.split()[1] for line in lines[:-1]] == [each["invariant"].split()[0] for each in told["invariants"]]
    assert lines[-1] == f".: all {len(told['invariants'])} invariants hold"
    assert {each["invariant"] for each in told["invariants"]} == {
        *("structures", "candidates", "names", "balance", "answers", "compiler", "prompts", "regeneration"),
        *("separation", "secrecy", "overlap", "references", "one right", "renaming", "purity"),
    }
    assert all(any(letter.isdigit() for letter in each["checked"]) for each in told["invariants"])


def test_a_page_that_cannot_be_written_leaves_the_result(catalog: Any, tmp_path: Path) -> None:
    """Two minutes of sandboxes must not be lost to a full disk."""
    (tmp_path / ".page.html.draft").mkdir()
    check = catalog("check", CATALOGS / "sql" / "threshold.toml", "--html", "page.html", *SANDBOX)

    assert check.code == 2
    assert "sql-threshold: 8 of 8 families certified" in check.out
    assert check.err.splitlines()[-1].startswith("error: ")


def test_an_audit_names_the_first_thing_that_fails(catalog: Any, tmp_path: Path) -> None:
    """The catalog's own folder as a corpus repeats every sentence of it."""
    (tmp_path / "said.txt").write_text(catalog("show", "sql-threshold", "--without-sandbox").out)
    audit = catalog(
        "audit", CATALOGS / "sql" / "threshold.toml", "--families-per-cell", "4", "--corpus", "said.txt",
        "--without-sandbox",
    )  # fmt: skip

    assert audit.code == 1
    assert "✗ overlap" in audit.out
    assert "sql-threshold in R0 shares '" in audit.out
    assert audit.out.splitlines()[-1].endswith("does not hold: overlap; what runs programs was left out")


def test_the_sdk_passes_everything_through(catalog: Any) -> None:
    """One implementation, two names: arguments, streams and exit codes are the same; each calls itself by its own."""
    asked = [
        ("show", "sql-sum", "--without-sandbox"),
        ("show", "sql-sum", "--json", *SANDBOX),
        ("check", MALFORMED / "wrong-type.toml"),
        ("bogus",),
    ]
    for arguments in asked:
        ours, theirs = catalog(*arguments), catalog(*arguments, program=SERVER)

        assert (ours.code, ours.out, ours.err) == (
            theirs.code,
            theirs.out,
            theirs.err.replace("-server catalog", " catalog"),
        )
    assert catalog("bogus").err == "error: No such command 'bogus'; see `leakscale catalog --help`\n"
    assert "audit" in catalog("--help").out
    assert "--html" in catalog("check", "--help").out


def test_without_the_server_the_sdk_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "sqlglot" else real(name))

    assert run(["catalog", "show", "sql-sum"]) == 2
    assert "run `pip install 'leakscale[server]'`" in capsys.readouterr().err


def test_an_interruption_is_one_line(tmp_path: Path) -> None:
    """Half a table would look like a result."""
    line = [*SDK, "audit", "--families-per-cell", "16", *SANDBOX]
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert [each for each in err.splitlines() if not each.startswith(("build: ", "run: "))] == [
        "error: interrupted; nothing was kept"
    ]
