"""From a model and a corpus to an adapter folder with its identity.

Source: LeakScale D.3 (one epoch, AdamW, LoRA rank 32 on all linear layers, assistant-only loss).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from leakscale.adaptation.checkpoint import CHECKPOINT_INTERVAL_S, Checkpoint
from leakscale.adaptation.completion import Completion, check_reusable, publish
from leakscale.adaptation.config import AdaptationConfig, AdapterIdentity, Diagnostics
from leakscale.adaptation.corpus import Corpus, encode_corpus
from leakscale.adaptation.corpus_check import check_controls
from leakscale.adaptation.corpus_plan import corpus_ledger
from leakscale.adaptation.edition_record import RECORD
from leakscale.adaptation.epoch_run import EpochRun, ProgressCallback, StepHook
from leakscale.adaptation.hardware import describe_environment, resolve_hardware
from leakscale.adaptation.identity import adapter_digest, json_digest
from leakscale.adaptation.interruption import Note
from leakscale.adaptation.loading import ModelFolder, open_model_folder, use_threads
from leakscale.adaptation.lora import save_adapter, with_lora
from leakscale.adaptation.probe import LocalScorer, probe_adapter
from leakscale.adaptation.rendering import EncodedRecord
from leakscale.adaptation.storage import full_disk_told_apart
from leakscale.models import Family, TrainingRecord
from leakscale.training_files import LOSSES_FILE, losses_to_lines, unfinished_folder
from leakscale.training_records import families_by_domain
from leakscale.whole_files import workshop

__all__ = ["adapt"]


def adapt(
    model: str | Path,
    records: Sequence[TrainingRecord],
    config: AdaptationConfig,
    *,
    output_dir: Path,
    families: Sequence[Family] | None = None,
    progress: ProgressCallback | None = None,
    hook: StepHook | None = None,
    note: Note | None = None,
    checkpoint_interval_s: float = CHECKPOINT_INTERVAL_S,
) -> AdapterIdentity:
    """Train a LoRA adapter on a corpus, or return the one that is there if it came from exactly the same.

    While it runs, its work is in `<output_dir>.partial`; killed at any moment and called again, it goes on at the last
    checkpoint. `output_dir` itself appears complete or not at all. In the main thread, Ctrl-C and SIGTERM wait until
    the step they meet is in a checkpoint; a second one does not wait.

    Args:
        model: Folder or Hugging Face id of a causal language model with a chat template.
        records: The exposure grant's corpus and any background, in any order.
        config: Everything else that decides the tensors.
        output_dir: Where the adapter goes.
        families: Every family of the edition. With them the bytes of the corpus are searched for no-key families, and
            the record says so; without, it says that nobody looked.
        progress: Called after each optimizer step.
        hook: Called before the first and after each optimizer step with the model in evaluation mode. It may measure;
            it must not change the model.
        note: Told in one line what a Ctrl-C waits for.
        checkpoint_interval_s: Least time between two checkpoints; 0 writes one after each step.

    Raises:
        ModelError: If the model cannot be used, a record cannot be masked, or the adapter turns out inactive.
        InvalidRequestError: If the corpus is empty of exposed records or repeats an id, or does not fit the families.
        IntegrityError: If something of a no-key family is in the corpus, or a checkpoint is damaged.
        StorageFullError: If the disk is full; nothing that was checkpointed is lost.
        ConflictError: If `output_dir`, or what is at `<output_dir>.partial`, came from something else.
    """
    config = resolve_hardware(config)
    use_threads(config.thread_count)
    folder = open_model_folder(model)
    corpus = encode_corpus(folder.tokenizer, records)
    ledger = corpus_ledger(folder.tokenizer, corpus, repeat_count=config.repeat_count)
    # Before a finished adapter is used again, too: the corpus it came from is the same, and must pass now.
    controls = check_controls(folder.tokenizer, records, corpus.records, families) if families is not None else None
    wanted = _identity(folder, corpus, config, adapter="")
    if output_dir.exists():
        return check_reusable(output_dir, wanted, config.to_json()).identity
    # The checkpoint stays until the adapter is in its place: a kill at the very end costs no step.
    unfinished = workshop(unfinished_folder(output_dir), advice="wait for it, or choose another output")
    with full_disk_told_apart(output_dir), unfinished as partial:
        if output_dir.exists():  # another process finished it a moment ago
            return check_reusable(output_dir, wanted, config.to_json()).identity
        plan = corpus.plan(config.repeat_count)
        base = folder.load(dtype=config.dtype, attention=config.attention, device=config.device)
        run = EpochRun(with_lora(base, config), plan, config)
        checkpoint = Checkpoint(partial, wanted, config.to_json(), interval_s=checkpoint_interval_s)
        losses = run.train(checkpoint, progress=progress, hook=hook, note=note)
        activity = probe_adapter(LocalScorer(run.model, plain_head=run.plain_head), corpus.probed).activity
        finished = partial / "adapter"
        shutil.rmtree(finished, ignore_errors=True)
        save_adapter(run.model, finished)
        (finished / LOSSES_FILE).write_bytes(losses_to_lines(losses))
        identity = _identity(folder, corpus, config, adapter=adapter_digest(finished))
        completion = Completion(
            identity,
            config.to_json(),
            _diagnostics(corpus, plan, losses, activity),
            corpus={
                "sources": ledger.to_json(),
                "controls": controls.to_json() if controls else None,
                RECORD: families_by_domain((each.domain, each.family_id) for each in families or ()),
            },
            environment=describe_environment(config),
        )
        publish(finished, output_dir, completion)
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


def _diagnostics(
    corpus: Corpus, plan: Sequence[EncodedRecord], losses: Sequence[float], activity: float
) -> Diagnostics:
    """Sum up a finished epoch."""
    tail = losses[-max(1, len(losses) // 10) :]
    return Diagnostics(
        record_count=len(corpus.records),
        step_count=len(losses),
        token_count=sum(len(record.ids) for record in plan),
        supervised_token_count=sum(len(record.completion_ids) for record in plan),
        loss_last=sum(tail) / len(tail),
        activity=activity,
    )
