"""Put a LoRA on a model, and write it to a folder that names nothing of this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from leakscale.adaptation.config import AdaptationConfig
from leakscale.adaptation.loading import quiet_libraries
from leakscale.reading import parse_json

__all__ = ["save_adapter", "with_lora"]

_ALL_LINEAR: Final = "all-linear"
_TEXT_PART: Final = "language_model."
"""How transformers names the language model inside a model that also has an image or audio tower."""


def with_lora(model: PreTrainedModel, config: AdaptationConfig) -> PeftModel:
    """Freeze a model and put a plain LoRA on it: lora_A from the seed, lora_B zero, no dropout, no bias."""
    torch.manual_seed(config.seed)
    lora = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        target_modules=_targets(model, config.target_modules),
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
    )
    with quiet_libraries():
        return cast("PeftModel", get_peft_model(model, lora))


def save_adapter(model: PeftModel, folder: Path) -> None:
    """Write peft's own files, without what is not the adapter's: a model card and the path of this machine's model."""
    model.save_pretrained(str(folder))
    (folder / "README.md").unlink(missing_ok=True)
    settings_file = folder / "adapter_config.json"
    settings = parse_json(settings_file.read_text(encoding="utf-8"))
    settings["base_model_name_or_path"] = None
    settings_file.write_text(json.dumps(_sorted_lists(settings), indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _targets(model: PreTrainedModel, asked: str) -> str | list[str]:
    """Keep `all-linear` out of the towers that read no text."""
    linear = [name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    own = [name for name in linear if _TEXT_PART in name]
    return own if asked == _ALL_LINEAR and own else asked


def _sorted_lists(settings: dict[str, object]) -> dict[str, object]:
    """Sort the lists that peft writes out of sets, whose order changes with the hash seed of the process."""
    return {
        name: sorted(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
        for name, value in settings.items()
    }
