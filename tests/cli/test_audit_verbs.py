"""`leakscale audit new`, `check`, `review`, `lock`, `amend` and `show`, as somebody types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.audit.registration.builders import CONTROL, PLAN, control_line, parent_line, write_lines

from leakscale.cli.entry import run


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A frame with rewrites, and a control bank, in the working folder."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "sums.jsonl", [parent_line(number) for number in range(6)])
    write_lines(tmp_path / "control.jsonl", [control_line(number) for number in range(4)])
    return tmp_path


def _open(files: Path) -> Path:
    arguments = ["--frame", "sums.jsonl", "--sample", "4", "--rewrites", "sums.jsonl", "--control", "control.jsonl"]
    assert run(["audit", "new", "a", *arguments]) == 0
    (files / "a" / "audit.toml").write_text(PLAN + CONTROL, encoding="utf-8")
    return files / "a"


def test_an_audit_goes_from_a_frame_to_a_verified_lock(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb says what the next one needs."""
    _open(files)
    assert run(["audit", "check", "a"]) == 0
    assert run(["audit", "review", "a", "--accept", "c0/fresh-1", "--by", "Ana"]) == 0
    assert run(["audit", "lock", "a"]) == 0
    head = capsys.readouterr().out.splitlines()[-1]
    assert run(["audit", "amend", "a", "--set", "decoding.token_count_max=1024", "--reason", "cut off"]) == 0
    assert run(["audit", "show", "a", "--head", head, "--json"]) == 0
    out = capsys.readouterr().out
    shown = json.loads(out[out.index("{") :])
    assert shown["is_locked"]
    assert [entry["kind"] for entry in shown["ledger"]] == ["draw", "lock", "amendment"]
    assert shown["registration"]["reviewed_form_count"] == 1
    assert shown["registration"]["control"]["parent_count"] == 4


