"""A model that cannot be used is refused before any work, with a word on what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from leakscale.adaptation.loading import open_model_folder
from leakscale.errors import ModelError, NotFoundError


@pytest.fixture
def copied(base_model: Path, tmp_path: Path) -> Path:
    """A model folder that a test may damage."""
    return Path(shutil.copytree(base_model, tmp_path / "model"))


def test_folder_without_a_chat_template_is_refused_by_name(copied: Path) -> None:
    """Guessing a template would train on a format that nobody uses at inference."""
    (copied / "chat_template.jinja").unlink()

    with pytest.raises(ModelError, match=rf"'{copied}' has no chat template; use an instruct model, or put"):
        open_model_folder(copied)


@pytest.mark.parametrize(
    ("missing", "rule"),
    [
        ("model.safetensors", r"holds no \*.safetensors"),
        ("config.json", "no config.json"),
        ("tokenizer.json", "no usable tokenizer"),
    ],
)
def test_folder_that_lacks_a_file_is_refused(copied: Path, missing: str, rule: str) -> None:
    """The message names the folder and the file, not a line of somebody else's stack."""
    (copied / missing).unlink()
    if missing == "tokenizer.json":
        (copied / "tokenizer_config.json").unlink()

    with pytest.raises(ModelError, match=rule):
        open_model_folder(copied)


def test_folder_that_does_not_exist_is_not_taken_for_a_hub_id(tmp_path: Path) -> None:
    """A mistyped path must not turn into a network request."""
    with pytest.raises(NotFoundError, match="does not exist"):
        open_model_folder(str(tmp_path / "nothing"))


def test_unknown_dtype_is_refused(base_model: Path) -> None:
    """A quantized dtype would silently change what the identity says."""
    with pytest.raises(ModelError, match="dtype 'int4' is not one of"):
        open_model_folder(base_model).load(dtype="int4", attention="sdpa")


def test_identity_follows_what_a_model_computes_not_how_its_files_are_written(copied: Path) -> None:
    """A rewritten config of the same meaning is the same model; another width is not."""
    before = open_model_folder(copied)
    settings = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(settings | {"transformers_version": "9.9"}))
    same = open_model_folder(copied)
    (copied / "config.json").write_text(json.dumps(settings | {"rope_parameters": {"rope_theta": 5.0}}))
    other = open_model_folder(copied)

    assert same.model_digest == before.model_digest
    assert other.model_digest != before.model_digest
