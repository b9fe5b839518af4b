"""Merkle tree hash over an ordered list of entries.

Source: RFC 9162, section 2.1.1 (leaf prefix 0x00, node prefix 0x01, split at the largest power of two below n).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

__all__ = ["leaf_hash", "tree_hash"]


def leaf_hash(entry: bytes) -> bytes:
    """Hash one entry, 32 bytes."""
    return hashlib.sha256(b"\x00" + entry).digest()


def tree_hash(leaf_hashes: Sequence[bytes]) -> bytes:
    """Hash a list of leaf hashes, 32 bytes; an empty list hashes to SHA-256 of nothing."""
    if not leaf_hashes:
        return hashlib.sha256(b"").digest()
    # Complete subtrees of the leaves so far, largest first: the binary digits of the count.
    stack: list[tuple[int, bytes]] = []
    for leaf in leaf_hashes:
        size, node = 1, leaf
        while stack and stack[-1][0] == size:
            node = _node_hash(stack.pop()[1], node)
            size *= 2
        stack.append((size, node))
    _, root = stack.pop()
    while stack:
        root = _node_hash(stack.pop()[1], root)
    return root


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
