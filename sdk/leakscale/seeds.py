"""Seeds and uniforms of draws, as pure functions of what a draw is.

A draw must not depend on batch size, order, concurrency or the point at which a run was resumed; so its randomness is
a hash of its identity and nothing else.

Source: LeakScale F.2 (deterministic seeds).
"""

from __future__ import annotations

import hashlib

from leakscale.models import Domain, Ring

__all__ = ["draw_seed", "uniform"]


def draw_seed(bank_seed: int, *, family_id: str, domain: Domain, ring: Ring, draw: int) -> bytes:
    """Return the 32-byte seed of one draw: SHA-256 over bank seed, family, domain, ring and sample index."""
    identity = "\x1f".join(("leakscale-draw-v1", str(bank_seed), family_id, domain.value, ring.value, str(draw)))
    return hashlib.sha256(identity.encode()).digest()


def uniform(seed: bytes) -> float:
    """Map a seed to a float in [0, 1) with 53 random bits."""
    return (int.from_bytes(seed[:8], "big") >> 11) * 2.0**-53
