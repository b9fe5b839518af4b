"""Commitments to what must stay private and be provable later.

Each carries a 32-byte nonce: a digest over four possible truths is inverted by trying four values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from leakscale.digests import canonical_json
from leakscale.merkle import leaf_hash
from leakscale.models import Family

__all__ = ["fixtures_commitment", "public_digest", "truth_leaf"]


def truth_leaf(*, edition_id: str, family_id: str, key: str, truth: int, nonce: bytes) -> bytes:
    """Return the Merkle leaf hash that commits to the association of one family.

    Args:
        truth: Display index of the correct candidate, 0 to 3.
        nonce: 32 bytes that nobody but the vault holds.
    """
    opening = {
        "v": 1,
        "edition": edition_id,
        "family": family_id,
        "key": key,
        "truth": truth,
        "nonce": nonce.hex(),
    }
    return leaf_hash(canonical_json(opening))


def fixtures_commitment(contents: Sequence[bytes], *, nonce: bytes) -> bytes:
    """Commit to what the hidden fixtures of a family hold, in order, 32 bytes."""
    digest = hashlib.sha256(b"leakscale-fixtures-v1\x00" + nonce)
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()


def public_digest(family: Family) -> bytes:
    """Digest everything that the public sees of a family, 32 bytes."""
    return hashlib.sha256(
        canonical_json(
            {
                "family": family.family_id,
                "domain": family.domain.value,
                "shape": family.shape_id,
                "ring": family.ring.value,
                "task": family.task,
                "inputs": list(family.inputs),
                "key": family.key,
                "candidates": [{"text": each.text, "answer": each.answer} for each in family.candidates],
            }
        )
    ).digest()
