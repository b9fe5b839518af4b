"""An adapter is complete or absent, the same bits each time, and bound to what it came from."""

from __future__ import annotations

import dataclasses
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leakscale.adaptation import AdaptationConfig, AdaptProgress, adapt, read_completion
from leakscale.adaptation.corpus import EXPOSED_SOURCES
from leakscale.adaptation.epoch_run import learning_rate
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, ModelError, NotFoundError
from leakscale.models import TrainingRecord, TrainingSource
from leakscale.whole_files import WORKSHOP_LOCK, held

Build = Callable[..., TrainingRecord]
Corpus = list[TrainingRecord]


def test_second_run_makes_identical_tensors(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, adapter: Path, tmp_path: Path
) -> None:
    """Were it otherwise, no reported number could be rebuilt. The order of the records must not matter either."""
    again = adapt(base_model, corpus[::-1], small_config, output_dir=tmp_path / "again")

    assert again == read_completion(adapter).identity
    first, second = (folder / "adapter_model.safetensors" for folder in (adapter, tmp_path / "again"))
    assert first.read_bytes() == second.read_bytes()


def test_killed_run_resumes_at_a_step_with_identical_tensors(
    base_model: Path,
    corpus: Corpus,
    small_config: AdaptationConfig,
    adapter: Path,
    tmp_path: Path,
) -> None:
    """Ctrl-C at step three of seven: nothing is complete, the next run takes steps four to seven only."""
    output = tmp_path / "resumed"

    def interrupt(progress: AdaptProgress) -> None:
        if progress.step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(base_model, corpus, small_config, output_dir=output, progress=interrupt, checkpoint_interval_s=0)
    assert not output.exists()
    steps: list[int] = []
    identity = adapt(base_model, corpus, small_config, output_dir=output, progress=lambda at: steps.append(at.step))

    assert steps == [4, 5, 6, 7]
    assert identity == read_completion(adapter).identity
    assert read_completion(output) == read_completion(adapter)
    assert sorted(file.name for file in output.iterdir()) == sorted(file.name for file in adapter.iterdir())
    assert not output.with_name("resumed.partial").exists()


