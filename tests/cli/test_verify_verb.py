"""`leakscale verify DIR` says what it was given before it asks for more."""

from __future__ import annotations

from pathlib import Path

import pytest

from leakscale.cli.entry import run


@pytest.mark.parametrize("options", [[], ["--public-key", "0" * 64]])
def test_a_path_that_is_not_there_is_said_to_be_missing(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A typing error is no reason to look for a key."""
    assert run(["verify", "nosuch", *options]) == 2

    assert capsys.readouterr().err.startswith("error: 'nosuch' does not exist; name a study, its evidence, or what")


def test_a_folder_of_something_else_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a key it would fail check after check, and none would say why."""
    assert run(["verify", str(tmp_path)]) == 2

    assert "holds neither evidence nor an export; name a study" in capsys.readouterr().err


def test_an_export_needs_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The one in the directory is whoever's wrote it."""
    (tmp_path / "head.json").write_text("{}")

    assert run(["verify", str(tmp_path)]) == 2

    assert "an export is checked against the server's key" in capsys.readouterr().err
