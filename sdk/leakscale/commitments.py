"""What an edition commits to: the public part of each family byte for byte, and its private part under a nonce.

Whoever certifies makes these digests, whoever checks makes them again, and both do it here. Each commitment to
something private carries a 32-byte nonce: a digest over four possible truths is inverted by trying four values.
"""

from __future__ import annotations

import hashlib

from leakscale.digests import canonical_json
from leakscale.merkle import leaf_hash
from leakscale.models import Candidate, Condition, Domain, Family, Ring
from leakscale.reading import fault_of, parse_json

__all__ = ["condition_commitment", "family_of", "public_bytes", "public_digest", "truth_leaf"]


def public_bytes(family: Family) -> bytes:
    """Write everything that the public sees of a family in one ring, as canonical JSON."""
    return canonical_json(
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


def family_of(public: bytes) -> Family:
    """Read what `public_bytes` wrote.

    Raises:
        ValueError: If it is no family.
    """
    try:
        fields = parse_json(public)
        first, second, third, fourth = (Candidate(each["text"], each["answer"]) for each in fields["candidates"])
        return Family(
            family_id=fields["family"],
            domain=Domain(fields["domain"]),
            shape_id=fields["shape"],
            ring=Ring(fields["ring"]),
            task=fields["task"],
            inputs=tuple(fields["inputs"]),
            key=fields["key"],
            candidates=(first, second, third, fourth),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no public family: {fault_of(error)}") from error


def public_digest(family: Family) -> bytes:
    """Digest everything that the public sees of a family in one ring, 32 bytes."""
    return hashlib.sha256(public_bytes(family)).digest()


def truth_leaf(*, edition_id: str, family_id: str, key: str, truth: int, nonce: bytes) -> bytes:
    """Return the Merkle leaf that commits to an association: SHA-256(0x00 ‖ canonical JSON of the opening).

    Args:
        edition_id: Its edition.
        family_id: Its family.
        key: As the public task names it.
        truth: Display index of the correct candidate, 0 to 3.
        nonce: 32 bytes that nobody but the vault holds.
    """
    opening = {"v": 1, "edition": edition_id, "family": family_id, "key": key, "truth": truth, "nonce": nonce.hex()}
    return leaf_hash(canonical_json(opening))


def condition_commitment(condition: Condition, *, nonce: bytes) -> bytes:
    """Commit to whether a family is a control or is exposed, 32 bytes.

    Who answers must not know it, or it could answer the two kinds differently; who checks must see afterwards that it
    was fixed before.
    """
    return hashlib.sha256(b"leakscale-condition-v1\x00" + nonce + condition.value.encode()).digest()
