"""Strength scales one factor and touches nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora import LoraLayer
from safetensors.torch import load_file

from leakscale.adaptation import AdaptationConfig, adapt, read_completion, scale_adapter
from leakscale.adaptation.batching import collate
from leakscale.adaptation.identity import adapter_settings, lora_digests, model_digest
from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.probe import LocalScorer, probe_adapter
from leakscale.adaptation.rendering import EncodedRecord, encode_record
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, ModelError
from leakscale.models import TrainingRecord

Build = Callable[..., TrainingRecord]


@pytest.fixture
def records(base_model: Path, a_record: Build) -> list[EncodedRecord]:
    """Two records as the model reads them."""
    tokenizer = open_model_folder(base_model).tokenizer
    return [encode_record(tokenizer, a_record(number)) for number in range(2)]


def test_only_second_factors_change(adapter: Path, base_model: Path, tmp_path: Path) -> None:
    """By hash: were lora_A, alpha or the base scaled too, the strength would be another than the one reported."""
    base_before = model_digest(base_model)
    scaled = scale_adapter(adapter, tmp_path / "half", 0.5)

    assert lora_digests(tmp_path / "half")[0] != lora_digests(adapter)[0]
    assert lora_digests(tmp_path / "half")[1] == lora_digests(adapter)[1]
    assert adapter_settings(tmp_path / "half") == adapter_settings(adapter)
    assert model_digest(base_model) == base_before
    assert scaled.identity.adapter != read_completion(adapter).identity.adapter
    assert scaled == read_completion(tmp_path / "half")


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0, 1.7])
def test_scaled_adapter_equals_the_scaling_of_peft(
    adapter: Path, base_model: Path, records: list[EncodedRecord], tmp_path: Path, strength: float
) -> None:
    """peft multiplies the product at run time; we write the product down."""
    scale_adapter(adapter, tmp_path / "scaled", strength)
    batch = collate(records)
    ours = a_peft_model(base_model, tmp_path / "scaled")
    theirs = a_peft_model(base_model, adapter)
    for module in theirs.modules():
        if isinstance(module, LoraLayer):
            module.scale_layer(strength)

    with torch.no_grad():
        ours_logits, their_logits = ours(input_ids=batch.input_ids).logits, theirs(input_ids=batch.input_ids).logits

    torch.testing.assert_close(ours_logits, their_logits, rtol=1e-4, atol=1e-4)


def test_strength_one_changes_no_bit(adapter: Path, tmp_path: Path) -> None:
    """The adapter that was trained is the one at strength one."""
    scale_adapter(adapter, tmp_path / "one", 1.0)

    assert load_file(tmp_path / "one/adapter_model.safetensors").keys() == tensors(adapter).keys()
    assert lora_digests(tmp_path / "one") == lora_digests(adapter)


def test_strength_zero_is_the_base_model_exactly(
    adapter: Path, base_model: Path, records: list[EncodedRecord], tmp_path: Path
) -> None:
    """Not nearly: the dose-response curve starts at an effect of zero."""
    scale_adapter(adapter, tmp_path / "zero", 0.0)
    scorer = LocalScorer(a_peft_model(base_model, tmp_path / "zero"), plain_head=True)

    report = probe_adapter(scorer, records, strength=0.0)

    assert report.activity == 0.0


def test_scaled_adapter_is_used_again_and_never_taken_for_another(adapter: Path, tmp_path: Path) -> None:
    """A folder named for one strength that holds another would shift the whole curve."""
    first = scale_adapter(adapter, tmp_path / "half", 0.5)

    assert scale_adapter(adapter, tmp_path / "half", 0.5) == first
    with pytest.raises(ConflictError, match=r"is there with strength 0\.5"):
        scale_adapter(adapter, tmp_path / "half", 0.25)
    with pytest.raises(ConflictError, match=r"is scaled by 0\.5 already"):
        scale_adapter(tmp_path / "half", tmp_path / "quarter", 0.5)


def test_scaled_adapter_is_not_used_where_a_trained_one_is_asked_for(
    adapter: Path, base_model: Path, corpus: list[TrainingRecord], small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """It came from the same model, corpus and config, and is not what they make."""
    scale_adapter(adapter, tmp_path / "half", 0.5)

    with pytest.raises(ConflictError, match=r"another strength \(0\.5 there, unscaled now\)"):
        adapt(base_model, corpus, small_config, output_dir=tmp_path / "half")


@pytest.mark.parametrize("strength", [-0.1, float("nan"), float("inf")])
def test_strength_that_is_none_is_refused(adapter: Path, tmp_path: Path, strength: float) -> None:
    """A negative one would unlearn; it is another experiment."""
    with pytest.raises(InvalidRequestError, match="is not a finite number at least 0"):
        scale_adapter(adapter, tmp_path / "a", strength)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "settings", [{"use_rslora": True}, {"use_dora": True}, {"bias": "lora_only"}, {"modules_to_save": ["lm_head"]}]
)
def test_adapter_that_is_no_plain_product_is_refused_by_name(
    adapter: Path, base_model: Path, tmp_path: Path, settings: dict[str, object]
) -> None:
    """Of these, s times lora_B is not the adapter at strength s."""
    other = a_completed_adapter(adapter, base_model, tmp_path / "other", settings)

    with pytest.raises(ModelError, match=f"has {next(iter(settings))} .*, under which its strength is not a factor"):
        scale_adapter(other, tmp_path / "scaled", 0.5)
    assert not (tmp_path / "scaled").exists()


def test_changed_alpha_is_another_adapter(adapter: Path, tmp_path: Path) -> None:
    """The tensors are the same and act twice as strongly; a digest of tensors alone would not tell."""
    changed = Path(shutil.copytree(adapter, tmp_path / "changed"))
    settings = json.loads((changed / "adapter_config.json").read_text())
    (changed / "adapter_config.json").write_text(json.dumps(settings | {"lora_alpha": 64}))

    with pytest.raises(IntegrityError, match="has tensors and settings"):
        read_completion(changed)


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    """Read an adapter's tensors."""
    return load_file(folder / "adapter_model.safetensors")


def a_peft_model(base_model: Path, adapter: Path) -> PeftModel:
    """Load a model with an adapter on it."""
    base = open_model_folder(base_model).load(dtype="float32", attention="sdpa")
    model = PeftModel.from_pretrained(base, str(adapter))
    model.eval()
    return model


def a_completed_adapter(plain: Path, base_model: Path, folder: Path, settings: dict[str, object]) -> Path:
    """Write an adapter of another kind with a completion record that fits it."""
    from leakscale.adaptation.identity import adapter_digest

    base = open_model_folder(base_model).load(dtype="float32", attention="sdpa")
    lora = LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM", **settings)  # type: ignore[arg-type]
    get_peft_model(base, lora).save_pretrained(str(folder))
    record = json.loads((plain / "completion.json").read_text())
    record["identity"]["adapter"] = adapter_digest(folder)
    (folder / "completion.json").write_text(json.dumps(record))
    return folder
