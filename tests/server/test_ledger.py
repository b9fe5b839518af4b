"""The ledger: its tree against vectors that others published, its proofs, and who may read which entry."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from leakscale.client import Client
from leakscale.errors import InvalidRequestError
from leakscale.heads import head_bytes
from leakscale.merkle import consistency_path, inclusion_path, is_consistent, is_included, leaf_hash, tree_hash
from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc
from leakscale_server.app import RunningServer
from leakscale_server.errors import InvalidRequest
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.ledger import PUBLIC, Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

from .helpers import World

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
INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
"""Their paths, by position and number of entries."""
CONSISTENCY = {
    (1, 1): [],
    (1, 8): INCLUSION[0, 8],
    (6, 8): ["0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a", *INCLUSION[5, 8][1:]],
    (2, 5): [INCLUSION[1, 5][1], INCLUSION[1, 5][2]],
}
"""Their paths, by the numbers of entries of two trees."""
LEAVES = [leaf_hash(bytes.fromhex(entry)) for entry in ENTRIES]


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


@pytest.mark.parametrize(("place", "path"), INCLUSION.items())
def test_inclusion_paths_are_the_published_ones(place: tuple[int, int], path: list[str]) -> None:
    """Made and checked as everybody else makes and checks them."""
    position, count = place
    leaves = LEAVES[:count]

    assert [each.hex() for each in inclusion_path(leaves, position)] == path
    assert is_included(
        leaves[position],
        position,
        leaf_count=count,
        root=bytes.fromhex(ROOTS[count - 1]),
        path=[bytes.fromhex(each) for each in path],
    )


@pytest.mark.parametrize(("counts", "path"), CONSISTENCY.items())
def test_consistency_paths_are_the_published_ones(counts: tuple[int, int], path: list[str]) -> None:
    """A log that proved its growth in its own way would have to be believed."""
    first, second = counts

    assert [each.hex() for each in consistency_path(LEAVES[:second], first)] == path
    assert is_consistent(
        first_count=first,
        first_root=bytes.fromhex(ROOTS[first - 1]),
        second_count=second,
        second_root=bytes.fromhex(ROOTS[second - 1]),
        path=[bytes.fromhex(each) for each in path],
    )


@given(st.integers(1, 70), st.data())
def test_a_path_proves_its_leaf_at_its_place_and_nothing_else(count: int, data: st.DataObject) -> None:
    """A proof that also fits another leaf, place or tree proves nothing."""
    leaves = [leaf_hash(str(number).encode()) for number in range(count)]
    position = data.draw(st.integers(0, count - 1))
    path = list(inclusion_path(leaves, position))
    root = tree_hash(leaves)
    other = data.draw(st.integers(0, count - 1).filter(lambda place: place != position) if count > 1 else st.just(-1))

    assert is_included(leaves[position], position, leaf_count=count, root=root, path=path)
    assert not is_included(leaf_hash(b"x"), position, leaf_count=count, root=root, path=path)
    assert not is_included(leaves[position], other, leaf_count=count, root=root, path=path)
    assert not is_included(leaves[position], position, leaf_count=count, root=root, path=[*path, root])
    for place in range(len(path)):
        damaged = [_flipped(each) if at == place else each for at, each in enumerate(path)]
        assert not is_included(leaves[position], position, leaf_count=count, root=root, path=damaged)


@given(st.integers(1, 70), st.data())
def test_a_path_proves_growth_and_no_other_past(count: int, data: st.DataObject) -> None:
    """Otherwise an entry could be changed after somebody kept a head."""
    first = data.draw(st.integers(1, count))
    leaves = [leaf_hash(str(number).encode()) for number in range(count)]
    path = consistency_path(leaves, first)
    changed = data.draw(st.integers(0, first - 1))
    other_past = [leaf_hash(b"x") if at == changed else leaf for at, leaf in enumerate(leaves[:first])]

    def holds(past: list[bytes], path: Sequence[bytes]) -> bool:
        return is_consistent(
            first_count=first,
            first_root=tree_hash(past),
            second_count=count,
            second_root=tree_hash(leaves),
            path=path,
        )

    assert holds(leaves[:first], path)
    assert not holds(other_past, path)
    for place in range(len(path)):
        damaged = [_flipped(each) if at == place else each for at, each in enumerate(path)]
        assert not holds(leaves[:first], damaged)


def _flipped(digest: bytes) -> bytes:
    return bytes([digest[0] ^ 1]) + digest[1:]


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[InsertOnlyDatabase]:
    made = open_registry(tmp_path)
    yield made
    made.close()


@pytest.fixture
def ledger(registry: InsertOnlyDatabase, tmp_path: Path) -> Ledger:
    return Ledger(registry, Signer.load_or_create(tmp_path / "key"))


def test_entries_are_numbered_in_order_and_change_the_head(ledger: Ledger) -> None:
    """An entry that could be left out of the head could be denied."""
    heads = [ledger.head().root]

    positions = []
    for number in range(5):
        positions.append(ledger.append("test", {"number": number}, project=PUBLIC))
        heads.append(ledger.head().root)

    assert positions == list(range(5))
    assert len(set(heads)) == 6


def test_an_entry_rolled_back_with_its_fact_leaves_no_gap(ledger: Ledger, registry: InsertOnlyDatabase) -> None:
    """Both exist or neither; the next entry takes the place."""
    with pytest.raises(ZeroDivisionError), registry.transaction():
        ledger.append("test", {"number": 0}, project=PUBLIC)
        _ = 1 // 0

    assert ledger.append("test", {"number": 1}, project=PUBLIC) == 0


@pytest.mark.parametrize("statement", ["UPDATE ledger SET entry = x'00'", "DELETE FROM ledger"])
def test_an_entry_can_be_neither_changed_nor_deleted(
    ledger: Ledger, registry: InsertOnlyDatabase, statement: str
) -> None:
    """Not even by the server itself."""
    ledger.append("test", {"number": 0}, project=PUBLIC)

    with pytest.raises(sqlite3.IntegrityError, match="insert-only"):
        registry.rows(statement)
    assert len(ledger.entries(project="any", start=0, limit=10)) == 1


def test_a_project_reads_its_own_entries_and_the_public_ones(ledger: Ledger) -> None:
    """All see every leaf, so all can check the whole tree; what another project does is no business of theirs."""
    ledger.append("edition-frozen", {"edition": "e"}, project=PUBLIC)
    ledger.append("experiment-registered", {"experiment": "a"}, project="one")

    own, strange = (ledger.entries(project=project, start=0, limit=10) for project in ("one", "two"))

    assert [bool(each.content) for each in own] == [True, True]
    assert [bool(each.content) for each in strange] == [True, False]
    assert [each.leaf for each in own] == [each.leaf for each in strange]
    assert [each.leaf for each in own] == [leaf_hash(each.content) for each in own]


def test_the_leaf_of_a_projects_entry_cannot_be_guessed(ledger: Ledger) -> None:
    """The same words twice give two leaves: who guesses an experiment's id learns nothing by hashing it."""
    for _ in range(2):
        ledger.append("experiment-registered", {"experiment": "a"}, project="one")
    entries = [json.loads(each.content) for each in ledger.entries(project="one", start=0, limit=2)]

    salts = [entry.pop("salt") for entry in entries]

    assert len(set(salts)) == 2
    assert all(len(bytes.fromhex(salt)) == 16 for salt in salts)


