"""Sealing to a holder's key: what is handed out can be read by the one it was handed to, and by nobody between.

HPKE (RFC 9180) in base mode: X25519, HKDF-SHA-256, ChaCha20-Poly1305. Each piece is sealed on its own, and bound to
its subject (a grant, a deposit, the forms of a bank), to its place in the stream and to whether it is the last: pieces
can be neither exchanged, dropped, repeated nor cut off unseen.

It does *not* guard against a server that seals something else, nor against whoever holds the private key.

Needs `cryptography` from 47: the extra `train`, `audit` or `server`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.whole_files import load_or_create

__all__ = ["PUBLIC_KEY_BYTES", "HolderKey", "SealedPiece", "is_holder_key", "open_pieces", "seal_pieces"]

PUBLIC_KEY_BYTES: Final = 32
_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


@dataclass(frozen=True, slots=True)
class SealedPiece:
    """One piece of a stream."""

    sealed: bytes
    is_last: bool


class HolderKey:
    """The private key of whoever something is sealed to, such as the holder of a grant."""

    def __init__(self, private: bytes | None = None) -> None:
        """Make a key, or take one that `private` returned.

        Raises:
            InvalidRequestError: If it is no raw X25519 key of 32 bytes.
        """
        try:
            self._key = X25519PrivateKey.generate() if private is None else X25519PrivateKey.from_private_bytes(private)
        except ValueError as error:
            raise InvalidRequestError("a holder's key is 32 raw bytes of X25519; make a new one") from error

    @classmethod
    def kept_in(cls, path: Path) -> HolderKey:
        """Return the key of a file, which is made with mode 0600 on first use.

        Raises:
            InvalidRequestError: If the file holds something else.
        """
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(load_or_create(path, lambda: cls().private))

    @property
    def public(self) -> bytes:
        """Raw public key, 32 bytes: what a grant is requested with."""
        return self._key.public_key().public_bytes_raw()

    @property
    def private(self) -> bytes:
        """Raw private key, 32 bytes; keep it in a file of mode 0600, or in memory."""
        return self._key.private_bytes_raw()

    def open(self, sealed: bytes, *, subject: str, index: int, is_last: bool) -> bytes:
        """Open one piece.

        Raises:
            IntegrityError: If it was sealed to another key, for another grant or place, or changed on the way.
        """
        try:
            return _SUITE.decrypt(sealed, self._key, info=_place(subject, index, is_last=is_last))
        except (InvalidTag, ValueError) as error:
            raise IntegrityError(
                f"piece {index} of '{subject}' cannot be opened: it was sealed to another key, or changed on the way; "
                "open it with the key that it was asked for with"
            ) from error


def is_holder_key(public: bytes) -> bool:
    """Tell whether bytes are a public key that something can be sealed to; weak points of the curve are not."""
    if len(public) != PUBLIC_KEY_BYTES:
        return False
    try:
        X25519PrivateKey.generate().exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return False
    return True


def seal_pieces(pieces: Iterable[bytes], *, public_key: bytes, subject: str) -> Iterator[SealedPiece]:
    """Seal a stream to a holder's key, piece by piece.

    Args:
        pieces: At least one.
        public_key: The holder's, 32 raw bytes.
        subject: What the stream is, e.g. the name of a grant.
    """
    key = X25519PublicKey.from_public_bytes(public_key)
    waiting: bytes | None = None
    index = 0
    for piece in pieces:
        if waiting is not None:
            yield SealedPiece(_SUITE.encrypt(waiting, key, info=_place(subject, index, is_last=False)), is_last=False)
            index += 1
        waiting = piece
    if waiting is None:
        raise ValueError("a sealed stream has at least one piece")
    yield SealedPiece(_SUITE.encrypt(waiting, key, info=_place(subject, index, is_last=True)), is_last=True)


def open_pieces(pieces: Iterable[SealedPiece], *, key: HolderKey, subject: str) -> Iterator[bytes]:
    """Open a stream.

    Raises:
        IntegrityError: If a piece cannot be opened, the last one is missing, or one comes after it.
    """
    has_ended = False
    for index, piece in enumerate(pieces):
        if has_ended:
            raise IntegrityError(f"'{subject}' goes on after its last piece; ask for it again")
        yield key.open(piece.sealed, subject=subject, index=index, is_last=piece.is_last)
        has_ended = piece.is_last
    if not has_ended:
        raise IntegrityError(f"'{subject}' was cut off before its last piece; ask for it again, by the same request")


def _place(subject: str, index: int, *, is_last: bool) -> bytes:
    return canonical_json({"v": "leakscale-sealed-v1", "subject": subject, "index": index, "last": is_last})
