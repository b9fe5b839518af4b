"""Canonical JSON (RFC 8785) and SHA-256 over it: the one form in which anything is signed or compared."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

__all__ = ["canonical_json", "json_digest"]


def canonical_json(value: Any) -> bytes:
    """Write a value as canonical JSON.

    Args:
        value: Objects with string keys, lists, strings, booleans, None, floats, and integers within ±(2**53 - 1).

    Raises:
        ValueError: If the value holds anything else; larger integers travel as text.
    """
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise ValueError(str(error)) from error


def json_digest(value: Any) -> bytes:
    """Return SHA-256 of the canonical JSON of a value, 32 bytes."""
    return hashlib.sha256(canonical_json(value)).digest()
