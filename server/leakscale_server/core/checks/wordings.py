"""Whether one task is worded otherwise than another."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

import snowballstemmer

from leakscale_server.core.building.rendering import PLACEHOLDER

__all__ = ["OTHER_WORDS_MIN", "count_other_words"]

OTHER_WORDS_MIN: Final = 2
"""Of a rewording; all but one that ship have at least three."""

_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_GRAMMAR_WORDS: Final = """
    a an the this that these those it its they them their there here he she his her you your i me my we us our one ones
    who whom whose which what s t
    and or but so if then of in on at by for to from into with as than upon
    is are was were be been being am do does did done has have had having can could may might must shall should will
    would please kindly thanks policy value
"""
_GRAMMAR: Final = frozenset(_GRAMMAR_WORDS.split())
"""Words that say nothing by themselves, and what every task has to say."""


def count_other_words(exact: str, reworded: str) -> int:
    """Count the words of content that a task has and another one has not, placeholders aside.

    Marks, capitals, endings, order, articles, pronouns, prepositions and auxiliaries make no other word. A task that
    says all of the other one's words again only adds to it: then none counts. It does *not* see what words mean: a
    sentence that says something else has other words, too. Endings and grammar are those of English; in another
    language, each form of a word is a word.
    """
    before, after = _words_of_content(exact), _words_of_content(reworded)
    return (after - before).total() if before - after else 0


@lru_cache(maxsize=4096)
def _words_of_content(text: str) -> Counter[str]:
    # One for each text: a stemmer keeps its place in a word, and families are judged in several threads.
    english = snowballstemmer.stemmer("english")
    words = (word for word in _WORD.findall(PLACEHOLDER.sub(" ", text).casefold()) if word not in _GRAMMAR)
    return Counter(english.stemWord(word) for word in words)
