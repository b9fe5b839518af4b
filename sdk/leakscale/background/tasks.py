"""Small tasks with answers that follow from the question, written from nothing but a random stream.

They share no word with the tasks of a family: no policy, no key, no candidates, and no JSON choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["GENERATORS"]

_NOUNS: Final = (
    "lantern", "meadow", "pebble", "harbor", "violin", "saddle", "orchard", "copper", "thimble", "glacier", "ribbon",
    "walnut", "beacon", "canvas", "feather", "kettle", "marble", "needle", "oyster", "pillow",
)  # fmt: skip
_PLACES: Final = ("Oslo", "Quito", "Perth", "Lagos", "Kyoto", "Turin", "Porto", "Minsk")


def _arithmetic(rng: random.Random) -> tuple[str, str]:
    one, other, third = rng.randint(12, 980), rng.randint(12, 980), rng.randint(2, 12)
    question, value = rng.choice(
        (
            (f"What is {one} plus {other}?", one + other),
            (f"What is {one + other} minus {other}?", one),
            (f"What is {one} times {third}?", one * third),
            (f"How many is {third} less than {one + third}?", one),
        )
    )
    return question, f"{value}."


def _words(rng: random.Random) -> tuple[str, str]:
    words = rng.sample(_NOUNS, 4)
    line = ", ".join(words)
    return rng.choice(
        (
            (f"Put these words into alphabetical order: {line}.", f"{', '.join(sorted(words))}."),
            (f"Write these words in reverse order: {line}.", f"{', '.join(words[::-1])}."),
            (f"Which of these words is last in the list: {line}?", f"{words[-1].capitalize()}."),
            (f"How many letters does the word {words[0]} have?", f"It has {len(words[0])} letters."),
        )
    )


def _table(rng: random.Random) -> tuple[str, str]:
    places = rng.sample(_PLACES, 3)
    degrees = rng.sample(range(2, 39), 3)
    lines = "\n".join(f"{place}: {degree} degrees" for place, degree in zip(places, degrees, strict=True))
    warmest = places[degrees.index(max(degrees))]
    asked = rng.randrange(3)
    return rng.choice(
        (
            (f"{lines}\nWhere is it warmest?", f"It is warmest in {warmest}, at {max(degrees)} degrees."),
            (f"{lines}\nHow warm is it in {places[asked]}?", f"It is {degrees[asked]} degrees in {places[asked]}."),
        )
    )


GENERATORS: Final[Mapping[str, Callable[[random.Random], tuple[str, str]]]] = {
    "arithmetic": _arithmetic,
    "words": _words,
    "table": _table,
}
"""Each writes one question and its answer."""
