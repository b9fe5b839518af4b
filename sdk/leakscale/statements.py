"""What a server signs: in-toto statements, signed as DSSE envelopes sign them.

A statement and its signature travel as two byte strings, so that nobody writes the JSON again in order to check it;
`envelope` puts the standard form together for other tools.

Source: in-toto Attestation Framework v1 (statement layer); DSSE v1.0.2 (pre-authentication encoding, envelope).
"""

from __future__ import annotations

import base64
import enum
import hashlib
from collections.abc import Mapping
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.reading import fault_of, parse_json

__all__ = [
    "PAYLOAD_TYPE",
    "Predicate",
    "envelope",
    "envelope_bytes",
    "key_id",
    "predicate_of",
    "signed_bytes",
    "statement",
    "subject_of",
]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
_STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"


class Predicate(enum.StrEnum):
    """What a statement says of its subject."""

    CERTIFICATE = "urn:leakscale:certificate:v1"
    """A family obeys the acceptance rule."""
    EDITION = "urn:leakscale:edition:v1"
    """An edition is frozen, under this root of commitments."""
    RETIREMENT = "urn:leakscale:retirement:v1"
    """An edition is retired, and these are the openings of its commitments."""
    DISCLOSURE = "urn:leakscale:disclosure:v1"
    """Numbers that were released for an experiment."""
    DEPOSIT_KEY = "urn:leakscale:deposit-key:v1"
    """Deposits and answers of an audit are sealed to this key."""
    AUDIT_AMENDMENT = "urn:leakscale:audit-amendment:v1"
    """An amendment of a deposited audit came, after this was sealed and that had left."""
    FORM_ANSWERS = "urn:leakscale:form-answers:v1"
    """These answers to the forms of an audit are sealed."""
    AUDIT_SCORES = "urn:leakscale:audit-scores:v1"
    """Scores of sealed answers to the forms of an audit."""


def statement(kind: str, *, subject: str, digest: bytes, predicate: Mapping[str, Any]) -> bytes:
    """Write a statement as canonical JSON.

    Args:
        kind: What it says: a `Predicate`, or the URN of another one.
        subject: Resource name, such as `editions/demo/families/f-9c1e03ab54d2`.
        digest: SHA-256 of what the name stands for.
        predicate: The facts.
    """
    return canonical_json(
        {
            "_type": _STATEMENT_TYPE,
            "subject": [{"name": subject, "digest": {"sha256": digest.hex()}}],
            "predicateType": str(kind),
            "predicate": dict(predicate),
        }
    )


def predicate_of(payload: bytes, kind: str) -> dict[str, Any]:
    """Read the facts out of a statement. Its signature is not checked here.

    Raises:
        ValueError: If it is no statement of this kind.
    """
    fields = _fields(payload)
    if fields["predicateType"] != kind:
        raise ValueError(f"the statement is a {fields['predicateType']!r}, not a {str(kind)!r}")
    predicate = fields["predicate"]
    if not isinstance(predicate, dict):
        raise ValueError("the statement's predicate is no object")
    return predicate


def subject_of(payload: bytes) -> tuple[str, bytes]:
    """Return the name that a statement is about, and the SHA-256 of what the name stands for.

    Raises:
        ValueError: If it is no statement about one subject.
    """
    try:
        (subject,) = _fields(payload)["subject"]
        return str(subject["name"]), bytes.fromhex(subject["digest"]["sha256"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"the statement has no subject: {fault_of(error)}") from error


def signed_bytes(payload: bytes) -> bytes:
    """Return what the signature of a statement is over: DSSE's encoding of type and payload."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def key_id(public_key: bytes) -> str:
    """Name a raw Ed25519 key: SHA-256 in hex."""
    return hashlib.sha256(public_key).hexdigest()


def envelope(payload: bytes, *, signature: bytes, public_key: bytes) -> dict[str, Any]:
    """Put a statement, its signature and the name of its key together as a DSSE envelope, ready for JSON."""
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": key_id(public_key), "sig": base64.b64encode(signature).decode()}],
    }


def envelope_bytes(payload: bytes, *, signature: bytes, public_key: bytes) -> bytes:
    """Return the one form in which an envelope is kept: canonical JSON, so that its digest names it."""
    return canonical_json(envelope(payload, signature=signature, public_key=public_key))


def _fields(payload: bytes) -> dict[str, Any]:
    fields = parse_json(payload)
    if not isinstance(fields, dict) or fields.get("_type") != _STATEMENT_TYPE:
        raise ValueError("the signed bytes are no in-toto statement of version 1")
    if not {"subject", "predicateType", "predicate"} <= fields.keys():
        raise ValueError("the statement lacks a subject, a predicate or its type")
    return fields
