"""Parts of the importers: prompts without their words, archives, marks, and the command."""

from __future__ import annotations

import json
import math
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.log_builders import LOGS, SCORES, inspect_log, inspect_logs, run_import, the_bank

from leakscale.audit.importers import LogPaths, Selection, import_scores, save_import
from leakscale.audit.importers.archives import open_archive
from leakscale.audit.importers.marks import score_of
from leakscale.audit.importers.prompts import prompt_frame
from leakscale.audit.scores import ScoreTable
from leakscale.errors import ConflictError, InvalidRequestError

WORDS = st.text(st.characters(categories=["L", "N"], include_characters=' "\n\\'), min_size=1, max_size=40)


@given(before=WORDS, first=WORDS.filter(str.strip), second=WORDS.filter(str.strip), after=WORDS)
def test_two_forms_in_one_template_leave_the_same_frame(before: str, first: str, second: str, after: str) -> None:
    """Whatever the words are, as long as the template does not hold them itself."""
    slotted = f"<{before}|\0|{after}>"
    frames = set()
    for words in (first.strip(), second.strip()):
        if words in slotted:
            return
        frames.add(prompt_frame(slotted.replace("\0", words), f" {words}\n"))
    assert len(frames) == 1


@given(words=WORDS.filter(str.strip))
def test_words_are_found_in_json_too(words: str) -> None:
    """Quotes, line ends and letters beyond ASCII are written otherwise there."""
    for ensure_ascii in (True, False):
        prompt = json.dumps([{"role": "user", "content": f"<<<{words}>>>"}], ensure_ascii=ensure_ascii)
        frame = prompt_frame(prompt, words)
        assert frame is not None
        assert "□" in frame


def test_an_item_among_its_own_examples_leaves_another_frame() -> None:
    """The original would then be shown with its answer, and no fresh form is."""
    example = "Q: What is 1 + 1? A: 2 "
    assert prompt_frame(f"{example}Q: What is 1 + 1? A:", "What is 1 + 1?") == "Q: □ A: 2 Q: □ A:"
    assert prompt_frame(f"{example}Q: What is 1 + 1? A:", "What is 1 + 1?") != prompt_frame(
        f"{example}Q: Add 1 to 1. A:", "Add 1 to 1."
    )
    assert prompt_frame("Q: other A:", "What is 1 + 1?") is None
    assert prompt_frame("Q:  A:", "  ") is None


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (1, 1),
        (0.25, 0.25),
        (True, 1),
        ("C", 1),
        ("I", 0),
        ("P", 0.5),
        ("N", 0),
        ("yes", 1),
        ("False", 0),
        (" 0.5 ", 0.5),
    ],
)
def test_marks_are_scores(value: Any, score: float) -> None:
    """Tools write right and wrong in many ways."""
    assert score_of(value, subject="x") == score


@pytest.mark.parametrize("value", [None, "", "nan", math.nan])
def test_no_mark_is_no_score(value: Any) -> None:
    """Missing is not wrong."""
    assert score_of(value, subject="x") is None


@pytest.mark.parametrize("value", ["E", "right", [1], {}, object()])
def test_an_unknown_mark_is_refused(value: Any) -> None:
    """Counting it as wrong would be a guess."""
    with pytest.raises(InvalidRequestError, match=r"x is .*, which is no score"):
        score_of(value, subject="x")


