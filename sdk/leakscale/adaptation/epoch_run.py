"""One epoch of optimizer steps over a planned corpus, resumable at any of them.

The order of the records and the rate of a step are functions of the step, and there is no dropout, so a run that is
killed and goes on ends in the same bits as one that is not.

Source: LeakScale D.3 (one epoch, fused AdamW, gradient accumulation).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Final, cast

import torch
from peft import PeftModel
from transformers import PreTrainedModel

from leakscale.adaptation.batching import collate, epoch, micro_batches
from leakscale.adaptation.checkpoint import Checkpoint, trainable_tensors
from leakscale.adaptation.config import AdaptationConfig, AdaptProgress
from leakscale.adaptation.interruption import Note, interruptions_put_off
from leakscale.adaptation.loss import is_plain_head, supervised_loss
from leakscale.adaptation.rendering import EncodedRecord

__all__ = ["EpochRun", "ProgressCallback", "StepHook", "learning_rate"]

_FLOOR: Final = 0.05
"""Share of the peak learning rate that the last step still has."""

ProgressCallback = Callable[[AdaptProgress], None]
StepHook = Callable[[int, int, PeftModel], None]
"""Called with the steps done, their total and the model: before the first step of a process and after each."""


class EpochRun:
    """Model, plan and optimizer of one epoch."""

    def __init__(self, model: PeftModel, plan: Sequence[EncodedRecord], config: AdaptationConfig) -> None:
        """Plan the steps.

        Args:
            model: With a fresh adapter, on its device.
            plan: Records of the epoch, repeats written out.
            config: With nothing left at `auto`.
        """
        self.model, self._plan, self._config = model, plan, config
        self._core = cast("PreTrainedModel", model.get_base_model())
        self._device = torch.device(config.device)
        self._batches = epoch([len(record.ids) for record in plan], batch_size=config.batch_size, seed=config.seed)
        self._trainable = list(trainable_tensors(model).values())
        self._optimizer = torch.optim.AdamW(self._trainable, lr=0.0, weight_decay=0.0, fused=True)
        self.plain_head = is_plain_head(self._core, collate(plan[:1]).to(self._device))
        if config.gradient_checkpointing:
            self._core.activation_checkpointing_enable({"use_reentrant": False})

    @property
    def step_count(self) -> int:
        """Optimizer steps of the epoch."""
        return len(self._batches)

    def train(
        self,
        checkpoint: Checkpoint,
        *,
        progress: ProgressCallback | None = None,
        hook: StepHook | None = None,
        note: Note | None = None,
    ) -> list[float]:
        """Take every step that is not done yet; return the loss of each step of the epoch.

        Ctrl-C and SIGTERM wait until the step they meet is in the checkpoint, and `note` is told so.
        """
        losses = checkpoint.load(self.model, self._optimizer)
        token_counts = [sum(len(self._plan[index].ids) for index in batch) for batch in self._batches]
        meter = _Meter(token_counts, first_step=len(losses))
        if hook is not None:
            hook(len(losses), self.step_count, self.model)
        self.model.train()
        with interruptions_put_off(note) as interruption:
            for step in range(len(losses), self.step_count):
                losses.append(self._step(step))
                if hook is not None:
                    self.model.eval()
                    hook(step + 1, self.step_count, self.model)
                    self.model.train()
                if progress is not None:
                    progress(meter.after(step, losses[-1]))
                # The last one too: what comes after the epoch takes a while for a large model.
                is_final = interruption.signal_number is not None or step + 1 == self.step_count
                checkpoint.save(self.model, self._optimizer, losses, at_once=is_final)
                interruption.pass_on(f"training is kept up to step {step + 1} of {self.step_count}")
        self.model.eval()
        return losses

    def _step(self, step: int) -> float:
        """Take one optimizer step on the mean loss over all supervised tokens of its records, in one pass or more."""
        records = [self._plan[index] for index in self._batches[step]]
        passes = micro_batches(records, self._config.micro_batch_size)
        supervised_count = sum(batch.supervised_count for batch in passes)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(step, self.step_count, self._config)
        loss = torch.zeros((), device=self._device)
        for batch in passes:
            mean = supervised_loss(self._core, batch.to(self._device), plain_head=self.plain_head)
            part = mean * (batch.supervised_count / supervised_count)
            part.backward()  # type: ignore[no-untyped-call]
            loss += part.detach()
        torch.nn.utils.clip_grad_norm_(self._trainable, self._config.gradient_norm_max)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return loss.item()


class _Meter:
    """Speed and time left, from the steps this process took."""

    def __init__(self, token_counts: Sequence[int], *, first_step: int) -> None:
        self._totals = list(itertools.accumulate(token_counts, initial=0))
        self._first, self._began = self._totals[first_step], time.monotonic()

    def after(self, step: int, loss: float) -> AdaptProgress:
        """Describe the run after a 0-based step. Time left goes by tokens: batches are of unlike lengths."""
        done, total = self._totals[step + 1], self._totals[-1]
        rate = (done - self._first) / (time.monotonic() - self._began)
        return AdaptProgress(
            step=step + 1,
            step_count=len(self._totals) - 1,
            loss=loss,
            token_count=done,
            token_total=total,
            tokens_per_s=rate,
            seconds_left=(total - done) / rate,
        )


def learning_rate(step: int, step_count: int, config: AdaptationConfig) -> float:
    """Return the rate of a 0-based step: linear warm-up times a linear fall to a twentieth of the peak."""
    warmup = min(1.0, (step + 1) / config.warmup_step_count) if config.warmup_step_count else 1.0
    return config.learning_rate * warmup * max(_FLOOR, 1 - step / step_count)
