"""What a token looks like: `lsk_<id>_<secret>`, both in lower-case hexadecimal.

The id is public and finds the row; the secret is 256 random bits, of which the server keeps a digest. A plain SHA-256
is enough for that: slow password hashes are for secrets that can be guessed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

__all__ = ["digest_of", "id_of", "new_token"]

_FORM: Final = re.compile(r"lsk_([0-9a-f]{12})_[0-9a-f]{64}")


def new_token() -> tuple[str, str]:
    """Draw a token; return its id and its text."""
    token_id = secrets.token_hex(6)
    return token_id, f"lsk_{token_id}_{secrets.token_hex(32)}"


def id_of(text: str) -> str | None:
    """Return the id of a token, or None if the text is none."""
    found = _FORM.fullmatch(text)
    return found[1] if found else None


def digest_of(text: str) -> bytes:
    """Return what the server keeps of a token, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()
