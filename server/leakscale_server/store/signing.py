"""The server's Ed25519 key, kept in one file of mode 0600."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

__all__ = ["Signer"]


class Signer:
    """Signs certificates, disclosures and ledger heads."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        """Raw public key, 32 bytes."""

    @classmethod
    def load_or_create(cls, path: Path) -> Signer:
        """Read the key at `path`, or make one there on first use."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls(Ed25519PrivateKey.from_private_bytes(path.read_bytes()))
        key = Ed25519PrivateKey.generate()
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes_raw())
        return cls(key)

    def sign(self, payload: bytes) -> bytes:
        """Sign a payload, 64 bytes."""
        return self._key.sign(payload)
