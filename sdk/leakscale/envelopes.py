"""Check what was signed: in-toto statements in DSSE envelopes, which have one form only.

A byte changed anywhere in an envelope shows, be it one that no signature covers. The signature itself is checked by
securesystemslib, as in-toto's and TUF's own tools check theirs.

What this does not guard: whoever holds the key can sign anything again. A stranger trusts a key by its name.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leakscale.errors import IntegrityError
from leakscale.models import SignedStatement
from leakscale.reading import fault_of, parse_json
from leakscale.statements import PAYLOAD_TYPE, envelope_bytes, key_id, predicate_of, subject_of

__all__ = ["Opened", "check_signature", "open_envelope", "statement_in"]


@dataclass(frozen=True, slots=True)
class Opened:
    """A statement whose signature holds."""

    subject: str
    digest: bytes
    """SHA-256 of what the subject stands for."""
    facts: Mapping[str, Any]


def open_envelope(content: bytes, predicate: str, *, public_key: bytes, source: str) -> Opened:
    """Check an envelope and return what it states.

    Args:
        content: Bytes of the envelope.
        predicate: Type of what it has to state, a URN.
        public_key: Raw key that has to have signed it.
        source: File, and place in it, for the message.

    Raises:
        IntegrityError: If a byte differs from what was signed, or another key signed.
        ModuleNotFoundError: If neither the extra `verify` nor `audit` is installed.
    """
    try:
        # 1. The envelope is of this key and type, and holds one signature.
        fields = parse_json(content)
        payload = base64.b64decode(fields["payload"], validate=True)
        (signed,) = fields["signatures"]
        signature = base64.b64decode(signed["sig"], validate=True)
        if signed["keyid"] != key_id(public_key) or fields["payloadType"] != PAYLOAD_TYPE:
            raise ValueError("another key signed it")
        # 2. Nothing else is in it: written again from its parts, it has the same bytes.
        if envelope_bytes(payload, signature=signature, public_key=public_key) != content:
            raise ValueError("its bytes are not the ones that were written")
        # 3. The key signed this payload.
        check_signature(payload, signature=signature, public_key=public_key)
        # 4. It states what is asked for.
        subject, digest = subject_of(payload)
        return Opened(subject, digest, predicate_of(payload, predicate))
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"{source}: changed after it was signed ({fault_of(error)}); restore the file from a copy"
        ) from error


def statement_in(content: bytes, *, public_key: bytes) -> SignedStatement:
    """Return the statement of an envelope that `open_envelope` has checked."""
    fields = parse_json(content)
    signature = base64.b64decode(fields["signatures"][0]["sig"])
    return SignedStatement(base64.b64decode(fields["payload"]), signature, public_key)


def check_signature(payload: bytes, *, signature: bytes, public_key: bytes) -> None:
    """Check the signature of a statement, as an envelope would carry it.

    Raises:
        ValueError: If the key did not sign it.
    """
    from securesystemslib.dsse import Envelope  # noqa: PLC0415 - an extra
    from securesystemslib.exceptions import VerificationError  # noqa: PLC0415
    from securesystemslib.signer import Signature, SSlibKey  # noqa: PLC0415

    name = key_id(public_key)
    key = SSlibKey(name, "ed25519", "ed25519", {"public": public_key.hex()})
    try:
        Envelope(payload, PAYLOAD_TYPE, {name: Signature(name, signature.hex())}).verify([key], 1)
    except VerificationError as error:
        raise ValueError("its signature does not hold") from error
