"""Give an adapter another strength: a new folder in which lora_B is multiplied by a number, and nothing else differs.

The product of the two factors is what acts on the model, so s · lora_B is the adapter at strength s, and at 0 the base
model exactly. That holds for plain LoRA alone: DoRA renormalises, rsLoRA and bias terms act beside the product.

Source: LeakScale D.3 (LoRA-B is scaled; LoRA-A, alpha and the base weights stay).
"""

from __future__ import annotations

import dataclasses
import math
import shutil
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file, save_file

from leakscale.adaptation.completion import Completion, Scaling, publish, read_completion
from leakscale.adaptation.identity import adapter_digest, adapter_settings, is_lora_b, lora_digests
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, ModelError
from leakscale.whole_files import growing_folder

__all__ = ["check_scalable", "scale_adapter", "scaled_tensor"]

_TENSOR_FILE: Final = "adapter_model.safetensors"
_PLAIN: Final[dict[str, tuple[object, ...]]] = {
    "peft_type": ("LORA",),
    "use_rslora": (False, None),
    "use_dora": (False, None),
    "bias": ("none", None),
    "lora_bias": (False, None),
    "modules_to_save": (None, []),
    "trainable_token_indices": (None, []),
}
"""Settings under which an adapter is its product of factors, and their allowed values."""


def scale_adapter(source: Path, target: Path, strength: float) -> Completion:
    """Write an adapter folder whose lora_B tensors are those of `source` times `strength`.

    `target` appears complete or not at all. If it is there and came from the same source at the same strength, it is
    used again.

    Args:
        source: A folder that `leakscale adapt` completed.
        target: Where the scaled adapter goes.
        strength: At least 0 and finite; 0 is the base model, 1 the adapter itself, above 1 extrapolates.

    Raises:
        InvalidRequestError: If the strength is not a finite number at least 0.
        ModelError: If `source` is no completed adapter, or not a plain LoRA.
        ConflictError: If `source` is itself scaled, or `target` or `<target>.partial` is something else.
        IntegrityError: If anything but lora_B came out different.
    """
    if not (math.isfinite(strength) and strength >= 0):
        raise InvalidRequestError(f"strength {strength!r} is not a finite number at least 0; 1 is the adapter itself")
    completion = read_completion(source)
    check_scalable(source)
    if completion.scaling is not None:
        raise ConflictError(
            f"adapter '{source}' is scaled by {completion.scaling.strength:g} already; scale the one that was trained"
        )
    scaling = Scaling(float(strength), completion.identity.adapter)
    if target.exists():
        return _reusable(target, scaling)
    with growing_folder(target) as fresh:
        _write_scaled(source, fresh, strength)
        identity = dataclasses.replace(completion.identity, adapter=adapter_digest(fresh))
        scaled = dataclasses.replace(completion, identity=identity, scaling=scaling)
        publish(fresh, target, scaled)
    return scaled


def check_scalable(folder: Path) -> None:
    """Refuse an adapter whose strength is not a factor of lora_B.

    Raises:
        ModelError: If it is not a plain LoRA; the message names the setting.
    """
    settings: dict[str, Any] = adapter_settings(folder)
    for name, allowed in _PLAIN.items():
        value = settings.get(name)
        if value not in allowed and name in settings:
            raise ModelError(
                f"adapter '{folder}' has {name} {value!r}, under which its strength is not a factor of lora_B; train a "
                "plain LoRA"
            )


def scaled_tensor(tensor: torch.Tensor, strength: float) -> torch.Tensor:
    """Multiply in float64 and round once to the tensor's own dtype, so that strength 1 changes no bit."""
    return (tensor.double() * strength).to(tensor.dtype)


def _write_scaled(source: Path, partial: Path, strength: float) -> None:
    tensors = load_file(source / _TENSOR_FILE)
    scaled = {name: scaled_tensor(tensor, strength) if is_lora_b(name) else tensor for name, tensor in tensors.items()}
    save_file(scaled, partial / _TENSOR_FILE, metadata={"format": "pt"})
    shutil.copyfile(source / "adapter_config.json", partial / "adapter_config.json")
    if lora_digests(source)[1] != lora_digests(partial)[1] or adapter_settings(source) != adapter_settings(partial):
        raise IntegrityError(f"scaling '{source}' changed more than lora_B; this is a fault of leakscale, report it")


def _reusable(target: Path, scaling: Scaling) -> Completion:
    found = read_completion(target)
    if found.scaling != scaling:
        other = f"strength {found.scaling.strength:g}" if found.scaling else "no strength of its own"
        raise ConflictError(
            f"adapter '{target}' is there with {other} or from another adapter; choose another output, or delete it"
        )
    return found
