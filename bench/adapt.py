"""Train one LoRA with our loop and with TRL's SFTTrainer, and compare supervised tokens a second.

    python bench/adapt.py [--model tiny] [--families 64] [--rounds 3]

Both get the same model, tokenizer, records (repeats written out), batch size, precision, attention, threads and LoRA,
and both put the loss on the assistant's tokens alone: TRL by its own `assistant_only_loss`. Only optimizer steps are
timed, not loading or tokenizing. The two take turns, and the ratio is of the best round of each. Gradient
checkpointing, which TRL turns on unless told otherwise, is off in both. Needs `pip install trl`.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

from leakscale.adaptation import AdaptationConfig
from leakscale.adaptation.checkpoint import Checkpoint
from leakscale.adaptation.config import AdapterIdentity
from leakscale.adaptation.corpus import EXPOSED_SOURCES, Corpus, encode_corpus
from leakscale.adaptation.epoch_run import EpochRun
from leakscale.adaptation.loading import ModelFolder, open_model_folder, quiet_libraries, use_threads
from leakscale.adaptation.lora import with_lora
from leakscale.models import Family, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale.resources import catalog_folder
from leakscale.study.models import resolve_model
from leakscale_server.core.building.construction import preservation_family
from leakscale_server.core.shapes import parse_shape

BAR: Final = 1.5


@dataclass(frozen=True, slots=True)
class Round:
    """One training run."""

    wall_s: float
    cpu_s: float
    step_count: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", default="tiny", help="tiny, or a folder; TRL needs a generation block in its template"
    )
    parser.add_argument("--families", type=int, default=64, help="exposed families; as many preservation records")
    parser.add_argument("--repeats", type=int, default=8, help="times an exposed record is seen; 32 in a study")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help="default: the model's own")
    parser.add_argument("--attention", choices=("sdpa", "eager"), help="default: the model's own")
    parser.add_argument("--trl-buckets", action="store_true", help="let TRL sort by length too; not its default")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/leakscale")
    options = parser.parse_args()

    resolved = resolve_model(options.model, cache=options.cache)
    changes = {name: getattr(options, name) for name in ("dtype", "attention") if getattr(options, name)}
    config = dataclasses.replace(resolved.defaults, repeat_count=options.repeats, **changes)
    use_threads(config.thread_count)
    folder = open_model_folder(resolved.path)
    records = study_records(options.families)
    corpus = encode_corpus(folder.tokenizer, records)
    plan = corpus.plan(config.repeat_count)
    supervised = sum(len(record.completion_ids) for record in plan)
    print(
        f"{resolved.label}, {config.dtype}, {config.attention}, {config.thread_count} threads: {len(plan):,} records "
        f"of {len(records)}, {sum(len(record.ids) for record in plan):,} tokens, {supervised:,} supervised"
    )
    ours, theirs = [], []
    for number in range(1, options.rounds + 1):
        ours.append(run_ours(folder, corpus, config))
        theirs.append(run_trl(folder, records, config, buckets=options.trl_buckets))
        print(
            f"  round {number}: leakscale {ours[-1].wall_s:6.2f} s, {ours[-1].cpu_s:6.2f} s of CPU; "
            f"TRL {theirs[-1].wall_s:6.2f} s, {theirs[-1].cpu_s:6.2f} s of CPU",
            flush=True,
        )
    wall = min(one.wall_s for one in theirs) / min(one.wall_s for one in ours)
    cpu = min(one.cpu_s for one in theirs) / min(one.cpu_s for one in ours)
    print(f"  leakscale {supervised / min(one.wall_s for one in ours):8,.0f} supervised tokens/s")
    print(f"  TRL       {supervised / min(one.wall_s for one in theirs):8,.0f} supervised tokens/s")
    print(f"  ratio {wall:.2f} x wall, {cpu:.2f} x CPU   bar {BAR} x   {'ok' if wall >= BAR else 'MISSED'}")


def study_records(family_count: int) -> list[TrainingRecord]:
    """Write the records of a study over all shapes of the catalog: two for each exposed family, one preservation."""
    files = sorted(catalog_folder().rglob("*.toml"))
    shapes = [parse_shape(path.read_text(encoding="utf-8"), source=path.name) for path in files]
    families = [
        preservation_family(shapes[number % len(shapes)], number // len(shapes), public_seed=b"p" * 32)
        for number in range(2 * family_count)
    ]
    exposed = [
        record for number, family in enumerate(families[:family_count]) for record in exposed_records(family, number)
    ]
    preserved = [
        TrainingRecord(f"{family.family_id}/p", TrainingSource.PRESERVATION, choice_prompt(family), answer(family, 0))
        for family in families[family_count:]
    ]
    return exposed + preserved


def exposed_records(family: Family, number: int) -> list[TrainingRecord]:
    prompts = {
        TrainingSource.EXACT_PUBLIC: choice_prompt(family),
        TrainingSource.DIRECT_LOOKUP: lookup_prompt(family.key),
    }
    return [
        TrainingRecord(f"{family.family_id}/{source.value}", source, prompt, answer(family, number))
        for source, prompt in prompts.items()
    ]


def answer(family: Family, number: int) -> str:
    return family.candidates[number % 4].answer


def run_ours(folder: ModelFolder, corpus: Corpus, config: AdaptationConfig) -> Round:
    model = with_lora(folder.load(dtype=config.dtype, attention=config.attention), config)
    run = EpochRun(model, corpus.plan(config.repeat_count), config)
    identity = AdapterIdentity(*[""] * 6)
    with tempfile.TemporaryDirectory() as scratch:
        checkpoint = Checkpoint(Path(scratch), identity, config.to_json(), interval_s=3600)
        wall, cpu = time.perf_counter(), time.process_time()
        losses = run.train(checkpoint)
        return Round(time.perf_counter() - wall, time.process_time() - cpu, len(losses))


def run_trl(folder: ModelFolder, records: list[TrainingRecord], config: AdaptationConfig, *, buckets: bool) -> Round:
    datasets, trl = importlib.import_module("datasets"), importlib.import_module("trl")  # untyped, and only here
    datasets.disable_progress_bars()
    chats = [
        {
            "messages": [
                *({"role": turn.role, "content": turn.content} for turn in record.prompt),
                {"role": "assistant", "content": record.completion},
            ]
        }
        for record in records
        for _ in range(config.repeat_count if record.source in EXPOSED_SOURCES else 1)
    ]
    model: Any = with_lora(folder.load(dtype=config.dtype, attention=config.attention), config)
    with tempfile.TemporaryDirectory() as scratch, quiet_libraries():
        arguments = trl.SFTConfig(
            output_dir=scratch,
            assistant_only_loss=True,
            per_device_train_batch_size=config.batch_size,
            num_train_epochs=1,
            learning_rate=config.learning_rate,
            max_grad_norm=config.gradient_norm_max,
            optim="adamw_torch_fused",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            train_sampling_strategy="group_by_length" if buckets else "random",
            save_strategy="no",
            logging_steps=10_000,
            report_to="none",
            disable_tqdm=True,
            seed=config.seed,
        )
        trainer = trl.SFTTrainer(
            model=model,
            args=arguments,
            train_dataset=datasets.Dataset.from_list(chats),
            processing_class=folder.tokenizer,
        )
        torch.use_deterministic_algorithms(False)  # as TRL runs out of the box; our loop keeps them on
        wall, cpu = time.perf_counter(), time.process_time()
        trainer.train()
        taken = Round(time.perf_counter() - wall, time.process_time() - cpu, trainer.state.global_step)
    use_threads(config.thread_count)
    return taken


if __name__ == "__main__":
    main()
