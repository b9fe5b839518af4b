"""Characters by which a rewrite can look new to a rule and old to a reader.

A soft hyphen in every word, a Cyrillic o for a Latin one, words run together: to the eye it is the original, and to a
comparison of words it has nothing in common with it. What an original itself uses, a rewrite may use.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from leakscale.audit.checks.findings import Finding, Rule, Severity
from leakscale.audit.forms.models import Parent

__all__ = ["check_characters", "folded", "is_same_text", "letters_of"]

_ALIKE: Final = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LATIN"})
"""Scripts that have letters of one shape."""
_WORD: Final = re.compile(r"[^\W\d_]+")


def check_characters(parent: Parent) -> Iterator[Finding]:
    """Find invisible characters, words of mixed scripts, and scripts that the original has not."""
    original = parent.original.text
    for name, form in parent.rewrites():
        if hidden := sorted(_hidden(form.text) - _hidden(original)):
            code = f"U+{ord(hidden[0]):04X}"
            yield Finding(
                Rule.HIDDEN_CHARACTER,
                name,
                f"it has the invisible character {code}, and its original has not; take it out",
                code,
            )
        kept = set(_WORD.findall(original))
        if mixed := next((word for word in _mixed_words(form.text) if word not in kept), None):
            yield Finding(
                Rule.SCRIPTS_MIXED,
                name,
                f"its word {mixed!r} has letters of two scripts that look alike; write it in one",
                ascii(mixed),
            )
        elif other := sorted(_scripts(form.text) - _scripts(original)):
            yield Finding(
                Rule.SCRIPT_DIFFERS,
                name,
                f"it has letters of a script that its original has not ({', '.join(other).lower()}); read whether they "
                "stand for others",
                ", ".join(other).lower(),
                Severity.READ,
            )


def folded(text: str) -> str:
    """Return a text without what no reader sees: case, forms of compatibility, runs of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters_of(text: str) -> str:
    """Return the letters and digits of a folded text; of one that has none, the folded text."""
    return "".join(each for each in folded(text) if each.isalnum()) or folded(text)


def is_same_text(one: str, other: str) -> bool:
    """Tell whether two texts have the same letters and digits in one order, whatever stands between them."""
    return letters_of(one) == letters_of(other)


def _hidden(text: str) -> set[str]:
    """Return the characters of a text that show nothing and stand for nothing: of format, private or unassigned."""
    return {each for each in text if unicodedata.category(each) in {"Cf", "Cn", "Co", "Cs"}}


def _mixed_words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if not word.isascii() and len(_scripts(word) & _ALIKE) > 1:
            yield word


def _scripts(text: str) -> set[str]:
    """Return the scripts of a text's letters, as the names of the letters begin."""
    letters = {each for each in text if each.isalpha() and not each.isascii()}
    found = {unicodedata.name(each, "?").split()[0] for each in letters if unicodedata.category(each) != "Lm"}
    return found | ({"LATIN"} if any(each.isascii() and each.isalpha() for each in text) else set())
