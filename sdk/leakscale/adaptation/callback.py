"""Watch the effect grow while a model is trained: a transformers callback, for our loop and for anybody's Trainer.

    trainer.add_callback(EffectCallback(development, log=Path("effect.jsonl"), every_step_count=50))
    adapt(..., hook=EffectCallback(development, log=Path("effect.jsonl"), every_step_count=50).hook)

It measures before the first step, at every so many, and after the last, on development families only. Measuring reads
the model and draws no random number, so the adapter is the same with the callback and without.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from peft import PeftModel
from transformers import PreTrainedModel, TrainerCallback, TrainerControl, TrainerState

from leakscale.adaptation.development import Accuracy, Development
from leakscale.errors import InvalidRequestError
from leakscale.reading import parse_json

__all__ = ["EffectAtStep", "EffectCallback"]


@dataclass(frozen=True, slots=True)
class EffectAtStep:
    """The effect after some optimizer steps; shares in [0, 1]."""

    step: int
    """0: before the first."""
    control: float
    exposed: float
    effect: float
    """Change of the exposed families minus the control's, against the model with its adapter off."""


class EffectCallback(TrainerCallback):
    """Measure the effect at checkpoints on development families."""

    def __init__(self, development: Development, *, log: Path | None = None, every_step_count: int) -> None:
        """Set up.

        Args:
            development: Families that are not reported.
            log: JSON lines, one a measurement, appended; a step that is in it already is not measured again.
            every_step_count: Optimizer steps between two measurements, at least 1.

        Raises:
            InvalidRequestError: If `every_step_count` is below 1.
        """
        if every_step_count < 1:
            raise InvalidRequestError(f"every_step_count {every_step_count} is below 1; give a number of steps")
        self._development, self._log, self._every = development, log, every_step_count
        self._base: Accuracy | None = None
        self.effects: list[EffectAtStep] = _read(log)
        """Every measurement so far, by rising step."""

    def hook(self, step: int, step_count: int, model: PeftModel) -> None:
        """Be called by `leakscale.adaptation.adapt` with the steps that are done."""
        is_due = step % self._every == 0 or step == step_count
        if is_due and step not in {effect.step for effect in self.effects}:
            self._measure(step, model)

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Measure before the first step of a Trainer."""
        self._from_trainer(state, kwargs["model"])

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Measure after a step of a Trainer, if it is due."""
        self._from_trainer(state, kwargs["model"])

    def _from_trainer(self, state: TrainerState, model: PeftModel) -> None:
        was_training = model.training
        self.hook(state.global_step, state.max_steps, model)
        model.train(was_training)

    def _measure(self, step: int, model: PeftModel) -> None:
        core = cast("PreTrainedModel", model.get_base_model())
        now = self._development.accuracy(core)
        if self._base is None:
            with model.disable_adapter():
                self._base = self._development.accuracy(core)
        effect = now.exposed - self._base.exposed - (now.control - self._base.control)
        self.effects.append(EffectAtStep(step, now.control, now.exposed, effect))
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(self.effects[-1])) + "\n")


def _read(log: Path | None) -> list[EffectAtStep]:
    """Read what an interrupted run measured; a last line that broke off is measured again."""
    if log is None or not log.exists():
        return []
    *whole, broken = log.read_text(encoding="utf-8").split("\n")
    if broken:
        log.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
    return [EffectAtStep(**parse_json(line)) for line in whole]
