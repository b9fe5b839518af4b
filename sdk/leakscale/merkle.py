"""Merkle trees over an ordered list of entries: the root, and proofs that a root holds an entry or extends another.

A proof is checked with nothing but hashes, so whoever keeps one signed head can later tell that nothing before it was
changed or dropped.

Source: RFC 9162, section 2.1 (leaf prefix 0x00, node prefix 0x01, split at the largest power of two below n).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

__all__ = [
    "Frontier",
    "consistency_path",
    "inclusion_path",
    "is_consistent",
    "is_included",
    "leaf_hash",
    "tree_hash",
]


def leaf_hash(entry: bytes) -> bytes:
    """Hash one entry, 32 bytes."""
    return hashlib.sha256(b"\x00" + entry).digest()


class Frontier:
    """Roots of the complete subtrees of a list of leaves, largest first: all that is needed to go on."""

    def __init__(self, leaf_hashes: Iterable[bytes] = ()) -> None:
        self._subtrees: list[tuple[int, bytes]] = []
        self.leaf_count = 0
        for leaf in leaf_hashes:
            self.append(leaf)

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash at the end."""
        size, node = 1, leaf
        while self._subtrees and self._subtrees[-1][0] == size:
            node = _node_hash(self._subtrees.pop()[1], node)
            size *= 2
        self._subtrees.append((size, node))
        self.leaf_count += 1

    def root(self) -> bytes:
        """Hash the whole list, 32 bytes; an empty one hashes to SHA-256 of nothing."""
        if not self._subtrees:
            return hashlib.sha256(b"").digest()
        *larger, (_, node) = self._subtrees
        for _, left in reversed(larger):
            node = _node_hash(left, node)
        return node


def tree_hash(leaf_hashes: Iterable[bytes]) -> bytes:
    """Hash a list of leaf hashes, 32 bytes; an empty list hashes to SHA-256 of nothing."""
    return Frontier(leaf_hashes).root()


def inclusion_path(leaf_hashes: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Prove that the tree over all leaves holds the one at `index`: the hashes beside its way to the root.

    Raises:
        ValueError: If there is no such leaf.

    Source: RFC 9162, section 2.1.3.1.
    """
    if not 0 <= index < len(leaf_hashes):
        raise ValueError(f"leaf {index} does not exist; there are {len(leaf_hashes)}")
    path: list[bytes] = []
    leaves = leaf_hashes
    while len(leaves) > 1:
        split = _split(len(leaves))
        left, right = leaves[:split], leaves[split:]
        is_left = index < split
        path.append(tree_hash(right if is_left else left))
        leaves, index = (left, index) if is_left else (right, index - split)
    return tuple(reversed(path))


def is_included(leaf: bytes, index: int, *, leaf_count: int, root: bytes, path: Sequence[bytes]) -> bool:
    """Check a proof of inclusion.

    Args:
        leaf: Hash of the entry.
        index: Its place, 0-based.
        leaf_count: Leaves of the tree.
        root: Hash of the tree.
        path: From `inclusion_path`.

    Source: RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < leaf_count:
        return False
    node, last = index, leaf_count - 1
    found = leaf
    for beside in path:
        if last == 0:
            return False
        if node % 2 or node == last:
            found = _node_hash(beside, found)
            while node % 2 == 0 and node:
                node, last = node // 2, last // 2
        else:
            found = _node_hash(found, beside)
        node, last = node // 2, last // 2
    return last == 0 and found == root


def consistency_path(leaf_hashes: Sequence[bytes], first_count: int) -> tuple[bytes, ...]:
    """Prove that the tree over all leaves begins with the tree over the first `first_count`.

    Raises:
        ValueError: If `first_count` is not in 1 to the number of leaves. Every tree extends the empty one.

    Source: RFC 9162, section 2.1.4.1.
    """
    if not 1 <= first_count <= len(leaf_hashes):
        raise ValueError(f"a tree of {len(leaf_hashes)} leaves has no earlier one of {first_count}")
    path: list[bytes] = []
    leaves, count = leaf_hashes, first_count
    is_whole = True  # whether the subtree at hand is one that the verifier knows as the first root
    while count != len(leaves):
        split = _split(len(leaves))
        if count <= split:
            path.append(tree_hash(leaves[split:]))
            leaves = leaves[:split]
        else:
            path.append(tree_hash(leaves[:split]))
            leaves, count, is_whole = leaves[split:], count - split, False
    if not is_whole:
        path.append(tree_hash(leaves))
    return tuple(reversed(path))


def is_consistent(
    *, first_count: int, first_root: bytes, second_count: int, second_root: bytes, path: Sequence[bytes]
) -> bool:
    """Check a proof that the second tree begins with the first.

    Source: RFC 9162, section 2.1.4.2.
    """
    if not 1 <= first_count <= second_count:
        return False
    if first_count == second_count:
        return not path and first_root == second_root
    hashes = list(path)
    if first_count & (first_count - 1) == 0:
        hashes.insert(0, first_root)
    if not hashes:
        return False
    node, last = first_count - 1, second_count - 1
    while node % 2:
        node, last = node // 2, last // 2
    first = second = hashes[0]
    for beside in hashes[1:]:
        if last == 0:
            return False
        if node % 2 or node == last:
            first, second = _node_hash(beside, first), _node_hash(beside, second)
            while node % 2 == 0 and node:
                node, last = node // 2, last // 2
        else:
            second = _node_hash(second, beside)
        node, last = node // 2, last // 2
    return last == 0 and first == first_root and second == second_root


def _split(count: int) -> int:
    """Return the largest power of two below a count of at least two."""
    return 1 << (count - 1).bit_length() - 1


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
