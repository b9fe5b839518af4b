"""Identities are over tensors and meaning, so the same thing has the same name on every machine."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import save_file

from leakscale.adaptation.identity import json_digest, safetensors_digest, tensors_digest


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
