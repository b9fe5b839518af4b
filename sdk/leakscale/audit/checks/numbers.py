"""Numbers of a text, as far as a rule can see them.

A rewrite keeps every quantity of its original. In digits, fractions and powers of one character included, that is
decided exactly. A number written as a word may be a quantity or, like `one`, a pronoun, and a sign may be a minus or a
dash, so a difference in words, signs, and what is written right behind a number (`3kg`, `20%`) asks somebody to read.

Source: CleanScore 7.1 (multiset of numeric tokens); METHODS 7.3. The paper names no rule for what a token is.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final

from leakscale.audit.checks.findings import Finding, Rule, Severity
from leakscale.audit.forms.models import Parent

__all__ = ["check_numbers", "number_words", "numeric_tokens"]

_GROUPED: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_PLAIN: Final = r"\d+(?:\.\d+)?"
_NUMBER: Final = re.compile(rf"(?<![\w.])(?:{_GROUPED}|{_PLAIN})(?!\d)|(?<=[^\W\d_])\d+|\.\d+")
_WORDS: Final = re.compile(
    r"\b(zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|"
    r"second|third|thirds|fourth|fourths|fifth|fifths|sixth|sixths|seventh|eighth|ninth|tenth|eleventh|twelfth|"
    r"half|halves|quarter|quarters|once|twice|thrice|double|doubled|triple|tripled|dozen|dozens|pair|minus|negative)\b",
    re.IGNORECASE,
)
_SIGNED: Final = re.compile(r"(?<![\w)\]}])(?<!\d )[-\u2010-\u2013\u2212\ufe63\uff0d]\s?(?=[$€£¥]?\d)")
_UNITS: Final = "kg|g|mg|t|lbs?|oz|km|m|cm|mm|mi|ft|yd|h|hrs?|min|s|sec|ms|l|ml|cl|gal|mph|kph|c|f|k|w|kw|kwh"
_SUFFIX: Final = re.compile(rf"(?<=\d)(?:\s?([%‰°])|([^\W\d_]+)|\s({_UNITS})(?![^\W_]))", re.IGNORECASE)
"""What belongs to the number before it: a sign, letters without a space between, or a unit."""
_CURRENCY: Final = re.compile(r"[$€£¥₹₩]")


def numeric_tokens(text: str) -> Counter[str]:
    """Return the numbers that a text writes in digits, with their counts; `1,000.50` is there as `1000.5`."""
    return Counter(_plain(token) for token in _NUMBER.findall(text)) + Counter(
        each for each in text if unicodedata.category(each) in {"No", "Nl"}
    )


def number_words(text: str) -> Counter[str]:
    """Return what else of a text may belong to a quantity, with its counts.

    That is its English number words in lower case, minus signs, currencies, numerals that are letters, as in Chinese,
    and what stands right behind a number.
    """
    found = Counter(word.lower() for word in _WORDS.findall(text))
    found += Counter("-" for _ in _SIGNED.findall(text)) + Counter(_CURRENCY.findall(text))
    found += Counter("".join(suffix).lower() for suffix in _SUFFIX.findall(text))
    return found + Counter(each for each in text if not each.isascii() and each.isalpha() and each.isnumeric())


def check_numbers(parent: Parent) -> Iterator[Finding]:
    """Compare the numbers of each rewrite with those of the original."""
    digits, words = numeric_tokens(parent.original.text), number_words(parent.original.text)
    for name, form in parent.rewrites():
        found = numeric_tokens(form.text)
        if found != digits:
            change = _change(digits, found)
            yield Finding(
                Rule.NUMBERS_DIFFER, name, f"its numbers are not the original's ({change}); keep each", change
            )
        found_words = number_words(form.text)
        if found_words != words:
            change = _change(words, found_words)
            yield Finding(
                Rule.NUMBER_WORDS_DIFFER,
                name,
                f"words or signs that may be quantities are not the original's ({change}); read whether one changed",
                change,
                Severity.READ,
            )


def _plain(token: str) -> str:
    """Write a number without separators and zeros that do not count; as text, for a number may have any length."""
    digits = "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in token.replace(",", ""))
    whole, _, decimals = digits.partition(".")
    return f"{whole.lstrip('0') or '0'}.{decimals.rstrip('0')}".rstrip(".")


def _change(before: Counter[str], after: Counter[str]) -> str:
    gone, new = sorted((before - after).elements()), sorted((after - before).elements())
    parts = [f"without {', '.join(gone)}"] * bool(gone) + [f"with {', '.join(new)}"] * bool(new)
    return " and ".join(parts)
