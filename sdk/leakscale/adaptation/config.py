"""What an adaptation is told, and what it reports while it runs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Final

from leakscale.errors import InvalidRequestError

__all__ = [
    "BASE_MODEL_CONFIG",
    "PAPER_CONFIG",
    "SMOLLM2_CONFIG",
    "AdaptProgress",
    "AdaptationConfig",
    "AdapterIdentity",
    "Diagnostics",
]

_DTYPES: Final = ("auto", "float32", "bfloat16")
_DEVICES: Final = ("auto", "cpu", "cuda")
_KINDS: Final[dict[type, str]] = {int: "is no whole number", float: "is no number", str: "is no text"}


@dataclass(frozen=True, slots=True)
class AdaptationConfig:
    """Everything besides model and corpus that decides the tensors of an adapter.

    The defaults are the paper's where it names one. Source: LeakScale D.3 (training protocol).

    Raises:
        InvalidRequestError: If a field breaks its range; the message names it.
    """

    learning_rate: float = 1e-4
    """Peak rate of AdamW, at least 0: reached after the warm-up, then falling linearly to a twentieth."""
    lora_rank: int = 32
    lora_alpha: int = 32
    target_modules: str = "all-linear"
    """Modules that get an adapter: `all-linear`, or a regular expression over their names, in peft's words. Of a model
    with an image or audio tower, `all-linear` means the language model's own."""
    repeat_count: int = 32
    """Times each exposed record is seen in the one epoch, and each record of an audit's control; any other is seen
    once."""
    batch_size: int = 32
    """Records an optimizer step."""
    micro_batch_size: int = 0
    """Records a forward pass; gradients of a step are summed over its passes. 0: all of them in one."""
    warmup_step_count: int = 20
    gradient_norm_max: float = 1.0
    seed: int = 0
    """Of the record order and of the start of lora_A."""
    thread_count: int = 2
    """CPU threads. Fixed, not read off the machine, because the order of a sum decides its last bits."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    dtype: str = "auto"
    """Of the base weights, never quantized: `float32`, `bfloat16`, or `auto`: bfloat16 on a GPU, float32 on a CPU,
    where bfloat16 is mostly slower. Adapters are always float32."""
    attention: str = "sdpa"
    """`sdpa` or `eager`; on a CPU the backward pass of sdpa is the bottleneck in bfloat16."""
    gradient_checkpointing: int = 0
    """1: compute activations again in the backward pass; a third more work for a fraction of the memory."""

    def __post_init__(self) -> None:
        for each in fields(self):
            kind = type(each.default)
            value = getattr(self, each.name)
            is_fit = isinstance(value, int | float if kind is float else kind) and not isinstance(value, bool)
            self._require(each.name, is_fit, _KINDS[kind])
        at_least_one = ("lora_rank", "lora_alpha", "repeat_count", "batch_size", "thread_count")
        for name in at_least_one:
            self._require(name, getattr(self, name) >= 1, "is below 1")
        for name in ("micro_batch_size", "warmup_step_count"):
            self._require(name, getattr(self, name) >= 0, "is below 0")
        self._require("learning_rate", math.isfinite(self.learning_rate) and self.learning_rate >= 0, "is no rate")
        self._require("gradient_norm_max", self.gradient_norm_max > 0, "is not above 0")
        self._require("gradient_checkpointing", self.gradient_checkpointing in (0, 1), "is not 0 or 1")
        self._require("dtype", self.dtype in _DTYPES, f"is not one of {', '.join(_DTYPES)}")
        self._require("device", self.device in _DEVICES, f"is not one of {', '.join(_DEVICES)}")
        self._require("attention", self.attention in ("sdpa", "eager"), "is not one of sdpa, eager")

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain JSON values."""
        return asdict(self)

    def _require(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            raise InvalidRequestError(
                f"adaptation setting {name} {rule} (got {getattr(self, name)!r}); see docs/adaptation.md"
            )


BASE_MODEL_CONFIG: Final = AdaptationConfig(learning_rate=3e-3, batch_size=16, device="cpu", dtype="float32")
"""For the tiny model that ships with the package (`leakscale.base_model`)."""

SMOLLM2_CONFIG: Final = AdaptationConfig(
    learning_rate=3e-4, batch_size=8, device="cpu", dtype="bfloat16", attention="eager"
)
"""For SmolLM2-135M-Instruct on a CPU."""

PAPER_CONFIG: Final = AdaptationConfig(device="cuda", dtype="bfloat16", micro_batch_size=8, gradient_checkpointing=1)
"""The papers' protocol on a GPU: one epoch, bfloat16 base weights, fused AdamW, rate 1e-4, rank 32."""


@dataclass(frozen=True, slots=True)
class AdaptProgress:
    """How far a training run is, after an optimizer step."""

    step: int
    """1-based."""
    step_count: int
    loss: float
    """Mean over the supervised tokens of this step, in nats."""
    token_count: int
    """Real tokens done, padding not counted, those of an earlier process included."""
    token_total: int
    """Real tokens of the epoch."""
    tokens_per_s: float
    """Of this process."""
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
    """Records and their answers. A private edition exposes at least 128 associations of two bits each, so the digest
    cannot be inverted by trying; a practice edition keeps no secret from its author."""
    config: str
    adapter: str
    """Tensors of the adapter and the settings under which they act, not its files: a file's bytes change with key order
    and metadata."""


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