def test_proofs_of_trees_that_are_not_there_are_refused(ledger: Ledger) -> None:
    """By field, rule and value."""
    for number in range(3):
        ledger.append("test", {"number": number}, project=PUBLIC)

    with pytest.raises(InvalidRequest, match="entry_count 4 is not in 1 to 3"):
        ledger.tree().inclusion(0, entry_count=4)
    with pytest.raises(InvalidRequest, match="position 2 is not in 0 to 1"):
        ledger.tree().inclusion(2, entry_count=2)
    with pytest.raises(InvalidRequest, match="first_entry_count 3 is not in 1 to 2"):
        ledger.tree().consistency(3, 2)
    with pytest.raises(InvalidRequest, match="second_entry_count 0 is not in 1 to 3"):
        ledger.tree().consistency(1, 0)


def test_the_log_of_a_server_is_checked_from_outside(client: Client, world: World) -> None:
    """Entries give the root, the root is signed, and each proof holds: nothing has to be believed but the key."""
    head = client.ledger.head()
    entries = list(client.ledger.entries())[: head.entry_count]
    leaves = [entry.leaf for entry in entries]
    shown = [entry for entry in entries if entry.content]  # the others are other projects'

    assert len(shown) > 5
    assert [leaf_hash(entry.content) for entry in shown] == [entry.leaf for entry in shown]
    assert tree_hash(leaves) == head.root
    for position, leaf in enumerate(leaves):
        found, path = client.ledger.inclusion_proof(position, entry_count=head.entry_count)
        assert found == leaf
        assert is_included(leaf, position, leaf_count=head.entry_count, root=head.root, path=path)
    for count in range(1, head.entry_count + 1):
        assert is_consistent(
            first_count=count,
            first_root=tree_hash(leaves[:count]),
            second_count=head.entry_count,
            second_root=head.root,
            path=client.ledger.consistency_proof(count, head.entry_count),
        )


def test_a_head_is_signed_as_a_head(client: Client, world: World) -> None:
    """With another count or root the signature fails."""
    head = client.ledger.head()
    key = Ed25519PublicKey.from_public_bytes(head.public_key)

    key.verify(head.signature, head_bytes(entry_count=head.entry_count, root=head.root))
    with pytest.raises(InvalidSignature):
        key.verify(head.signature, head_bytes(entry_count=head.entry_count + 1, root=head.root))


def test_pages_of_entries_join_to_the_whole_log(server: RunningServer, client: Client, world: World) -> None:
    """Every entry once, whatever the size of the page."""
    import grpc

    whole = [entry.leaf for entry in client.ledger.entries()]
    with grpc.insecure_channel(server.target) as channel:
        stub = ledger_service_pb2_grpc.LedgerServiceStub(channel)
        joined, token = [], ""
        while True:
            request = ledger_service_pb2.ListLedgerEntriesRequest(page_size=3, page_token=token)
            page = stub.ListLedgerEntries(request, metadata=[("authorization", f"Bearer {server.token}")])
            joined += [entry.leaf for entry in page.entries]
            assert len(page.entries) <= 3
            token = page.next_page_token
            if not token:
                break

    assert joined[: len(whole)] == whole


def test_a_place_that_is_not_there_is_refused_by_name(client: Client, world: World) -> None:
    """Over the wire as in the server."""
    with pytest.raises(InvalidRequestError, match="position -1"):
        client.ledger.inclusion_proof(-1, entry_count=1)
