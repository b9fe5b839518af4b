"""Adapt a causal language model to an exposure corpus with LoRA.

    from leakscale.adaptation import BASE_MODEL_CONFIG, adapt

Source: LeakScale D (adaptation protocol).
"""

from leakscale.adaptation import _environment as _environment  # before torch
from leakscale.adaptation.completion import Completion, read_completion
from leakscale.adaptation.config import (
    BASE_MODEL_CONFIG,
    SMOLLM2_CONFIG,
    AdaptationConfig,
    AdapterIdentity,
    AdaptProgress,
    Diagnostics,
)
from leakscale.adaptation.loading import check_model
from leakscale.adaptation.smollm2 import smollm2_folder
from leakscale.adaptation.training import adapt

__all__ = [
    "BASE_MODEL_CONFIG",
    "SMOLLM2_CONFIG",
    "AdaptProgress",
    "AdaptationConfig",
    "AdapterIdentity",
    "Completion",
    "Diagnostics",
    "adapt",
    "check_model",
    "read_completion",
    "smollm2_folder",
]
