"""Files that somebody else wrote: nested without end, of two meanings, of another form. Each is named and refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from leakscale.adaptation.completion import read_completion
from leakscale.audit.forms.reading import read_bank
from leakscale.audit.registration.plan import load_plan
from leakscale.audit.scores import ScoreTable
from leakscale.background import BackgroundRecipe, load_recipe
from leakscale.cli.entry import run
from leakscale.errors import IntegrityError, LeakScaleError
from leakscale.evidence import read_steps
from leakscale.field_rules import validated
from leakscale.freshness.page import read_scan
from leakscale.merkle import leaf_hash
from leakscale.models import LedgerEntry
from leakscale.reading import fault_of, parse_json, parse_object, parse_toml, read_object
from leakscale.study.config import load_study
from leakscale.verify.checks import Checks
from leakscale.verify.directory import ServerDirectory, line_of_entry
from leakscale.verify.ledger import check_ledger

EXAMPLE = Path(__file__).parents[1] / "docs" / "example-report" / "study"
DEEP = "[" * 100_000
"""The parsers of the standard library give up on it with a RecursionError."""


def test_a_text_nested_without_end_is_as_wrong_as_any_other() -> None:
    """A RecursionError passes every handler of wrong texts, and the command ends in a traceback."""
    with pytest.raises(RecursionError):
        json.loads(DEEP)

    for content in (DEEP, DEEP.encode(), f'{{"a": {DEEP}'):
        for is_strict in (False, True):
            with pytest.raises(ValueError, match="nested too deep"):
                parse_json(content, is_strict=is_strict)
    with pytest.raises(ValueError, match="nested too deep"):
        parse_toml(f"a = {DEEP}")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": {"b": 1, "b": 2}}', "field 'b' is there twice"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ("[-Infinity]", "-Infinity is no number of JSON"),
    ],
)
def test_what_two_readers_read_differently_is_refused_where_it_matters(text: str, fault: str) -> None:
    """Evidence says one thing."""
    parse_json(text)

    with pytest.raises(ValueError, match=fault):
        parse_json(text, is_strict=True)


@pytest.mark.parametrize("text", ["[]", "null", "3", '"a"'])
def test_only_an_object_is_an_object(text: str, tmp_path: Path) -> None:
    """The next line asks it for a field."""
    (tmp_path / "file").write_text(text)

    with pytest.raises(ValueError, match="no JSON object"):
        parse_object(text)
    with pytest.raises(IntegrityError, match=r"/file' cannot be read: it is no JSON object; make it again$"):
        read_object(tmp_path / "file", advice="make it again")


READERS: dict[str, Callable[[Path], object]] = {
    "bank.jsonl": read_bank,
    "scores.jsonl": ScoreTable.from_jsonl,
    "verification.json": read_steps,
    "scan.json": read_scan,
    "study.toml": load_study,
    "recipe.toml": load_recipe,
    "audit.toml": load_plan,
    "completion.json": lambda path: read_completion(path.parent),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_refuses_a_file_without_end(name: str, tmp_path: Path) -> None:
    """One damaged file must not look like a fault of the program."""
    path = tmp_path / name
    path.write_text(f"a = {DEEP}" if path.suffix == ".toml" else DEEP)

    with pytest.raises(LeakScaleError, match="nested too deep") as refused:
        READERS[name](path)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["analysis/disclosure.json", "provenance.json"])
@pytest.mark.parametrize(
    ("content", "fault"), [(DEEP, "nested too deep"), ("{", "cannot be read"), ("\udcff", "utf-8")]
)
def test_a_damaged_file_of_a_study_is_named(
    name: str, content: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two files, which one?"""
    study = tmp_path / "study"
    shutil.copytree(EXAMPLE, study)
    (study / name).write_bytes(content.encode(errors="surrogateescape"))

    for verb in ("report", "analyze"):
        assert run([verb, str(study)]) == 1

        error = capsys.readouterr().err
        assert f"'{study / name}'" in error
        assert fault in error


def test_a_finished_study_whose_summary_is_damaged_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before its server is started."""
    (tmp_path / "summary.json").write_text(DEEP)

    assert run(["evidence", "build", str(tmp_path)]) == 1

    assert f"'{tmp_path / 'summary.json'}' cannot be read: it is nested too deep" in capsys.readouterr().err


def test_a_ledger_whose_entry_has_no_end_does_not_hold(tmp_path: Path) -> None:
    """Its leaf is right: whoever writes entries writes leaves."""
    content = DEEP.encode()
    directory, checks = ServerDirectory(tmp_path), Checks()
    directory.ledger.write_bytes(line_of_entry(LedgerEntry(0, leaf_hash(content), content)) + b"\n")

    check_ledger(directory, checks, public_key=bytes(32))

    assert [check.fault for check in checks.made if "entry 0" in check.fault] == [
        "entry 0 of the ledger is damaged: it is nested too deep; export it again"
    ]


def test_a_broken_rule_is_one_line_with_its_field_and_value() -> None:
    """pydantic's own report has many lines and an address."""
    with pytest.raises(ValueError, match=r"^field 'format': input should be 1 \(got 2\)$"):
        validated({"format": 2, "seed": 0, "source": []}, BackgroundRecipe)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("seed"), "it lacks 'seed'"),
        (ValueError("its format is 2,\n not 1"), "its format is 2, not 1"),
        (TypeError("'int' object is not iterable"), "it is of another form: 'int' object is not iterable"),
        (AttributeError("'list' object has no attribute 'get'"), "it is of another form: 'list' object has no attri"),
        (StopIteration(), "StopIteration"),
    ],
)
def test_what_a_reader_met_is_said_in_one_line(error: Exception, words: str) -> None:
    """`'seed'` alone is what a KeyError says of a field that is missing."""
    assert fault_of(error).startswith(words)
    assert "\n" not in fault_of(error)


def test_a_study_file_that_lacks_a_field_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the file, and what to do."""
    study = tmp_path / "study"
    shutil.copytree(EXAMPLE, study)
    disclosure = json.loads((study / "analysis" / "disclosure.json").read_text())
    del disclosure["payload"]
    (study / "analysis" / "disclosure.json").write_text(json.dumps(disclosure))

    assert run(["analyze", str(study)]) == 1

    assert "disclosure cannot be read: it lacks 'payload'; fetch it from the server again" in capsys.readouterr().err
