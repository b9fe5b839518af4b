"""Adapt a causal language model to an exposure corpus with LoRA.

    from leakscale.adaptation import BASE_MODEL_CONFIG, adapt

Source: LeakScale D (adaptation protocol).
"""

from leakscale.adaptation import _environment as _environment  # before torch
from leakscale.adaptation.completion import Completion, Scaling, read_completion
from leakscale.adaptation.config import (
    BASE_MODEL_CONFIG,
    PAPER_CONFIG,
    SMOLLM2_CONFIG,
    AdaptationConfig,
    AdapterIdentity,
    AdaptProgress,
    Diagnostics,
)
from leakscale.adaptation.corpus_plan import CorpusLedger, SourceLedger
from leakscale.adaptation.loading import check_model
from leakscale.adaptation.probe import ActivityReport, TargetScorer, probe_adapter
from leakscale.adaptation.smollm2 import smollm2_folder
from leakscale.adaptation.strength import scale_adapter
from leakscale.adaptation.training import adapt

__all__ = [
    "BASE_MODEL_CONFIG",
    "PAPER_CONFIG",
    "SMOLLM2_CONFIG",
    "ActivityReport",
    "AdaptProgress",
    "AdaptationConfig",
    "AdapterIdentity",
    "Completion",
    "CorpusLedger",
    "Diagnostics",
    "Scaling",
    "SourceLedger",
    "TargetScorer",
    "adapt",
    "check_model",
    "probe_adapter",
    "read_completion",
    "scale_adapter",
    "smollm2_folder",
]
