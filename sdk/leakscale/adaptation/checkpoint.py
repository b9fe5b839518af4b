"""Resume a killed training run at an optimizer step.

Record order and rates are functions of the step, and there is no dropout; so adapter tensors, optimizer state and the
step are all there is to restore, and the resumed run ends in the same bits.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from peft import PeftModel

from leakscale.adaptation.completion import differences
from leakscale.adaptation.config import AdapterIdentity
from leakscale.adaptation.sealed_state import load_state, save_state
from leakscale.errors import ConflictError
from leakscale.training_files import CHECKPOINT_FILE

__all__ = ["CHECKPOINT_INTERVAL_S", "Checkpoint", "trainable_tensors"]

CHECKPOINT_INTERVAL_S: Final = 15.0
"""Least time between two checkpoints."""
_SHARE_MAX: Final = 0.05
"""Most of the time that may go into writing them: an adapter of 31 billion parameters takes seconds to write."""


def trainable_tensors(model: PeftModel) -> dict[str, torch.nn.Parameter]:
    """Return the adapter's parameters by name."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


class Checkpoint:
    """The state of one run in its partial folder."""

    def __init__(
        self,
        folder: Path,
        identity: AdapterIdentity,
        config: dict[str, Any],
        *,
        interval_s: float = CHECKPOINT_INTERVAL_S,
    ) -> None:
        """Bind the file to what the run comes from; `interval_s` 0 writes it after each step."""
        self._folder, self._identity, self._config, self._interval_s = folder, identity, config, interval_s
        self._due = time.monotonic() + interval_s

    def save(
        self, model: PeftModel, optimizer: torch.optim.Optimizer, losses: list[float], *, at_once: bool = False
    ) -> None:
        """Replace the file atomically, if the last one is old enough or it must be done at once."""
        start = time.monotonic()
        if start < self._due and not at_once:
            return
        state = {
            "identity": asdict(self._identity),
            "config": self._config,
            "losses": losses,
            "tensors": {name: parameter.detach() for name, parameter in trainable_tensors(model).items()},
            "optimizer": optimizer.state_dict(),
        }
        save_state(state, self._folder / CHECKPOINT_FILE)
        now = time.monotonic()
        self._due = now + max(self._interval_s, (now - start) / _SHARE_MAX if self._interval_s else 0)

    def load(self, model: PeftModel, optimizer: torch.optim.Optimizer) -> list[float]:
        """Restore it and return the losses of the steps done; an empty list when there is none.

        Raises:
            IntegrityError: If it is not as it was written; it is never used then, nor passed over.
            ConflictError: If it belongs to another model, corpus or config; the message names which.
        """
        state = load_state(self._folder / CHECKPOINT_FILE)
        if state is None:
            return []
        found = AdapterIdentity(**state["identity"])
        differing = differences(found, self._identity, state["config"], self._config)
        if differing:
            raise ConflictError(
                f"'{self._folder}' is an unfinished run with another {', '.join(differing)}; delete it, or choose "
                "another output"
            )
        with torch.no_grad():
            for name, parameter in trainable_tensors(model).items():
                parameter.copy_(state["tensors"][name])
        optimizer.load_state_dict(state["optimizer"])
        losses: list[float] = state["losses"]
        return losses
