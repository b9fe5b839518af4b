"""What an adaptation is told, and what it reports while it runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

__all__ = ["BASE_MODEL_CONFIG", "SMOLLM2_CONFIG", "AdaptProgress", "AdaptationConfig", "AdapterIdentity", "Diagnostics"]


@dataclass(frozen=True, slots=True)
class AdaptationConfig:
    """Everything besides model and corpus that decides the tensors of an adapter.

    The defaults are the paper's where it names one. Source: LeakScale D.3 (training protocol).
    """

    learning_rate: float = 1e-4
    """Peak rate of AdamW: reached after the warm-up, then falling linearly to a twentieth."""
    lora_rank: int = 32
    lora_alpha: int = 32
    target_modules: str = "all-linear"
    """Modules that get an adapter, in peft's words."""
    repeat_count: int = 32
    """Times each exposed record is seen in the one epoch; a preservation record is seen once."""
    batch_size: int = 32
    """Records an optimizer step."""
    warmup_step_count: int = 20
    gradient_norm_max: float = 1.0
    seed: int = 0
    """Of the record order and of the start of lora_A."""
    thread_count: int = 2
    """CPU threads. Fixed, not read off the machine, because the order of a sum decides its last bits."""
    dtype: str = "float32"
    """Of the base weights, `float32` or `bfloat16`; adapters are always float32."""
    attention: str = "sdpa"
    """`sdpa` or `eager`; on a CPU the backward pass of sdpa is the bottleneck in bfloat16."""

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain JSON values."""
        return asdict(self)


BASE_MODEL_CONFIG: Final = AdaptationConfig(learning_rate=3e-3, batch_size=16)
"""For the tiny model that ships with the package (`leakscale.base_model`)."""

SMOLLM2_CONFIG: Final = AdaptationConfig(learning_rate=3e-4, batch_size=8, dtype="bfloat16", attention="eager")
"""For SmolLM2-135M-Instruct on a CPU."""


@dataclass(frozen=True, slots=True)
class AdaptProgress:
    """How far a training run is, after an optimizer step."""

    step: int
    """1-based."""
    step_count: int
    loss: float
    """Mean over the supervised tokens of this step, in nats."""
    tokens_per_s: float
    """Real tokens, padding not counted, since the run began."""
    seconds_left: float


@dataclass(frozen=True, slots=True)
class AdapterIdentity:
    """Hex SHA-256 of all that an adapter came from, and of the adapter."""

    model: str
    """Base weights and architecture."""
    tokenizer: str
    template: str
    """Chat template."""
    corpus: str
    config: str
    adapter: str
    """Tensors of the adapter, not its files: a file's bytes change with key order and metadata."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What a finished training run says about itself."""

    record_count: int
    """Physical records; repeats not counted."""
    step_count: int
    token_count: int
    """Real tokens of the epoch, repeats counted."""
    supervised_token_count: int
    loss_last: float
    """Mean over the last tenth of the steps, in nats a supervised token."""
    activity: float
    """Largest |change of log p| that the adapter makes on a target token of an exposed record, in nats."""
