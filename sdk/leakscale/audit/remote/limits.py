"""Bounds of an audit that is deposited on a server; both sides hold to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = [
    "AMENDMENTS_MAX",
    "ANSWERS_PER_CHUNK_MAX",
    "ANSWER_BYTES_MAX",
    "DOCUMENT_BYTES_MAX",
    "FORMS_MAX",
    "FORM_BYTES_MAX",
    "GOLD_BYTES",
    "MODELS_MAX",
    "PARENTS_MAX",
    "PIECE_BYTES_MAX",
    "PIECE_PARENTS_MAX",
    "asks_anew",
]

DOCUMENT_BYTES_MAX: Final = 256 * 1024
"""Of a signed registration or amendment."""
AMENDMENTS_MAX: Final = 8
MODELS_MAX: Final = 64
"""Models of a registration."""
PARENTS_MAX: Final = 20_000
"""Parents of a bank."""
FORMS_MAX: Final = 200_000
"""Forms of a bank."""
FORM_BYTES_MAX: Final = 64 * 1024
"""Text of a form in UTF-8, its options' texts included."""
GOLD_BYTES: Final = 1024
"""What every right answer is padded to in UTF-8, so that sizes say nothing of it; a longer one is refused."""
PIECE_BYTES_MAX: Final = 1024 * 1024
"""Of a piece or chunk before it is sealed."""
PIECE_PARENTS_MAX: Final = 256
ANSWERS_PER_CHUNK_MAX: Final = 256
ANSWER_BYTES_MAX: Final = 256 * 1024
"""Text of an answer in UTF-8."""


def asks_anew(changes: Iterable[str]) -> bool:
    """Tell whether an amendment of these fields changes what an answer or a score depends on.

    One of the inference alone does not: it takes the registered scores, and a server keeps no answer sets for it.
    """
    return any(not field.startswith("inference.") for field in changes)
