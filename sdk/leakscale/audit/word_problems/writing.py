"""Fill the templates of word problems from a seed."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

from leakscale.audit.forms.models import Criterion, Form, FormBank, Parent
from leakscale.errors import InvalidRequestError
from leakscale.reading import parse_toml

__all__ = ["write_problems"]

_NAMES: Final = (
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana", "Kai", "Lena",
    "Milo", "Nora", "Otto", "Pia", "Rosa", "Sam", "Tara", "Uwe", "Vera", "Wim", "Yara", "Zoe",
)  # fmt: skip
_THINGS: Final = (
    "apples", "pencils", "shells", "buttons", "marbles", "tickets", "stamps", "beads", "cards", "coins",
    "roses", "nuts", "pears", "plums", "pins", "corks", "flags", "kites", "spoons", "lamps",
)  # fmt: skip
_LEAST: Final = 3
_MOST: Final = 40
_COUNT_MAX: Final = 100_000
"""Well below what the situation with the fewest slots can give without a repetition."""


@dataclass(frozen=True, slots=True)
class _Formula:
    """What a problem asks of its three numbers, and how much of the first must be there to take it away."""

    value: Callable[[int, int, int], int]
    taken: Callable[[int, int], int] = lambda _b, _c: 0


_FORMULAS: Final[Mapping[str, _Formula]] = {
    "a * b": _Formula(lambda a, b, _c: a * b),
    "a * b + c": _Formula(lambda a, b, c: a * b + c),
    "a * b - c": _Formula(lambda a, b, c: a * b - c),
    "a + b + c": _Formula(lambda a, b, c: a + b + c),
    "a + b - c": _Formula(lambda a, b, c: a + b - c, lambda _b, c: c),
    "a - b + c": _Formula(lambda a, b, c: a - b + c, lambda b, _c: b),
    "a - b - c": _Formula(lambda a, b, c: a - b - c, lambda b, c: b + c),
    "a - b * c": _Formula(lambda a, b, c: a - b * c, lambda b, c: b * c),
}


@dataclass(frozen=True, slots=True)
class _Situation:
    """One template: an original, its fresh wordings and a deep paraphrase."""

    id: str
    formula: str
    original: str
    fresh: tuple[str, ...]
    deep: str


def write_problems(count: int, *, seed: int, prefix: str = "sum", apart_from: FormBank | None = None) -> FormBank:
    """Write parents with two fresh forms and one deep paraphrase each, all numeric.

    Args:
        count: Parents, 1 to 100,000; situations take turns.
        seed: Decides names, things, numbers and which of two fresh wordings is the first. Banks of two seeds may
            share a parent.
        prefix: Of the ids.
        apart_from: A bank none of whose originals may come again.

    Raises:
        InvalidRequestError: If the count is out of range.
    """
    if not 1 <= count <= _COUNT_MAX:
        raise InvalidRequestError(f"{count} word problems are not in 1 to {_COUNT_MAX}; ask for as many as that")
    rng = random.Random(f"leakscale-word-problems-v1/{seed}")  # noqa: S311 - a choice of words, no secret
    written: dict[str, Parent] = {}
    taken = {parent.original.text for parent in apart_from.parents} if apart_from else set()
    situations = _situations()
    while len(written) < count:
        situation = situations[len(written) % len(situations)]
        parent = _filled(situation, f"{prefix}-{len(written):04d}-{situation.id}", rng)
        if parent.original.text not in taken:
            written.setdefault(parent.original.text, parent)
    return FormBank(tuple(written.values()))


def _filled(situation: _Situation, parent_id: str, rng: random.Random) -> Parent:
    formula = _FORMULAS[situation.formula]
    name, other = rng.sample(_NAMES, 2)
    a, b, c = rng.sample(range(_LEAST, _MOST + 1), 3)
    a += formula.taken(b, c)
    while a in (b, c) or formula.value(a, b, c) < 2:
        a += 1
    slots = {"name": name, "other": other, "thing": rng.choice(_THINGS), "a": a, "b": b, "c": c}
    gold = str(formula.value(a, b, c))
    fresh = [Form(text.format_map(slots), gold) for text in situation.fresh]
    rng.shuffle(fresh)  # so that over a bank neither place holds the closer wording
    return Parent(
        parent_id,
        Criterion.NUMERIC,
        Form(situation.original.format_map(slots), gold),
        tuple(fresh),
        (Form(situation.deep.format_map(slots), gold),),
    )


@functools.cache
def _situations() -> tuple[_Situation, ...]:
    content = resources.files("leakscale.audit.word_problems").joinpath("templates.toml").read_text(encoding="utf-8")
    tables = parse_toml(content)["situation"]
    return tuple(_Situation(**(table | {"fresh": tuple(table["fresh"])})) for table in tables)
