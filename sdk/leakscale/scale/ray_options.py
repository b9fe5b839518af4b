"""Options of the engine `ray`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leakscale.errors import InvalidRequestError

__all__ = ["RayOptions"]


@dataclass(frozen=True, slots=True)
class RayOptions:
    """Where the workers run, and what each of them is.

    Raises:
        InvalidRequestError: If a number is out of range, or a worker would be of the engine `ray` itself.
    """

    address: str | None = None
    """Of a cluster, e.g. `auto` or `ray://head:10001`; None joins that of RAY_ADDRESS, or starts one here."""
    engine: str = "exact"
    """Engine of each worker, which decides the answers."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of that engine."""
    worker_count: int = 0
    """Workers, each with the model loaded; 0: as many as the cluster has room for when it is joined."""
    gpu_count: float = 0
    """GPUs a worker: 1 for one model a GPU."""
    cpu_count: float = 1
    """CPUs a worker."""
    questions_per_task: int = 8
    """Questions that a worker is asked at once: a lost worker costs at most these."""
    patience_s: float = 600
    """Longest time without any worker, the loading of the model included."""

    def __post_init__(self) -> None:
        if self.engine == "ray":
            raise InvalidRequestError("a worker cannot be of engine 'ray' itself; choose exact or transformers")
        if self.worker_count < 0 or self.questions_per_task < 1 or self.patience_s <= 0:
            raise InvalidRequestError(
                f"worker_count {self.worker_count}, questions_per_task {self.questions_per_task} and patience_s "
                f"{self.patience_s:g} must be at least 0, at least 1 and above 0"
            )
        if self.gpu_count < 0 or self.cpu_count < 0 or not self.gpu_count + self.cpu_count:
            raise InvalidRequestError("a worker needs some CPU or GPU; give cpu_count or gpu_count above 0")
