"""The server's Ed25519 key, kept in one file of mode 0600."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from leakscale.statements import signed_bytes
from leakscale.whole_files import load_or_create

__all__ = ["Signer"]

_KEY_BYTES: Final = 32


class Signer:
    """Signs certificates, disclosures and ledger heads."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        """Raw public key, 32 bytes."""

    @classmethod
    def load_or_create(cls, path: Path) -> Signer:
        """Read the key at `path`, or make one there on first use.

        Raises:
            ValueError: If the file holds no key. It is not replaced: what was signed before would lose its key.
        """
        raw = load_or_create(path, lambda: Ed25519PrivateKey.generate().private_bytes_raw())
        if len(raw) != _KEY_BYTES:
            raise ValueError(f"{path} has {len(raw)} bytes and a signing key has {_KEY_BYTES}; restore it from a copy")
        return cls(Ed25519PrivateKey.from_private_bytes(raw))

    def sign(self, payload: bytes) -> bytes:
        """Sign a payload, 64 bytes."""
        return self._key.sign(payload)

    def is_own(self, payload: bytes, signature: bytes) -> bool:
        """Tell whether a signature is this key's over a payload."""
        try:
            self._key.public_key().verify(signature, payload)
        except InvalidSignature:
            return False
        return True

    def sign_statement(self, payload: bytes) -> bytes:
        """Sign an in-toto statement as the one signature of a DSSE envelope, 64 bytes."""
        return self._key.sign(signed_bytes(payload))
