"""What was sealed to one key is read by that key alone, whole and in order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.sealing import HolderKey, SealedPiece, is_holder_key, open_pieces, seal_pieces

GRANT = "editions/e/grants/g-1"


def sealed(*pieces: bytes, key: HolderKey, subject: str = GRANT) -> list[SealedPiece]:
    """Seal a stream."""
    return list(seal_pieces(pieces, public_key=key.public, subject=subject))


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=5))
def test_the_holder_reads_what_was_sealed(pieces: list[bytes]) -> None:
    """Every piece, in order, empty ones too."""
    key = HolderKey()
    assert list(open_pieces(sealed(*pieces, key=key), key=HolderKey(key.private), subject=GRANT)) == pieces


def test_sealing_twice_gives_other_bytes_of_one_length() -> None:
    """Equal contents must not be told by equal bytes."""
    key = HolderKey()
    first, second = sealed(b"answer", key=key)[0].sealed, sealed(b"answer", key=key)[0].sealed
    assert first != second
    assert len(first) == len(second)
    assert b"answer" not in first


@pytest.mark.parametrize(
    "change",
    [
        lambda pieces: [pieces[1], pieces[0], pieces[2]],
        lambda pieces: [pieces[0], pieces[0], pieces[2]],
        lambda pieces: [pieces[0], pieces[2]],
        lambda pieces: pieces[:2],
        lambda pieces: [pieces[0], replace(pieces[1], is_last=True)],
        lambda pieces: [*pieces, pieces[2]],
        lambda pieces: [replace(pieces[0], sealed=pieces[0].sealed[:-1] + b"\0"), *pieces[1:]],
        lambda pieces: [replace(pieces[0], sealed=b""), *pieces[1:]],
        lambda pieces: [],
    ],
    ids=["exchanged", "repeated", "dropped", "cut off", "ended early", "goes on", "changed", "emptied", "nothing"],
)
def test_a_stream_that_was_tampered_with_is_refused(change: object) -> None:
    """Whoever carries the stream can change nothing of it unseen."""
    key = HolderKey()
    pieces = sealed(b"one", b"two", b"three", key=key)
    with pytest.raises(IntegrityError):
        list(open_pieces(change(pieces), key=key, subject=GRANT))  # type: ignore[operator]


def test_neither_another_key_nor_another_grant_opens_it() -> None:
    """A grant is redeemed by its holder."""
    key = HolderKey()
    pieces = sealed(b"one", key=key)
    with pytest.raises(IntegrityError, match="sealed to another key"):
        list(open_pieces(pieces, key=HolderKey(), subject=GRANT))
    with pytest.raises(IntegrityError, match="sealed to another key"):
        list(open_pieces(pieces, key=key, subject="editions/e/grants/g-2"))


@pytest.mark.parametrize("public", [b"", bytes(32), b"\1" + bytes(31), b"k" * 31, b"k" * 33])
def test_what_is_no_key_is_not_sealed_to(public: bytes) -> None:
    """Zero and the other weak points of the curve would give everybody the same secret."""
    assert not is_holder_key(public)


def test_a_key_is_32_bytes() -> None:
    """Half a file is no key."""
    assert is_holder_key(HolderKey().public)
    with pytest.raises(InvalidRequestError, match="32 raw bytes"):
        HolderKey(b"short")