@given(content=st.binary(max_size=4096), method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_members_are_read_as_zipfile_reads_them(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, method: int
) -> None:
    """The reader goes past the standard library for the sake of one method; the others must not suffer."""
    path = tmp_path_factory.mktemp("zip") / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("samples/ä.json", content)
    with open_archive(path) as members:
        assert members.names(under="samples") == ["samples/ä.json"]
        assert members.read("samples/ä.json") == content


def test_a_damaged_archive_never_gives_other_bytes(tmp_path: Path) -> None:
    """Each byte of a real log turned over in turn: refused, or (in a date, say) read as it was."""
    source = inspect_log("original").read_bytes()
    with open_archive(inspect_log("original")) as members:
        names = members.names(under="samples")
        before = {name: members.read(name) for name in names}
    path = tmp_path / "a.eval"
    refused = 0
    for place in range(0, len(source), 97):
        damaged = bytearray(source)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            with open_archive(path) as members:
                found = {name: members.read(name) for name in members.names(under="samples")}
        except InvalidRequestError:
            refused += 1
            continue
        assert all(before[name] == content for name, content in found.items() if name in before)
    assert refused > 50


def test_a_member_that_declares_less_than_it_holds_is_refused(tmp_path: Path) -> None:
    """A bomb declares a kilobyte and unpacks to gigabytes; at most one byte more than declared is unpacked."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/a.json", b"0" * 1_000_000)
    content = path.read_bytes()
    assert content.count(struct.pack("<I", 1_000_000)) == 2
    path.write_bytes(content.replace(struct.pack("<I", 1_000_000), struct.pack("<I", 1_000)))
    with open_archive(path) as members:
        tracemalloc.start()
        with pytest.raises(InvalidRequestError, match=r"'samples/a\.json' is damaged"):
            members.read("samples/a.json")
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak_bytes < 500_000


def test_a_member_that_declares_too_much_is_not_unpacked(tmp_path: Path) -> None:
    """Memory for it would be taken before anything is checked."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/a.json", b"0" * 1_000_000)
    content = path.read_bytes().replace(struct.pack("<I", 1_000_000), struct.pack("<I", 3_000_000_000))
    path.write_bytes(content)
    with open_archive(path) as members, pytest.raises(InvalidRequestError, match="has 3,000,000,000 bytes, at most"):
        members.read("samples/a.json")


def test_an_import_is_not_made_twice_with_other_scores(tmp_path: Path) -> None:
    """Whoever may import twice may keep the better one; importing the same again is harmless."""
    path = tmp_path / "scores" / "m.jsonl"
    first = import_scores(inspect_logs(), Selection("match"), bank=the_bank())
    save_import(first, path)
    record = save_import(first, path)

    assert ScoreTable.from_jsonl(path) == first.table
    assert json.loads(record.read_text())["digest"] == first.table.digest
    with pytest.raises(ConflictError, match="holds other scores"):
        save_import(import_scores(inspect_logs(), Selection("match"), state="adapted", bank=the_bank()), path)


def three_logs() -> list[str]:
    """Return the options that name the logs."""
    paths: LogPaths = inspect_logs()
    return ["--original", str(paths.original), *(part for path in paths.fresh for part in ("--fresh", str(path)))]


def test_the_command_writes_scores_and_says_what_it_saw(tmp_path: Path) -> None:
    """Scores on disk, notes on stderr, one summary on stdout."""
    out = tmp_path / "scores.jsonl"
    outcome = run_import("--metric", "match", "--bank", str(LOGS / "bank.jsonl"), "--out", str(out), *three_logs())

    assert outcome.exit_code == 0, outcome.output
    assert ScoreTable.from_jsonl(out).scores.tolist() == SCORES
    assert "4 parents, original and 2 fresh forms" in outcome.stdout
    assert "1 of 4 answers to form original were cut" in outcome.stderr


def test_the_command_prints_json_on_request(tmp_path: Path) -> None:
    """Programs read what people read."""
    out = tmp_path / "scores.jsonl"
    outcome = run_import("--metric", "match", "--out", str(out), *three_logs(), as_json=True)
    record = json.loads(outcome.stdout)

    assert record["parent_count"] == 4
    assert record["files"] == [str(out), str(tmp_path / "scores.import.json")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "pass --out"),
        (("--out", "a", "--audit", "b"), "pass --out"),
        (("--audit", "b"), "--audit with --model"),
        (("--audit", "b", "--model", "m", "--bank", "c"), "pass --out and perhaps --bank, or --audit"),
        (("--out", "a", "--kind", "percent"), "kind is 'percent'"),
    ],
)
def test_the_command_refuses_what_does_not_fit_together(arguments: tuple[str, ...], message: str) -> None:
    """Before any log is read."""
    outcome = run_import("--metric", "match", *arguments)

    assert outcome.exit_code == 2
    assert message in " ".join(outcome.output.replace("│", " ").split())


def test_the_page_prints_what_it_says(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An example that does not run costs a reader an hour."""
    root = LOGS.parents[2]
    blocks = (root / "docs" / "audit-logs.md").read_text(encoding="utf-8").split("```")
    code = next(block.removeprefix("python\n") for block in blocks if block.startswith("python\n"))
    text = next(block.removeprefix("text\n") for block in blocks if block.startswith("text\n"))
    monkeypatch.chdir(root)
    exec(code, {})

    assert capsys.readouterr().out == text
