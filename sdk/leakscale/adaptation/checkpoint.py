"""Resume a killed training run at an optimizer step.

Record order and rates are functions of the step, and there is no dropout; so adapter tensors, optimizer state and the
step are all there is to restore, and the resumed run ends in the same bits.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from peft import PeftModel

from leakscale.adaptation.config import AdapterIdentity
from leakscale.errors import ConflictError

__all__ = ["load_checkpoint", "remove_checkpoint", "save_checkpoint", "trainable_tensors"]

_FILE: Final = "checkpoint.pt"


def trainable_tensors(model: PeftModel) -> dict[str, torch.nn.Parameter]:
    """Return the adapter's parameters by name."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def save_checkpoint(
    folder: Path, model: PeftModel, optimizer: torch.optim.Optimizer, losses: list[float], identity: AdapterIdentity
) -> None:
    """Replace the checkpoint of a partial folder atomically."""
    state = {
        "identity": asdict(identity),
        "losses": losses,
        "tensors": {name: parameter.detach() for name, parameter in trainable_tensors(model).items()},
        "optimizer": optimizer.state_dict(),
    }
    fresh = folder / f"{_FILE}.new"
    torch.save(state, fresh)
    os.replace(fresh, folder / _FILE)  # noqa: PTH105  one word for what it is


def load_checkpoint(
    folder: Path, model: PeftModel, optimizer: torch.optim.Optimizer, identity: AdapterIdentity
) -> list[float]:
    """Restore a checkpoint and return the losses of the steps done; an empty list when no readable one is there.

    Raises:
        ConflictError: If it belongs to another model, corpus or config.
    """
    try:
        state: dict[str, Any] = torch.load(folder / _FILE, weights_only=True)
    except (OSError, EOFError, RuntimeError, pickle.UnpicklingError):  # none there, or torn by a power cut
        return []
    asked = asdict(identity)
    differing = [name for name in asked if asked[name] != state["identity"][name]]
    if differing:
        raise ConflictError(
            f"'{folder}' is an unfinished run with another {', '.join(differing)}; delete it, or choose another output"
        )
    with torch.no_grad():
        for name, parameter in trainable_tensors(model).items():
            parameter.copy_(state["tensors"][name])
    optimizer.load_state_dict(state["optimizer"])
    losses: list[float] = state["losses"]
    return losses


def remove_checkpoint(folder: Path) -> None:
    """Forget the checkpoint; the finished adapter does not carry it."""
    (folder / _FILE).unlink(missing_ok=True)
    (folder / f"{_FILE}.new").unlink(missing_ok=True)
