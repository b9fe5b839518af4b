"""Files that are there whole or not at all, and folders that one process holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from leakscale.errors import ConflictError
from leakscale.whole_files import held, replacing, write_whole


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
