"""What reached the journal is kept, and what did not is never trusted."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path

import pytest

from leakscale.errors import ConflictError, IntegrityError, NotFoundError, StorageFullError
from leakscale.inference.journal import Journal
from leakscale.inference.lines import read_header, read_lines

HEADER = {"format": "test-v1", "engine": {"model": "a" * 64, "adapter": None}, "bank": "b" * 64}


MEND = "restore it"


def opened(path: Path, header: Mapping[str, object] = HEADER) -> Journal:
    return Journal(path, header, mend=MEND, is_stamped=True)


def a_line(number: int = 0) -> dict[str, object]:
    """Build a line with numbers that JSON could spoil."""
    return {"case": number, "guided": [0.1, 0.2, 1 / 3], "text": 'é "quoted" \n'}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of three lines."""
    journal = opened(tmp_path / "bank.jsonl")
    for number in range(3):
        journal.append(a_line(number))
    journal.commit()
    journal.close()
    return journal.path


def test_journal_gives_back_the_same_values(path: Path) -> None:
    """Draws are a function of these floats, so not a bit of them may change on the way through JSON."""
    assert list(read_lines(path, mend=MEND, is_stamped=True)) == [a_line(number) for number in range(3)]
    assert read_header(path, mend=MEND) == HEADER


def test_line_is_on_disk_once_it_is_committed_and_not_before(path: Path) -> None:
    """A group is durable as a whole; what is held is lost with the process, and made again."""
    before = path.read_bytes()
    journal = opened(path)
    journal.append(a_line(3))
    held = path.read_bytes()

    journal.commit()

    journal.close()
    assert held == before
    assert list(read_lines(path, mend=MEND, is_stamped=True))[3:] == [a_line(3)]


@pytest.mark.parametrize("kept_bytes", [1, 40, -2])
def test_torn_last_line_is_dropped(path: Path, kept_bytes: int) -> None:
    """A kill can cut a line anywhere; it is then simply not there."""
    whole = path.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    path.write_bytes(whole[: start + kept_bytes] if kept_bytes > 0 else whole[:kept_bytes])

    opened(path).close()

    assert path.read_bytes() == whole[:start]


def test_header_torn_by_a_kill_begins_the_journal_anew(tmp_path: Path) -> None:
    """The first instant of a run can be its last."""
    path = tmp_path / "bank.jsonl"
    path.write_bytes(b'{"adapter":nu')

    opened(path).close()

    assert read_header(path, mend=MEND) == HEADER
    assert list(read_lines(path, mend=MEND, is_stamped=True)) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"bank": "c" * 64}, r"bank bbbbbbbbbbbb, now cccccccccccc"),
        ({"engine": {"model": "a" * 64, "adapter": "d" * 64}}, r"engine\.adapter none, now dddddddddddd"),
    ],
)
def test_journal_of_another_run_is_refused_and_says_what_differs(
    path: Path, change: dict[str, object], told: str
) -> None:
    """Continuing it would mix two models, or two states of one, in a single bank."""
    before = path.read_bytes()

    with pytest.raises(ConflictError, match=rf"begun by another run \({told}\).*delete this one"):
        opened(path, HEADER | change)
    assert path.read_bytes() == before


def test_journal_that_is_being_written_is_refused(path: Path) -> None:
    """Two writers would interleave, and a case could come twice."""
    journal = opened(path)

    with pytest.raises(ConflictError, match="being written by another run"):
        opened(path)
    journal.close()


@pytest.mark.parametrize("place", range(-40, 0))
def test_any_changed_byte_of_a_line_is_found_with_its_line(path: Path, place: int) -> None:
    """In the values as in the stamp; only the last line can be torn by a kill, anything else was not us."""
    lines = path.read_bytes().splitlines(keepends=True)
    changed = bytearray(lines[2])
    changed[place - 1] ^= 1
    path.write_bytes(b"".join([*lines[:2], changed, *lines[3:]]))

    with pytest.raises(IntegrityError, match=r"bank\.jsonl' line 3 (has digest|carries no stamp).*; restore it"):
        list(read_lines(path, mend=MEND, is_stamped=True))


def test_changed_header_is_damage_and_not_another_run(path: Path) -> None:
    """Telling somebody to choose another place would leave the damage where it is."""
    path.write_bytes(path.read_bytes().replace(b"aaaa", b"aaab", 1))

    with pytest.raises(IntegrityError, match=r"line 1 has digest \w+ and was written with"):
        opened(path)


@pytest.mark.parametrize(("line", "rule"), [(b"nonsense", "is not JSON"), (b"[]", "is not a JSON object")])
def test_line_that_is_no_object_is_refused_where_none_is_stamped(path: Path, line: bytes, rule: str) -> None:
    """Results are derived, and carry no stamps."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], line + b"\n", *lines[2:]]))

    with pytest.raises(IntegrityError, match=rf"line 3 {rule}"):
        list(read_lines(path, mend=MEND, is_stamped=False))


def test_reader_refuses_a_torn_line_and_a_missing_file(path: Path, tmp_path: Path) -> None:
    """A reader has no business mending what a writer left."""
    path.write_bytes(path.read_bytes()[:-2])

    with pytest.raises(IntegrityError, match="line 4 is torn"):
        list(read_lines(path, mend=MEND, is_stamped=True))
    with pytest.raises(NotFoundError, match="does not exist"):
        read_header(tmp_path / "absent.jsonl", mend=MEND)


def test_full_disk_is_named_and_loses_nothing(path: Path) -> None:
    """A file-size limit stands in for the disk: the write fails in the middle of a line, the rerun goes on."""
    whole = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = opened(path)
    journal.append(a_line(3))

    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, hard))
    try:
        with pytest.raises(StorageFullError, match="no room left to write"):
            journal.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    journal.close()
    torn = path.read_bytes()
    opened(path).close()

    assert len(torn) == len(whole) + 20  # the attack happened
    assert path.read_bytes() == whole