def test_new_draws_and_says_what_to_fill_in(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder is named after the frame where nobody names one."""
    assert run(["audit", "new", "--frame", "sums.jsonl", "--sample", "4", "--seed", "3", "--deep", "1"]) == 0
    assert "4 of 6 parents drawn with seed 3" in capsys.readouterr().out
    assert (files / "sums-audit" / "private" / "bank.jsonl").exists()


@pytest.mark.parametrize(
    ("sample", "code"), [(["2", "3"], 2), (["x"], 2), (["easy=1", "easy=2"], 2), (["7"], 2), (["easy=1"], 2)]
)
def test_a_sample_that_cannot_be_drawn_is_usage(files: Path, sample: list[str], code: int) -> None:
    """Nothing is left behind."""
    options = [part for each in sample for part in ("--sample", each)]
    assert run(["audit", "new", "a", "--frame", "sums.jsonl", *options]) == code
    assert not (files / "a").exists()


def test_check_lists_everything_that_the_lock_would_refuse(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bank is repaired in one go, not one refusal at a time."""
    root = _open(files)
    bank = root / "private" / "bank.jsonl"
    lines = [json.loads(each) for each in bank.read_text().splitlines()]
    lines[0]["fresh"][0]["text"] = lines[0]["fresh"][0]["text"].replace("5", "6")
    lines[1]["fresh"][1] = None
    lines[2]["original"]["gold"] = "1"
    write_lines(bank, lines)
    capsys.readouterr()
    assert run(["audit", "check", "a", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {finding["rule"] for finding in found["findings"]} == {"numbers-differ", "form-missing", "gold-differs"}
    assert "the gold answer '1' is not the frame's" in found["obstacles"][0]
    assert run(["audit", "lock", "a"]) == 2


def test_a_look_at_the_packet_keeps_the_filled_in_sheet(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hours of reading stand in it."""
    sheet = _open(files) / "private" / "review.csv"
    assert run(["audit", "review", "a"]) == 0
    written = sheet.read_text(encoding="utf-8").replace(",,", ",accept,", 1)
    sheet.write_text(written, encoding="utf-8")
    capsys.readouterr()
    assert run(["audit", "review", "a"]) == 0
    assert "holds decisions that are not logged, and is left as it is" in capsys.readouterr().err
    assert sheet.read_text(encoding="utf-8") == written
    assert run(["audit", "review", "a", "--sheet", str(sheet), "--by", "Ana"]) == 0
    assert "accept" not in sheet.read_text(encoding="utf-8")


def test_an_argument_that_is_no_text_is_usage(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are not UTF-8 come from the system as lone surrogates, which no file can hold."""
    _open(files)
    assert run(["audit", "review", "a", "--accept", "p0/fresh-1", "--by", "\udcff"]) == 2
    assert "argument 7, '\\udcff', is not UTF-8" in capsys.readouterr().err


def test_check_tells_what_is_left_to_read(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was read is counted, not listed again."""
    bank = _open(files) / "private" / "bank.jsonl"
    lines = [json.loads(each) for each in bank.read_text().splitlines()]
    lines[0]["fresh"][0]["text"] += " There are two of us."
    write_lines(bank, lines)
    form = f"{lines[0]['id']}/fresh-1"
    capsys.readouterr()
    assert run(["audit", "check", "a"]) == 1
    assert f"read: {form}: number-words-differ" in (told := capsys.readouterr().out)
    assert "0 failures, 1 to read; not ready to be locked" in told
    assert run(["audit", "review", "a", "--accept", form, "--by", "Ana"]) == 0
    capsys.readouterr()
    assert run(["audit", "check", "a"]) == 0
    assert capsys.readouterr().out == "0 failures, 0 to read, 1 read; ready to be locked\n"


def test_a_stratified_sample_gets_a_plan_that_can_be_locked(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The default bound has no stratified form."""
    lines = [parent_line(number) | {"stratum": "ab"[number % 2]} for number in range(6)]
    write_lines(files / "strata.jsonl", lines)
    assert run(["audit", "new", "s", "--frame", "strata.jsonl", "--sample", "a=2", "--sample", "b=1"]) == 0
    assert 'bound = "hoeffding"' in (files / "s" / "audit.toml").read_text()
    capsys.readouterr()
    assert run(["audit", "show", "s"]) == 0
    assert "strata     a 2 of 3, b 1 of 3" in capsys.readouterr().out


def test_check_takes_a_bank_and_a_corpus(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Forms are checked while they are written, before there is an audit."""
    assert run(["audit", "check", "sums.jsonl"]) == 0
    (files / "corpus.txt").write_text(parent_line(2)["fresh"][0])
    assert run(["audit", "check", "sums.jsonl", "--corpus", "corpus.txt"]) == 1
    assert "p2/fresh-1: in-corpus" in capsys.readouterr().out


def test_a_filled_in_sheet_is_logged(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rejection stops the lock until the form is another one."""
    root = _open(files)
    assert run(["audit", "review", "a"]) == 0
    sheet = root / "private" / "review.csv"
    rows = list(csv.reader(sheet.open(encoding="utf-8")))
    assert len(rows) == 1 + 2 * 8
    rows[1][1:3] = ["reject", "gives the answer away"]
    with (files / "filled.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run(["audit", "review", "a", "--sheet", "filled.csv", "--by", "Ana"]) == 0
    assert "1 decision logged; 1 of 16 forms read, 1 rejected" in capsys.readouterr().out
    assert run(["audit", "lock", "a"]) == 4
    assert f"form '{rows[1][0]}': rejected in review (gives the answer away)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["check", "nowhere"], 2, "bank 'nowhere' does not exist"),
        (["lock", "."], 2, "'.' is no audit directory"),
        (["review", "a", "--accept", "p0/fresh-9", "--by", "Ana"], 2, "form 'p0/fresh-9' is not under review"),
        (["review", "a", "--accept", "c0/fresh-1", "--reject", "c0/fresh-1", "--by", "Ana"], 2, "is decided twice"),
        (["review", "a", "--accept", "c0/fresh-1"], 2, "no reader is named"),
        (["amend", "a", "--set", "decoding.token_count_max=9", "--reason", "x"], 4, "is not locked"),
        (["amend", "a", "--set", "nothing", "--reason", "x"], 2, "'nothing' is no change"),
        (["show", "a", "--head", "x"], 2, "head 'x' is none"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    """Subject, rule, next step; no traceback."""
    _open(files)
    capsys.readouterr()
    assert run(["audit", *arguments]) == code
    assert message in capsys.readouterr().err


def test_show_finds_a_registration_edited_after_signing(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One byte is enough."""
    root = _open(files)
    assert run(["audit", "lock", "a"]) == 0
    content = bytearray((root / "registration.json").read_bytes())
    content[len(content) // 2] ^= 1
    (root / "registration.json").write_bytes(content)
    assert run(["audit", "show", "a"]) == 1
    assert "registration.json' was changed after it was signed" in capsys.readouterr().err


def test_an_audit_without_its_private_folder_is_verified_too(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stranger gets everything but the forms."""
    root = _open(files)
    assert run(["audit", "lock", "a"]) == 0
    (root / "private").rename(files / "kept")
    assert run(["audit", "show", "a"]) == 0
    assert "verified" in capsys.readouterr().out
