"""What is known of a server once it answers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RunningServer"]


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that answers."""

    target: str
    """Address that a client connects to."""
    token: str
    backend: str
    """What runs candidates; `none` in a replica."""
    notice: str
    """Why candidates do not run in Docker though that was not ruled out; empty when there is nothing to say."""
    metrics_port: int | None = None
    """Port of the page with metrics; None where there is none."""
    http_target: str | None = None
    """Address of the same calls as JSON over HTTP; None where they are not served."""
