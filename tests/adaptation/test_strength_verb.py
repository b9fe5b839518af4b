"""`leakscale strength scale`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from leakscale.adaptation import read_completion
from leakscale.cli.app import app
from leakscale.errors import InvalidRequestError


def test_scale_writes_an_adapter_and_says_which(adapter: Path, tmp_path: Path) -> None:
    """Its digest is what a bank will record."""
    arguments = ["--json", "strength", "scale", str(adapter), "--strength", "0.5", "--output", str(tmp_path / "half")]

    result = CliRunner().invoke(app, arguments)

    completion = read_completion(tmp_path / "half")
    assert completion.scaling is not None
    assert completion.scaling.source == read_completion(adapter).identity.adapter
    assert json.loads(result.stdout)["identity"] == completion.identity.adapter


def test_scale_refuses_a_negative_strength(adapter: Path, tmp_path: Path) -> None:
    """And writes nothing."""
    arguments = ["strength", "scale", str(adapter), "--strength", "-1", "--output", str(tmp_path / "a")]

    result = CliRunner().invoke(app, arguments)

    assert isinstance(result.exception, InvalidRequestError)
    assert list(tmp_path.iterdir()) == []


def test_candidates_that_are_no_numbers_are_a_usage_error(adapter: Path, tmp_path: Path) -> None:
    """Said before a server is asked or a model is loaded."""
    arguments = ["strength", "choose", "dev", "--model", "tiny", "--adapter", str(adapter), "--request-id", "a"]

    result = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "a"), "--strengths", "0.5;1"])

    assert result.exit_code == 2
    assert "is not a list of numbers" in result.output
