"""Sign what an audit states, and open what it signed: in-toto statements in DSSE envelopes, written as canonical JSON.

An envelope has one form only, so that a byte changed anywhere in it shows, be it one that no signature covers.

What this does not guard: whoever holds the key can sign anything again. A stranger trusts a key by its name, which the
auditor publishes before the results.
"""

from __future__ import annotations

import base64
import enum
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from leakscale.envelopes import Opened, open_envelope
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.merkle import Frontier, leaf_hash
from leakscale.reading import fault_of, parse_json
from leakscale.statements import envelope_bytes, key_id, predicate_of, signed_bytes, statement

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "AuditKey",
    "AuditStatement",
    "Frontier",
    "Opened",
    "claimed_key",
    "claimed_statement",
    "key_id",
    "leaf_hash",
    "open_envelope",
]

_KEY_BYTES: Final = 32


class AuditStatement(enum.StrEnum):
    """What an audit states."""

    REGISTRATION = "urn:leakscale:audit-registration:v2"
    """This was decided before a model was asked."""
    ENTRY = "urn:leakscale:audit-entry:v1"
    """This was done next."""


class AuditKey:
    """An Ed25519 key of one audit."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def made_in(cls, path: Path) -> AuditKey:
        """Make a key and keep it in a new file that nobody else may read; raises as `kept_in`."""
        private_key = _ed25519()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(private_key.generate().private_bytes_raw())
            file.flush()
            os.fsync(file.fileno())
        return cls.kept_in(path)

    @classmethod
    def kept_in(cls, path: Path) -> AuditKey:
        """Read a key.

        Raises:
            NotFoundError: If there is none.
            InvalidRequestError: If the extra `audit` is not installed, or the file holds no key.
        """
        private_key = _ed25519()
        if not path.is_file():
            raise NotFoundError(f"key '{path}' is missing, and the audit is signed with it; restore it from a copy")
        raw = path.read_bytes()
        if len(raw) != _KEY_BYTES:
            raise InvalidRequestError(
                f"key '{path}' has {len(raw)} bytes, an Ed25519 key has {_KEY_BYTES}; restore it from a copy"
            )
        return cls(private_key.from_private_bytes(raw))

    @property
    def public(self) -> bytes:
        """Raw public key, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, kind: AuditStatement, *, subject: str, digest: bytes, facts: Mapping[str, Any]) -> bytes:
        """Return a signed envelope as canonical JSON.

        Raises:
            ValueError: If the facts hold what JSON cannot.
        """
        payload = statement(kind, subject=subject, digest=digest, predicate=facts)
        return envelope_bytes(payload, signature=self._key.sign(signed_bytes(payload)), public_key=self.public)


def claimed_key(content: bytes, *, source: str) -> bytes:
    """Return the key that a ledger's first entry names. Nothing is checked; `open_envelope` with that key does it.

    Raises:
        IntegrityError: If it names none.
    """
    try:
        facts = predicate_of(base64.b64decode(parse_json(content)["payload"]), AuditStatement.ENTRY)
        key = bytes.fromhex(facts["public_key"])
        if len(key) != _KEY_BYTES:
            raise ValueError("its key has another length")
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(f"{source}: names no key ({fault_of(error)}); restore the file from a copy") from error
    return key


def claimed_statement(content: bytes) -> str:
    """Return the type that an envelope says its statement is of, empty where it says none. Nothing is checked."""
    try:
        return str(parse_json(base64.b64decode(parse_json(content)["payload"]))["predicateType"])
    except (KeyError, TypeError, ValueError):
        return ""


def _ed25519() -> type[Ed25519PrivateKey]:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InvalidRequestError("signing needs cryptography; run `pip install 'leakscale[audit]'`") from error
    return ed25519.Ed25519PrivateKey
