"""One epoch of LoRA: from a model and a corpus to an adapter folder with its identity.

Source: LeakScale D.3 (one epoch, AdamW, LoRA rank 32 on all linear layers, assistant-only loss).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from leakscale.adaptation.batching import collate, epoch
from leakscale.adaptation.checkpoint import load_checkpoint, remove_checkpoint, save_checkpoint, trainable_tensors
from leakscale.adaptation.completion import Completion, adapter_digest, check_reusable, publish
from leakscale.adaptation.config import AdaptationConfig, AdapterIdentity, AdaptProgress, Diagnostics
from leakscale.adaptation.corpus import Corpus, encode_corpus
from leakscale.adaptation.digests import json_digest
from leakscale.adaptation.loading import ModelFolder, open_model_folder, quiet_libraries, use_threads
from leakscale.adaptation.loss import is_plain_head, supervised_loss
from leakscale.adaptation.probe import adapter_activity
from leakscale.adaptation.storage import full_disk_told_apart
from leakscale.models import TrainingRecord

__all__ = ["adapt", "learning_rate"]

_CHECKPOINT_INTERVAL_S: Final = 15.0
_FLOOR: Final = 0.05
"""Share of the peak learning rate that the last step still has."""

ProgressCallback = Callable[[AdaptProgress], None]


def adapt(
    model: str | Path,
    records: Sequence[TrainingRecord],
    config: AdaptationConfig,
    *,
    output_dir: Path,
    progress: ProgressCallback | None = None,
) -> AdapterIdentity:
    """Train a LoRA adapter on a corpus, or return the one that is there if it came from exactly the same.

    While it runs, its work is in `<output_dir>.partial`; killed at any moment and called again, it goes on at the last
    checkpoint. `output_dir` itself appears complete or not at all.

    Args:
        model: Folder or Hugging Face id of a causal language model with a chat template.
        records: The exposure grant's corpus, in any order.
        config: Everything else that decides the tensors.
        output_dir: Where the adapter goes.
        progress: Called after each optimizer step.

    Raises:
        ModelError: If the model cannot be used, a record cannot be masked, or the adapter turns out inactive.
        InvalidRequestError: If the corpus is empty of exposed records or repeats an id.
        StorageFullError: If the disk is full; nothing that was checkpointed is lost.
        ConflictError: If `output_dir`, or an unfinished run for it, came from something else.
    """
    use_threads(config.thread_count)
    folder = open_model_folder(model)
    corpus = encode_corpus(folder.tokenizer, records)
    wanted = _identity(folder, corpus, config, adapter="")
    if output_dir.exists():
        return check_reusable(output_dir, wanted).identity
    partial = output_dir.with_name(f"{output_dir.name}.partial")
    with full_disk_told_apart(output_dir):
        partial.mkdir(parents=True, exist_ok=True)
        run = _Run(folder, corpus, config, partial, wanted)
        losses = run.train(progress)
        activity = adapter_activity(run.model, corpus.exposed, plain_head=run.plain_head)
        _save_adapter(run.model, partial)
        remove_checkpoint(partial)
        identity = _identity(folder, corpus, config, adapter=adapter_digest(partial))
        publish(partial, output_dir, Completion(identity, config.to_json(), run.diagnostics(losses, activity)))
    return identity


def _identity(folder: ModelFolder, corpus: Corpus, config: AdaptationConfig, *, adapter: str) -> AdapterIdentity:
    return AdapterIdentity(
        model=folder.model_digest,
        tokenizer=folder.tokenizer_digest,
        template=folder.template_digest,
        corpus=corpus.digest,
        config=json_digest(config.to_json()),
        adapter=adapter,
    )


class _Run:
    """Model, plan and optimizer of one epoch."""

    def __init__(
        self, folder: ModelFolder, corpus: Corpus, config: AdaptationConfig, partial: Path, identity: AdapterIdentity
    ) -> None:
        self._config, self._corpus, self._partial, self._identity = config, corpus, partial, identity
        self.model = _with_lora(folder.load(dtype=config.dtype, attention=config.attention), config)
        self._core = cast("PreTrainedModel", self.model.get_base_model())
        self._plan = corpus.plan(config.repeat_count)
        self._batches = epoch(
            [len(record.ids) for record in self._plan], batch_size=config.batch_size, seed=config.seed
        )
        self._trainable = list(trainable_tensors(self.model).values())
        self._optimizer = torch.optim.AdamW(self._trainable, lr=0.0, weight_decay=0.0, fused=True)
        self.plain_head = is_plain_head(self._core, collate(self._plan[:1]))

    def train(self, progress: ProgressCallback | None) -> list[float]:
        """Take every step that is not done yet; return the loss of each step of the epoch."""
        self.model.train()
        losses = load_checkpoint(self._partial, self.model, self._optimizer, self._identity)
        meter, saved_at = _Meter(first_step=len(losses), step_count=len(self._batches)), time.monotonic()
        for step in range(len(losses), len(self._batches)):
            loss, token_count = self._step(step)
            losses.append(loss)
            if progress is not None:
                progress(meter.after(step, loss, token_count))
            if time.monotonic() - saved_at > _CHECKPOINT_INTERVAL_S:
                save_checkpoint(self._partial, self.model, self._optimizer, losses, self._identity)
                saved_at = time.monotonic()
        self.model.eval()
        return losses

    def _step(self, step: int) -> tuple[float, int]:
        batch = collate([self._plan[index] for index in self._batches[step]])
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(step, len(self._batches), self._config)
        loss = supervised_loss(self._core, batch, plain_head=self.plain_head)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._trainable, self._config.gradient_norm_max)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return loss.item(), batch.token_count

    def diagnostics(self, losses: list[float], activity: float) -> Diagnostics:
        """Sum up a finished epoch."""
        tail = losses[-max(1, len(losses) // 10) :]
        return Diagnostics(
            record_count=len(self._corpus.records),
            step_count=len(losses),
            token_count=sum(len(record.ids) for record in self._plan),
            supervised_token_count=sum(len(record.completion_ids) for record in self._plan),
            loss_last=sum(tail) / len(tail),
            activity=activity,
        )


class _Meter:
    """Speed and time left, from the steps this process took."""

    def __init__(self, *, first_step: int, step_count: int) -> None:
        self._first, self._count, self._began, self._tokens = first_step, step_count, time.monotonic(), 0

    def after(self, step: int, loss: float, token_count: int) -> AdaptProgress:
        self._tokens += token_count
        elapsed = time.monotonic() - self._began
        return AdaptProgress(
            step=step + 1,
            step_count=self._count,
            loss=loss,
            tokens_per_s=self._tokens / elapsed,
            seconds_left=elapsed / (step + 1 - self._first) * (self._count - step - 1),
        )


def learning_rate(step: int, step_count: int, config: AdaptationConfig) -> float:
    """Return the rate of a 0-based step: linear warm-up times a linear fall to a twentieth of the peak."""
    warmup = min(1.0, (step + 1) / config.warmup_step_count) if config.warmup_step_count else 1.0
    return config.learning_rate * warmup * max(_FLOOR, 1 - step / step_count)


def _with_lora(model: PreTrainedModel, config: AdaptationConfig) -> PeftModel:
    torch.manual_seed(config.seed)  # of lora_A; lora_B starts at zero
    lora = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        target_modules=config.target_modules,
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
    )
    with quiet_libraries():
        return cast("PeftModel", get_peft_model(model, lora))


def _save_adapter(model: PeftModel, folder: Path) -> None:
    """Write peft's own files, without what is not the adapter's: a model card and the path of this machine's model."""
    model.save_pretrained(str(folder))
    (folder / "README.md").unlink(missing_ok=True)
    settings_file = folder / "adapter_config.json"
    settings = json.loads(settings_file.read_text(encoding="utf-8"))
    settings["base_model_name_or_path"] = None
    settings_file.write_text(json.dumps(_sorted_lists(settings), indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _sorted_lists(settings: dict[str, object]) -> dict[str, object]:
    """Sort the lists that peft writes out of sets, whose order changes with the hash seed of the process."""
    return {
        name: sorted(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
        for name, value in settings.items()
    }
