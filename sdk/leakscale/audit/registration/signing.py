"""Sign what an audit states, and open what it signed: in-toto statements in DSSE envelopes, written as canonical JSON.

An envelope has one form only, so that a byte changed anywhere in it shows, be it one that no signature covers.

What this does not guard: whoever holds the key can sign anything again. A stranger trusts a key by its name, which the
auditor publishes before the results.
"""

from __future__ import annotations

import base64
import enum
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.merkle import Frontier, leaf_hash
from leakscale.statements import PAYLOAD_TYPE, Predicate, envelope, key_id, predicate_of, signed_bytes, statement
from leakscale.statements import subject_of as statement_subject

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = [
    "AuditKey",
    "AuditStatement",
    "Frontier",
    "Opened",
    "claimed_key",
    "key_id",
    "leaf_hash",
    "open_envelope",
]

_KEY_BYTES: Final = 32


class AuditStatement(enum.StrEnum):
    """What an audit states."""

    REGISTRATION = "urn:leakscale:audit-registration:v1"
    """This was decided before a model was asked."""
    ENTRY = "urn:leakscale:audit-entry:v1"
    """This was done next."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A statement whose signature holds."""

    subject: str
    digest: bytes
    """SHA-256 of what the subject stands for."""
    facts: Mapping[str, Any]


class AuditKey:
    """An Ed25519 key of one audit."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def made_in(cls, path: Path) -> AuditKey:
        """Make a key and keep it in a new file that nobody else may read; raises as `kept_in`."""
        private_key, _ = _ed25519()
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
        private_key, _ = _ed25519()
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
        payload = statement(_predicate(kind), subject=subject, digest=digest, predicate=facts)
        return canonical_json(
            envelope(payload, signature=self._key.sign(signed_bytes(payload)), public_key=self.public)
        )


def open_envelope(content: bytes, kind: AuditStatement, *, public_key: bytes, source: str) -> Opened:
    """Check an envelope and return what it states.

    Args:
        content: Bytes of the envelope.
        kind: What it has to be.
        public_key: Raw key that has to have signed it.
        source: File, and place in it, for the message.

    Raises:
        IntegrityError: If a byte differs from what was signed, or another key signed.
        InvalidRequestError: If the extra `audit` is not installed.
    """
    _, known_key = _ed25519()
    try:
        # 1. The envelope is of this key and type, and holds one signature.
        fields = json.loads(content)
        payload = base64.b64decode(fields["payload"], validate=True)
        (signed,) = fields["signatures"]
        signature = base64.b64decode(signed["sig"], validate=True)
        if signed["keyid"] != key_id(public_key) or fields["payloadType"] != PAYLOAD_TYPE:
            raise ValueError("another key signed it")
        # 2. Nothing else is in it: written again from its parts, it has the same bytes.
        if canonical_json(envelope(payload, signature=signature, public_key=public_key)) != content:
            raise ValueError("its bytes are not the ones that were written")
        # 3. The key signed this payload.
        _verify(known_key.from_public_bytes(public_key), signature, payload)
        # 4. It states what is asked for.
        subject, digest = statement_subject(payload)
        return Opened(subject, digest, predicate_of(payload, _predicate(kind)))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise IntegrityError(
            f"{source}: changed after it was signed ({reason}); restore the file from a copy"
        ) from error


def claimed_key(content: bytes, *, source: str) -> bytes:
    """Return the key that a ledger's first entry names. Nothing is checked; `open_envelope` with that key does it.

    Raises:
        IntegrityError: If it names none.
    """
    try:
        facts = predicate_of(base64.b64decode(json.loads(content)["payload"]), _predicate(AuditStatement.ENTRY))
        key = bytes.fromhex(facts["public_key"])
        if len(key) != _KEY_BYTES:
            raise ValueError("its key has another length")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise IntegrityError(f"{source}: names no key ({error}); restore the file from a copy") from error
    return key


def _verify(key: Ed25519PublicKey, signature: bytes, payload: bytes) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

    try:
        key.verify(signature, signed_bytes(payload))
    except InvalidSignature as error:
        raise ValueError("its signature does not hold") from error


def _ed25519() -> tuple[type[Ed25519PrivateKey], type[Ed25519PublicKey]]:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InvalidRequestError("signing needs cryptography; run `pip install 'leakscale[audit]'`") from error
    return ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey


def _predicate(kind: AuditStatement) -> Predicate:
    # The statements of a server are its own list; an audit's differ from them by their URN alone.
    return cast("Predicate", kind)
