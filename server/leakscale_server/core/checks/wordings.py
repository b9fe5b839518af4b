"""Whether one task is worded otherwise than another."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from leakscale_server.core.building.rendering import PLACEHOLDER

__all__ = ["OTHER_WORDS_MIN", "count_other_words"]

OTHER_WORDS_MIN: Final = 3
"""Of a rewording; each that ships has at least five."""

_WORD: Final = re.compile(r"\w+")


def count_other_words(exact: str, reworded: str) -> int:
    """Count the words of a task that another one does not have, placeholders aside.

    Marks, capitals and the order of words make no other word. It does *not* see what words mean: a sentence that says
    something else has other words, too.
    """
    before, after = (Counter(_WORD.findall(PLACEHOLDER.sub(" ", text).casefold())) for text in (exact, reworded))
    return (after - before).total()
