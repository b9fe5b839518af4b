"""What the signature of a ledger's head is over."""

from __future__ import annotations

from typing import Final

from leakscale.digests import canonical_json

__all__ = ["head_bytes"]

_TYPE: Final = "leakscale-ledger-head-v1"


def head_bytes(*, entry_count: int, root: bytes) -> bytes:
    """Return the bytes that are signed for a ledger of so many entries with this Merkle root.

    They name their type: a key that signs heads signs statements too, and none may be taken for the other.
    """
    return canonical_json({"entry_count": entry_count, "root": root.hex(), "type": _TYPE})
