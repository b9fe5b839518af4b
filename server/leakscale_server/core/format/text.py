"""Texts that two readers read alike: printable, on one line, composed, and without letters that nobody sees.

Two words that look the same and are not would be two candidates for the server and one for a reader, or a candidate
that a model's tokenizer drops.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["PLAIN_TEXT_RULE", "is_plain_text", "stays_composed", "with_plain_marks"]

PLAIN_TEXT_RULE: Final = "must be printable, in Unicode's form NFC and without invisible letters"

_MINUS: Final = "\u2212"
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point, and the Braille pattern without dots.

Source: Unicode 16, DerivedCoreProperties.txt. `str.isprintable` takes some of them for letters.
"""


def is_plain_text(text: str) -> bool:
    """Return whether a text is what it looks like, and on one line, so that it cannot forge a line of a prompt.

    Does *not* guard against letters of two scripts that look alike, such as Latin and Cyrillic `a`.
    """
    return text.isprintable() and not _INVISIBLE.search(text) and unicodedata.is_normalized("NFC", text)


def stays_composed(alphabet: str) -> bool:
    """Return whether every text over an alphabet is plain when its letters are: no two of them compose."""
    return all(unicodedata.is_normalized("NFC", first + second) for first in alphabet for second in alphabet)


def with_plain_marks(text: str) -> str:
    """Return a text with the marks of ASCII in place of those that read like them: any dash, a wide colon or letter.

    For looking something up in a text that a reader would find there. It may have another length.
    """
    folded = unicodedata.normalize("NFKC", text)
    return "".join("-" if letter == _MINUS or unicodedata.category(letter) == "Pd" else letter for letter in folded)
