"""A study that takes seconds, and one finished run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leakscale.evidence.layout import EvidenceLayout

from .evidence_trees import writable
from .helpers import demo, write_study


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shapes of four families a cell, the tiny model, two epochs."""
    return write_study(tmp_path_factory.mktemp("study") / "small.toml")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, small_study: Path) -> Path:
    """The directory of a run that nothing interrupted. Tests look at it and change nothing."""
    directory = tmp_path_factory.mktemp("finished") / "run"
    done = demo("--json", "--study", str(small_study), "--out", str(directory))
    assert done.returncode == 0, done.stderr
    (directory.parent / "stdout").write_text(done.stdout)
    return directory


@pytest.fixture(scope="session")
def summary(finished: Path) -> dict[str, Any]:
    """Its numbers."""
    found: dict[str, Any] = json.loads((finished / "summary.json").read_text())
    return found


@pytest.fixture(scope="session")
def tree(finished: Path) -> Path:
    """The tree of the finished study. Tests look at it and change nothing."""
    return finished / "evidence"


@pytest.fixture
def copy(tree: Path, tmp_path: Path) -> EvidenceLayout:
    """A copy that may be changed."""
    return EvidenceLayout(writable(tree, tmp_path / "evidence"))
