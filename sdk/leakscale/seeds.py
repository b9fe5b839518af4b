"""Seeds and uniforms of draws, as pure functions of what a draw is.

A draw must not depend on batch size, order, concurrency or the point at which a run was resumed; so its randomness is
a hash of its identity and nothing else.

Source: LeakScale F.2 (deterministic seeds).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from leakscale.models import Domain, Ring

__all__ = ["draw_seed", "draw_seeds", "uniform"]


def draw_seed(bank_seed: int, *, family_id: str, domain: Domain, ring: Ring, draw: int) -> bytes:
    """Return the 32-byte seed of one draw: SHA-256 over bank seed, family, domain, ring and sample index."""
    return draw_seeds(bank_seed, family_id=family_id, domain=domain, ring=ring)(draw)


def draw_seeds(bank_seed: int, *, family_id: str, domain: Domain, ring: Ring) -> Callable[[int], bytes]:
    """Return the function from a sample index to the seed of that draw; what all draws share is hashed once."""
    shared = "\x1f".join(("leakscale-draw-v1", str(bank_seed), family_id, domain.value, ring.value, ""))
    begun = hashlib.sha256(shared.encode())

    def seed(draw: int) -> bytes:
        state = begun.copy()
        state.update(b"%d" % draw)
        return state.digest()

    return seed


def uniform(seed: bytes) -> float:
    """Map a seed to a float in [0, 1) with 53 random bits."""
    return (int.from_bytes(seed[:8], "big") >> 11) * 2.0**-53
