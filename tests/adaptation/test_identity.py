"""Identities are over tensors and meaning, so the same thing has the same name on every machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from leakscale.adaptation.identity import adapter_digest, json_digest, lora_digests, safetensors_digest, tensors_digest
from leakscale.errors import ModelError


def test_digest_does_not_depend_on_shards_or_metadata(tmp_path: Path) -> None:
    """Large models come in shards whose borders say nothing about the model."""
    one, two = torch.arange(6.0).reshape(2, 3), torch.ones(4, dtype=torch.bfloat16)
    save_file({"a": one, "b": two}, tmp_path / "whole.safetensors", metadata={"format": "pt"})
    save_file({"b": two}, tmp_path / "part-1.safetensors")
    save_file({"a": one}, tmp_path / "part-2.safetensors")

    whole = safetensors_digest([tmp_path / "whole.safetensors"])

    assert whole == safetensors_digest(sorted(tmp_path.glob("part-*.safetensors")))
    assert whole == tensors_digest([("a", one), ("b", two)])


def test_digest_tells_apart_shape_dtype_name_and_bits() -> None:
    """Equal bytes under another shape are another tensor."""
    base = torch.zeros(2, 3)
    variants = [
        [("a", base)],
        [("b", base)],
        [("a", base.reshape(3, 2))],
        [("a", base.to(torch.int32))],
        [("a", -base)],
        [("a", torch.tensor(0.0))],
    ]

    assert len({tensors_digest(variant) for variant in variants}) == len(variants)


def test_json_digest_ignores_key_order() -> None:
    """peft writes its settings in an order that changes with the hash seed of the process."""
    assert json_digest({"a": 1, "b": [2, 3]}) == json_digest({"b": [2, 3], "a": 1})
    assert json_digest({"a": 1}) != json_digest({"a": 1.5})


def test_adapter_is_the_same_whoever_wrote_it_and_another_under_another_alpha(tmp_path: Path) -> None:
    """peft writes lists out of sets and the path of the model; neither says what the adapter does, and alpha does."""
    plain = an_adapter(tmp_path / "plain", target_modules=["q_proj", "v_proj"], base_model_name_or_path="/home/a")
    moved = an_adapter(tmp_path / "moved", target_modules=["v_proj", "q_proj"], base_model_name_or_path="/home/b")
    louder = an_adapter(tmp_path / "louder", target_modules=["q_proj", "v_proj"], lora_alpha=64)

    assert adapter_digest(plain) == adapter_digest(moved)
    assert adapter_digest(plain) != adapter_digest(louder)
    assert lora_digests(plain) == lora_digests(louder)


@pytest.mark.parametrize("missing", ["adapter_config.json", "adapter_model.safetensors"])
def test_folder_that_is_no_adapter_is_refused_by_the_file_it_lacks(tmp_path: Path, missing: str) -> None:
    """An empty set of tensors has a digest too, and two of them would be equal."""
    folder = an_adapter(tmp_path / "a")
    (folder / missing).unlink()

    with pytest.raises(ModelError, match=missing):
        adapter_digest(folder)


@pytest.mark.parametrize("byte_count", [0, 4, 60, 130])
def test_file_that_broke_off_is_refused_by_its_name(tmp_path: Path, byte_count: int) -> None:
    """A copy over a network that stopped anywhere."""
    folder = an_adapter(tmp_path / "a")
    weights = folder / "adapter_model.safetensors"
    assert weights.stat().st_size > byte_count
    weights.write_bytes(weights.read_bytes()[:byte_count])

    with pytest.raises(ModelError, match=r"adapter_model\.safetensors' is no whole safetensors file"):
        adapter_digest(folder)


def an_adapter(folder: Path, **settings: object) -> Path:
    """Write an adapter of one module."""
    folder.mkdir()
    tensors = {f"q_proj.lora_{factor}.weight": torch.ones(2, 2) for factor in "AB"}
    save_file(tensors, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"lora_alpha": 32, **settings}))
    return folder
