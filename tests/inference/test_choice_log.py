"""What reached the log is never computed again, and what did not is never trusted."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from leakscale.errors import ConflictError, IntegrityError, StorageFullError
from leakscale.inference.choice_log import ChoiceLog, LoggedChoice

IDENTITY = {"model": "a" * 64, "adapter": None, "bank_seed": 7}


def a_choice(number: int = 0) -> LoggedChoice:
    """Build a valid line."""
    return LoggedChoice(f"f-{number:04d}", "R0", "d" * 64, (0.1, 0.2, 0.3, 0.4), (-1.5, -2.0, -3.0, -0.1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log of three families."""
    log = tmp_path / "bank.jsonl"
    with ChoiceLog(log, IDENTITY) as opened:
        for number in range(3):
            opened.append(a_choice(number))
    return log


def test_log_gives_back_the_same_numbers(path: Path) -> None:
    """Draws are a function of these floats, so not a bit of them may change on the way through JSON."""
    with ChoiceLog(path, IDENTITY) as opened:
        assert list(opened.choices.values()) == [a_choice(number) for number in range(3)]


@pytest.mark.parametrize("kept_bytes", [1, 40, -2])
def test_torn_last_line_is_dropped_and_written_anew(path: Path, kept_bytes: int) -> None:
    """A kill can cut a line anywhere; the family is then simply not in the log."""
    whole = path.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    path.write_bytes(whole[: start + kept_bytes] if kept_bytes > 0 else whole[:kept_bytes])

    with ChoiceLog(path, IDENTITY) as opened:
        assert len(opened.choices) == 2
        opened.append(a_choice(2))

    assert path.read_bytes() == whole


def test_header_torn_by_a_kill_begins_the_log_anew(tmp_path: Path) -> None:
    """The first instant of a run can be its last."""
    log = tmp_path / "bank.jsonl"
    log.write_bytes(b'{"adapter":nu')

    with ChoiceLog(log, IDENTITY) as opened:
        assert opened.choices == {}
    with ChoiceLog(log, IDENTITY) as opened:
        assert opened.choices == {}


@pytest.mark.parametrize("change", [{"model": "b" * 64}, {"adapter": "c" * 64}, {"bank_seed": 8}])
def test_log_of_another_run_is_refused_and_says_what_differs(path: Path, change: dict[str, object]) -> None:
    """Continuing it would mix two models, or two states of one, in a single bank."""
    before = path.read_bytes()

    with pytest.raises(ConflictError, match=rf"begun by another run \({next(iter(change))} .*delete this one"):
        ChoiceLog(path, IDENTITY | change)
    assert path.read_bytes() == before


def test_log_that_is_being_written_is_refused(path: Path) -> None:
    """Two writers would interleave, and a family could come twice."""
    with ChoiceLog(path, IDENTITY), pytest.raises(ConflictError, match="being written by another run"):
        ChoiceLog(path, IDENTITY)


@pytest.mark.parametrize(
    ("line", "rule"),
    [(b"nonsense", "is not JSON"), (b"[]", "is not a JSON object"), (b"{}", "is not a result")],
)
def test_damaged_line_in_the_middle_is_refused(path: Path, line: bytes, rule: str) -> None:
    """Only the last line can be torn by a kill; anything else was not us."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], line + b"\n", *lines[2:]]))

    with pytest.raises(IntegrityError, match=rf"line 3 {rule}"):
        ChoiceLog(path, IDENTITY)


def test_family_answered_twice_is_refused(path: Path) -> None:
    """Which of the two would count?"""
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[1])

    with pytest.raises(IntegrityError, match="answers family 'f-0000' a second time"):
        ChoiceLog(path, IDENTITY)


def test_full_disk_is_named_and_loses_nothing(path: Path) -> None:
    """A file-size limit stands in for the disk: the write fails in the middle of a line, the rerun goes on."""
    whole = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    with ChoiceLog(path, IDENTITY) as opened:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 40, hard))
        try:
            with pytest.raises(StorageFullError, match="no room left to write"):
                opened.append(a_choice(3))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(path.read_bytes()) == len(whole) + 40  # the line is torn

    with ChoiceLog(path, IDENTITY) as opened:
        assert len(opened.choices) == 3
    assert path.read_bytes() == whole
