"""Files that are there whole or not at all, and folders that one process holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leakscale.errors import ConflictError
from leakscale.whole_files import WORKSHOP_LOCK, growing_folder, held, replacing, workshop, write_folder, write_whole


def test_a_broken_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A lock, a bank's plan and a table of scores are read by others while they are written."""
    path = tmp_path / "file"
    write_whole(path, b"old")

    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"half")
        raise RuntimeError

    assert path.read_bytes() == b"old"


def test_a_write_makes_its_folder_and_takes_the_name_at_the_end(tmp_path: Path) -> None:
    """Nothing is left beside it."""
    write_whole(tmp_path / "new" / "file", b"whole")

    assert [(path.name, path.read_bytes()) for path in (tmp_path / "new").iterdir()] == [("file", b"whole")]


def test_a_second_holder_is_told_who_has_it(tmp_path: Path) -> None:
    """By the number of the process, which `ps` knows; and it is free again afterwards."""
    lock = tmp_path / "lock"

    with (
        held(lock, subject="folder 'x'", advice="wait for it"),
        pytest.raises(ConflictError, match=r"^folder 'x' is in use by process \d+; wait for it$"),
        held(lock, subject="folder 'x'", advice="wait for it"),
    ):
        pass

    with held(lock, subject="folder 'x'", advice="wait for it"):
        pass


def test_a_folder_grows_beside_its_name_and_leaves_nothing(tmp_path: Path) -> None:
    """Whoever looks at the name meets a whole folder or none."""
    with growing_folder(tmp_path / "made") as fresh:
        (fresh / "one").write_bytes(b"1")
        assert [path.name for path in tmp_path.iterdir()] == ["made.partial"]
        fresh.rename(tmp_path / "made")

    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert (tmp_path / "made" / "one").read_bytes() == b"1"


def test_what_a_killed_call_left_of_a_folder_is_made_anew(tmp_path: Path) -> None:
    """Half of it was from before, and nobody knows which half."""
    with pytest.raises(KeyboardInterrupt), growing_folder(tmp_path / "made") as fresh:
        (fresh / "stale").write_bytes(b"half")
        raise KeyboardInterrupt

    with growing_folder(tmp_path / "made") as fresh:
        assert not list(fresh.iterdir())
        fresh.rename(tmp_path / "made")


def test_unfinished_work_is_there_again_until_it_is_done(tmp_path: Path) -> None:
    """A training goes on at its checkpoint."""
    with pytest.raises(KeyboardInterrupt), workshop(tmp_path / "work") as work:
        (work / "checkpoint").write_bytes(b"step 7")
        raise KeyboardInterrupt

    with workshop(tmp_path / "work") as work:
        assert (work / "checkpoint").read_bytes() == b"step 7"
    assert not work.exists()


def test_an_empty_folder_serves_for_unfinished_work(tmp_path: Path) -> None:
    """So much is left by a kill between making the folder and marking it."""
    (tmp_path / "made.partial").mkdir()

    assert write_folder(tmp_path / "made", {"one": b"1"}, subject="these tables") == (tmp_path / "made" / "one",)


@pytest.mark.parametrize("kind", ["folder", "file", "link to a folder", "link to nothing"])
def test_what_it_did_not_make_is_neither_touched_nor_deleted(tmp_path: Path, kind: str) -> None:
    """`tables.partial` may be the only copy of somebody's notes."""
    place, own = tmp_path / "made.partial", tmp_path / "own"
    own.mkdir()
    (own / "notes").write_bytes(b"mine")
    if kind == "folder":
        own.rename(place)
    elif kind == "file":
        place.write_bytes(b"mine")
    else:
        place.symlink_to(own if kind == "link to a folder" else "nowhere")

    with pytest.raises(ConflictError, match=r"made\.partial' is needed for unfinished work, .*; move it away$"):
        write_folder(tmp_path / "made", {"one": b"1"}, subject="these tables")

    assert not (tmp_path / "made").exists()
    assert place.is_symlink() or place.is_file() or {path.name for path in place.iterdir()} == {"notes"}
    assert not (own / WORKSHOP_LOCK).exists()


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_nothing_is_written_through_a_name_of_ours_that_is_something_else(tmp_path: Path, kind: str) -> None:
    """A folder from somebody else may hold a link under the name of a lock, or of a file that is being written."""
    elsewhere = tmp_path / "elsewhere"
    if kind == "link":
        elsewhere.write_text("mine", encoding="utf-8")
    for name in ("in-use", "table.csv.partial"):
        path = tmp_path / name
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to(elsewhere)
    with (
        pytest.raises((ConflictError, IsADirectoryError)),
        held(tmp_path / "in-use", subject="audit", advice="wait"),
    ):
        pass
    with pytest.raises((ConflictError, IsADirectoryError)):
        write_whole(tmp_path / "table.csv", b"x")
    assert elsewhere.exists() is (kind == "link")
    assert kind != "link" or elsewhere.read_text(encoding="utf-8") == "mine"
