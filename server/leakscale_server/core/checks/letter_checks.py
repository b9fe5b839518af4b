"""Rules of letters: texts that two readers read alike, and that no model takes for a part of its prompt.

A word with one letter of another script looks the same and is another word to a tokenizer; a task that goes on like a
prompt answers itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem
from leakscale_server.core.format.text import PLAIN_TEXT_RULE, is_plain_text, with_plain_marks

__all__ = ["check_chat_marks", "check_plain", "check_script", "check_scripts_of_words", "check_sentence"]

ONE_SCRIPT_RULE: Final = "must be written in the letters of one script"

_EAST_ASIAN: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
"""First words of the names of letters that are written beside Latin ones and look like none of them.

Source: the Highly Restrictive level of Unicode Technical Standard 39, section 5.2.
"""
_SIGNS: Final = frozenset({"MICRO", "FEMININE", "MASCULINE"})
"""Letters that stand for a unit or an ending, beside any script."""
_WORD: Final = re.compile(r"\w+")
_DOUBLE_BRACES: Final = re.compile(r"\{\{|\}\}")
_CHAT_MARK: Final = re.compile(r"<\||\|>|</?s>|\[/?INST\]", re.IGNORECASE)
"""What chat formats tell the roles of a conversation apart by."""
_PROMPT_SHAPE: Final = re.compile(
    r"\b(?:task|input|policy key|candidates|answer|system|user|assistant|human)\s*:"
    r"|[{}]|<\||\|>|</?\w+>|\[/?[A-Z]{2,}\]|```|###",
    re.IGNORECASE,
)
"""A label of the choice prompt, a piece of JSON, and the marks by which chat formats tell roles apart."""


def check_plain(text: str, path: Path) -> Iterator[Problem]:
    """Find the first letter that keeps a text from being what it looks like."""
    if not is_plain_text(text):
        yield Problem(path, PLAIN_TEXT_RULE, _at(text, _odd_place(text)))


def check_script(texts: Sequence[str], paths: Sequence[Path]) -> Iterator[Problem]:
    """Find letters of another script than most in texts that are read together.

    Does *not* see letters of one script that look alike, such as `l` and `I`.

    Args:
        paths: One a text.
    """
    counts = Counter(script for text in texts for script in map(_script, text) if script)
    usual = next((script for script, _ in counts.most_common(1)), "")
    for text, path in zip(texts, paths, strict=True):
        place = next((place for place, letter in enumerate(text) if _script(letter) not in ("", usual)), None)
        if place is not None:
            yield Problem(path, ONE_SCRIPT_RULE, _at(text, place))


def check_scripts_of_words(text: str, path: Path) -> Iterator[Problem]:
    """Find words that mix scripts; a program may compare with a word of another script than its own."""
    for number, line in enumerate(text.split("\n")):
        for word in _WORD.findall(line):
            for problem in check_script([word], [path]):
                yield Problem(path, f"{problem.rule} in each word", problem.value, number)


def check_sentence(text: str, path: Path) -> Iterator[Problem]:
    """Find what a model would take for another part of its prompt."""
    # What is left of a misspelt placeholder has a rule of its own.
    found = _PROMPT_SHAPE.search(with_plain_marks(_DOUBLE_BRACES.sub("", text)))
    if found:
        yield Problem(path, "must be a sentence and hold no part of a prompt", found[0])


def check_chat_marks(value: str, path: Path) -> Iterator[Problem]:
    """Find a mark of a chat format in a candidate, which may hold markup of any other kind."""
    found = _CHAT_MARK.search(with_plain_marks(value))
    if found:
        yield Problem(path, "must hold no mark by which chat formats tell roles apart", found[0])


def _script(letter: str) -> str:
    """Return the script of a letter or a digit, as the first word of its name; nothing for what all scripts share."""
    if letter.isascii():
        return "LATIN" if letter.isalpha() else ""
    if not (letter.isalpha() or letter.isdecimal()):
        return ""
    first = unicodedata.name(letter, "UNNAMED").partition(" ")[0].partition("-")[0]
    if first in _SIGNS:
        return ""
    return "LATIN" if first in _EAST_ASIAN else first


def _odd_place(text: str) -> int:
    """Return the place of the first letter behind which a text is not plain."""
    return next(place for place in range(len(text)) if not is_plain_text(text[: place + 1]))


def _at(text: str, place: int) -> Phrase:
    letter = text[place]
    return Phrase(f"U+{ord(letter):04X} {unicodedata.name(letter, 'without a name')} at character {place + 1}")