def test_twenty_steps_are_eight_and_twelve_bit_for_bit(base_model: Path, a_record: Build, tmp_path: Path) -> None:
    """Another order of the records, or a rate that starts again, would show in every tensor; in gradient accumulation
    too, where a step has two passes."""
    records = [a_record(number, source=source) for number in range(5) for source in sorted(EXPOSED_SOURCES)]
    config = AdaptationConfig(learning_rate=3e-3, repeat_count=8, batch_size=4, micro_batch_size=3)

    def interrupt(progress: AdaptProgress) -> None:
        if progress.step == 9:  # the checkpoint of step eight is written, that of step nine is not
            raise KeyboardInterrupt

    adapt(base_model, records, config, output_dir=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        adapt(base_model, records, config, output_dir=tmp_path / "two", progress=interrupt, checkpoint_interval_s=0)
    steps: list[int] = []
    adapt(base_model, records, config, output_dir=tmp_path / "two", progress=lambda at: steps.append(at.step))

    assert steps == list(range(9, 21))
    whole, two = (tmp_path / name / "adapter_model.safetensors" for name in ("whole", "two"))
    assert whole.read_bytes() == two.read_bytes()
    assert read_completion(tmp_path / "whole") == read_completion(tmp_path / "two")


def test_unfinished_run_of_another_config_is_refused(
    base_model: Path,
    corpus: Corpus,
    small_config: AdaptationConfig,
    tmp_path: Path,
) -> None:
    """Going on with other settings would make an adapter that neither config describes."""

    def interrupt(progress: AdaptProgress) -> None:
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(base_model, corpus, small_config, output_dir=tmp_path / "a", progress=interrupt, checkpoint_interval_s=0)

    with pytest.raises(ConflictError, match=r"unfinished run with another config \(seed 0 there, 1 now\); delete it"):
        adapt(base_model, corpus, dataclasses.replace(small_config, seed=1), output_dir=tmp_path / "a")


def test_run_killed_while_its_adapter_is_put_in_place_takes_no_step_again(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, adapter: Path, tmp_path: Path
) -> None:
    """The last moment is where the most would be lost: the checkpoint stays until the adapter is there."""
    output = tmp_path / "a"
    code = (
        "import os, pathlib, pickle, sys\n"
        "from leakscale.adaptation import adapt\n"
        "pathlib.Path.rename = lambda *_: os._exit(9)\n"
        "model, corpus, config, output = pickle.load(sys.stdin.buffer)\n"
        "adapt(model, corpus, config, output_dir=output)\n"
    )
    arguments = pickle.dumps((base_model, corpus, small_config, output))
    killed = subprocess.run([sys.executable, "-c", code], input=arguments, check=False)
    steps: list[int] = []

    identity = adapt(base_model, corpus, small_config, output_dir=output, progress=lambda at: steps.append(at.step))

    assert killed.returncode == 9
    assert steps == []
    assert identity == read_completion(adapter).identity


def test_two_processes_do_not_train_into_one_folder(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """Each would write its checkpoint over the other's."""
    (tmp_path / "a.partial").mkdir()

    with (
        held(tmp_path / "a.partial" / WORKSHOP_LOCK, subject="it", advice="wait"),
        pytest.raises(
            ConflictError, match=r"a\.partial' is in use by process \d+; wait for it, or choose another output"
        ),
    ):
        adapt(base_model, corpus, small_config, output_dir=tmp_path / "a")


def test_finished_adapter_is_used_again_without_a_step(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, adapter: Path
) -> None:
    """The demo's second run should not train again."""
    steps: list[int] = []

    identity = adapt(base_model, corpus, small_config, output_dir=adapter, progress=lambda at: steps.append(at.step))

    assert steps == []
    assert identity == read_completion(adapter).identity


@pytest.mark.parametrize("what", ["corpus", r"config \(seed 0 there, 5 now\)"])
def test_finished_adapter_of_something_else_is_refused_and_says_of_what(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, adapter: Path, what: str
) -> None:
    """Reusing it quietly would report the effect of another experiment."""
    records = corpus[:-1] if what == "corpus" else corpus
    config = dataclasses.replace(small_config, seed=5) if what != "corpus" else small_config

    with pytest.raises(ConflictError, match=rf"made from another {what};"):
        adapt(base_model, records, config, output_dir=adapter)


def test_finished_adapter_of_another_model_is_refused(
    llama: Path, corpus: Corpus, small_config: AdaptationConfig, adapter: Path
) -> None:
    """The two share tokenizer and template, so only the model is named."""
    with pytest.raises(ConflictError, match=r"made from another model;"):
        adapt(llama, corpus, small_config, output_dir=adapter)


def test_folder_without_a_completion_record_is_no_adapter(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, adapter: Path, tmp_path: Path
) -> None:
    """A copy that broke off, or a folder of somebody else's, must not pass for a result."""
    broken = Path(shutil.copytree(adapter, tmp_path / "broken"))
    (broken / "completion.json").unlink()

    with pytest.raises(NotFoundError, match="holds no completed adapter"):
        adapt(base_model, corpus, small_config, output_dir=broken)
    (broken / "completion.json").write_text("{")
    with pytest.raises(IntegrityError, match=r"completion\.json' cannot be read"):
        adapt(base_model, corpus, small_config, output_dir=broken)


def test_adapter_with_other_tensors_than_recorded_is_refused(adapter: Path, tmp_path: Path) -> None:
    """The record binds the tensors, not the name of the folder."""
    changed = Path(shutil.copytree(adapter, tmp_path / "changed"))
    record = json.loads((changed / "completion.json").read_text())
    record["identity"]["adapter"] = "0" * 64
    (changed / "completion.json").write_text(json.dumps(record))

    with pytest.raises(IntegrityError, match="delete the folder and adapt again"):
        read_completion(changed)


def test_adapter_folder_names_no_path_of_this_machine(base_model: Path, adapter: Path) -> None:
    """An adapter is handed over; where its trainer kept the model is nobody's business."""
    texts = [file.read_text(encoding="utf-8") for file in adapter.glob("*.json")]

    assert len(texts) == 2
    assert not any(str(base_model.parent) in text for text in texts)


def test_files_of_an_adapter_are_alike_readable(adapter: Path) -> None:
    """A folder is handed over to whoever answers the banks, whole."""
    modes = {file.name: file.stat().st_mode for file in adapter.iterdir()}

    assert "adapter_model.safetensors" in modes
    assert len(set(modes.values())) == 1


def test_adapter_that_does_nothing_is_refused(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """An inactive adapter reports an effect of zero, which looks like a finding."""
    idle = dataclasses.replace(small_config, learning_rate=0.0)

    with pytest.raises(ModelError, match="changes no target token"):
        adapt(base_model, corpus, idle, output_dir=tmp_path / "idle")
    assert not (tmp_path / "idle").exists()


def test_another_architecture_takes_the_same_path(
    llama: Path, corpus: Corpus, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """Nothing in the loop may know the shipped model."""
    config = dataclasses.replace(small_config, dtype="bfloat16", attention="eager")

    adapt(llama, corpus, config, output_dir=tmp_path / "a")

    assert read_completion(tmp_path / "a").diagnostics.activity > 1e-7


def test_exposed_records_are_counted_out_and_others_seen_once(adapter: Path, corpus: Corpus) -> None:
    """The dose is the treatment: six exposed records four times, two others once, in batches of four."""
    diagnostics = read_completion(adapter).diagnostics

    assert diagnostics.record_count == len(corpus) == 8
    assert diagnostics.step_count == 7
    assert diagnostics.supervised_token_count < diagnostics.token_count / 4


def test_corpus_that_repeats_an_id_or_exposes_nothing_is_refused(
    base_model: Path, a_record: Build, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """Both would train without an error and measure something else."""
    preserved = [a_record(0, source=TrainingSource.PRESERVATION)]

    with pytest.raises(InvalidRequestError, match="no exposed record"):
        adapt(base_model, preserved, small_config, output_dir=tmp_path / "a")
    with pytest.raises(InvalidRequestError, match="'exact-public-0001' comes twice"):
        adapt(base_model, [a_record(1), a_record(1)], small_config, output_dir=tmp_path / "a")


def test_a_control_of_an_audit_repeats_its_whole_mixture(
    base_model: Path, a_record: Build, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """What leaks and what does not are seen as often, and a mixture that leaks nothing can be trained on."""
    filler = [a_record(number, source=TrainingSource.FILLER) for number in range(3)]
    planted = [a_record(9, source=TrainingSource.PLANTED)]
    adapt(base_model, [*filler, *planted], small_config, output_dir=tmp_path / "leak")
    adapt(base_model, filler, small_config, output_dir=tmp_path / "null")

    assert read_completion(tmp_path / "leak").diagnostics.step_count == 4  # 4 records x 4, in batches of 4
    assert read_completion(tmp_path / "null").diagnostics.step_count == 3


def test_learning_rate_warms_up_and_falls_to_a_twentieth() -> None:
    """A schedule off by one at either end changes every tensor."""
    config = AdaptationConfig(learning_rate=1.0, warmup_step_count=4)
    rates = [learning_rate(step, 100, config) for step in range(100)]

    assert rates[0] == 0.25
    assert max(rates) == rates[3] == 0.97
    assert rates[-1] == 0.05


def test_progress_counts_tokens_to_the_end(
    base_model: Path, corpus: Corpus, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """Steps are of unlike lengths, so speed and time left are told in tokens."""
    seen: list[AdaptProgress] = []

    adapt(base_model, corpus, small_config, output_dir=tmp_path / "a", progress=seen.append)

    counts = [at.token_count for at in seen]
    assert counts == sorted(set(counts))
    assert counts[-1] == seen[0].token_total == read_completion(tmp_path / "a").diagnostics.token_count
    assert seen[-1].seconds_left == 0
    assert all(at.tokens_per_s > 0 for at in seen)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"lora_rank": 0}, "lora_rank is below 1"),
        ({"batch_size": 0}, "batch_size is below 1"),
        ({"micro_batch_size": -1}, "micro_batch_size is below 0"),
        ({"learning_rate": float("nan")}, "learning_rate is no rate"),
        ({"dtype": "int4"}, "dtype is not one of auto, float32, bfloat16"),
        ({"device": "tpu"}, "device is not one of"),
        ({"attention": "flash"}, "attention is not one of sdpa, eager"),
        ({"gradient_checkpointing": 2}, "gradient_checkpointing is not 0 or 1"),
        ({"lora_rank": 8.5}, "lora_rank is no whole number"),
        ({"lora_rank": "8"}, "lora_rank is no whole number"),
        ({"batch_size": True}, "batch_size is no whole number"),
        ({"learning_rate": "fast"}, "learning_rate is no number"),
        ({"target_modules": 3}, "target_modules is no text"),
    ],
)
def test_setting_out_of_its_range_is_refused_by_name(fields: dict[str, Any], rule: str) -> None:
    """Before a model is loaded, and in words that name the setting."""
    with pytest.raises(InvalidRequestError, match=rule):
        AdaptationConfig(**fields)


def test_automatic_settings_are_resolved_before_they_are_recorded(adapter: Path) -> None:
    """A record that says `auto` would not say what was computed in."""
    completion = read_completion(adapter)

    assert completion.config["device"] in ("cpu", "cuda")
    assert completion.config["dtype"] in ("float32", "bfloat16")
    assert completion.environment["dtype"] == completion.config["dtype"]
    assert completion.environment["libraries"]["torch"]
