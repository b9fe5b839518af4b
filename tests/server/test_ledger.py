"""The tree under the ledger, against vectors that others published."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from leakscale.merkle import leaf_hash, tree_hash
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

ENTRIES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
"""Inputs of the reference tests of certificate-transparency-go and its ports."""
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Their roots, of the first one to eight inputs."""


def test_the_empty_tree_is_the_hash_of_nothing() -> None:
    """RFC 9162, 2.1.1."""
    assert tree_hash([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_are_the_published_ones(size: int) -> None:
    """A ledger that hashed in its own way could be checked by nobody else."""
    assert tree_hash([leaf_hash(bytes.fromhex(entry)) for entry in ENTRIES[:size]]).hex() == ROOTS[size - 1]


@pytest.mark.parametrize("size", [9, 15, 16, 17, 100, 1000])
def test_larger_trees_follow_the_recursion_of_the_rfc(size: int) -> None:
    """Beyond the vectors: the definition itself, split at the largest power of two below the size."""
    leaves = [leaf_hash(str(number).encode()) for number in range(size)]

    def recursive(part: list[bytes]) -> bytes:
        if len(part) == 1:
            return part[0]
        split = 1 << (len(part) - 1).bit_length() - 1
        return hashlib.sha256(b"\x01" + recursive(part[:split]) + recursive(part[split:])).digest()

    assert tree_hash(leaves) == recursive(leaves)


def test_entries_are_numbered_in_order_and_change_the_head(tmp_path: Path) -> None:
    """An entry that could be left out of the head could be denied."""
    registry = open_registry(tmp_path)
    ledger = Ledger(registry, Signer.load_or_create(tmp_path / "key"))
    heads = [ledger.head().root]

    positions = []
    for number in range(5):
        positions.append(ledger.append("test", {"number": number}))
        heads.append(ledger.head().root)

    assert positions == list(range(5))
    assert len(set(heads)) == 6
    registry.close()


def test_an_entry_rolled_back_with_its_fact_leaves_no_gap(tmp_path: Path) -> None:
    """Both exist or neither; the next entry takes the place."""
    registry = open_registry(tmp_path)
    ledger = Ledger(registry, Signer.load_or_create(tmp_path / "key"))

    with pytest.raises(ZeroDivisionError), registry.transaction():
        ledger.append("test", {"number": 0})
        _ = 1 // 0

    assert ledger.append("test", {"number": 1}) == 0
    registry.close()
