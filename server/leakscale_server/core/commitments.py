"""The commitment to what hidden fixtures hold. Those to truth and condition are `leakscale.commitments`.

It carries the family's 32-byte nonce: fixtures of few values could be found by trying them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

__all__ = ["fixtures_commitment"]


def fixtures_commitment(contents: Sequence[bytes], *, nonce: bytes) -> bytes:
    """Commit to what the hidden fixtures of a family hold, in order, 32 bytes."""
    digest = hashlib.sha256(b"leakscale-fixtures-v1\x00" + nonce)
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()
