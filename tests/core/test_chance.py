"""What is written tells whether a program can see chance; whatever is unclear counts as able to."""

from __future__ import annotations

import pytest
from tests.catalog.builders import CATALOGS, an_author_file

from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.core.judging.chance import can_see_chance

BLIND = (
    "return sorted(set(records))",
    "return sorted({each['a'] for each in records}, reverse=True)",
    "return len({1, 2}.union(records) - {3})",
    "return max(set(records), default=0)",
    "seen = set()\nfor each in records:\n    if each not in seen:\n        seen.add(each)\nreturn len(seen)",
    "one, other = records\nboth = set(one) & set(other)\nboth |= {3}\nreturn [each for each in one if each in both]",
    "kept: tuple = {each for each in records}\nreturn sorted(kept) if kept else []",
    "first = frozenset(records)\nsecond = first\nreturn first.issubset(second) and not second",
    "return [key for key in records[0].keys()] + [*records[0].items()] + list(records[0].items())",
    "from collections import Counter\nreturn Counter(records).most_common(1)[0][0]",
    "import statistics as s\ntry:\n    return s.median(records)\nexcept ValueError as error:\n    return str(error)",
    "return {'set': 1, 'keys': [2]}['keys']",
    "return (lambda each, by=-2: each * by)(records)",
)
SEEING = (
    "return list({1, 2})",
    "return [each for each in set(records)]",
    "return sorted({'a', 'b'}, key=len)",
    "return sum({0.1, 0.2, 0.3})",
    "return {'a', 'b'}.pop()",
    "kept = set(records)\nreturn tuple(kept)",
    "kept = set(records)\nother = kept\nreturn ''.join(other)",
    "kept = set(records)\nreturn list(kept | {1})",
    "kept = set(records)\nkept = {}\nreturn kept",
    "kept = set(records)\nfor kept in records:\n    pass\nreturn 1",
    "counts = {}\ncounts.update({('a', 1), ('b', 2)})\nreturn counts",
    "counts = {}\ncounts |= {('a', 1), ('b', 2)}\nreturn counts",
    "return list(records[0].keys() & records[1].keys())",
    "view = records[0].keys()\nreturn list(view - {1})",
    "import functools, operator\nreturn functools.reduce(operator.or_, map(dict.keys, records))",
    "from operator import methodcaller\nreturn methodcaller('k' + 'eys')(records[0])",
    "return list(map(set, records))",
    "make = set\nreturn list(make(records))",
    "sorted = list\nreturn sorted({1, 2})",
    "def sorted(values):\n    return list(values)\nreturn sorted({1, 2})",
    "return (lambda len: len({1, 2}))(list)",
    "from itertools import chain as sorted\nreturn list(sorted({1, 2}))",
    "return hash('a')",
    "return id(records)",
    "return vars()",
    "return getattr(records, 'x')",
    "return ''.__hash__()",
    "return '{0.__class__}'.format(records)",
    "import sys\nreturn len(sys.modules)",
    "import statistics\nreturn len(statistics.sys.modules)",
    "from statistics import sys\nreturn len(sys.modules)",
    "from math import *\nreturn 1",
    "class Thing:\n    pass\nreturn [Thing()]",
    "return ][",
)


READING = (
    "LIMIT = -2.5 * 4",
    "WEIGHTS = {'a': (1, 2), 'b': (3, 4)}\ndef weigh(key):\n    return WEIGHTS[key] + WEIGHTS.get('a')",
    "NAMES: list = ['a', 'b']\ndef known(name):\n    return name in NAMES and len(NAMES) + sum(1 for x in NAMES)",
)
KEEPING = (
    "N = 0\ndef count():\n    global N\n    N += 1",
    "CALLS = []\ndef count():\n    CALLS.append(1)",
    "CALLS = [0]\ndef count():\n    CALLS[0] += 1",
    "CALLS = {}\ndef count():\n    calls = CALLS\n    calls['n'] = 1",
    "CALLS = [[]]\ndef count():\n    CALLS[0].append(1)",
    "CALLS = []\nSAME = CALLS\ndef count():\n    SAME.append(1)",
    "CALLS, OTHER = [], 0\ndef count():\n    CALLS.append(1)",
    "for CALLS in [[]]:\n    pass",
    "import itertools\nCALLS = itertools.count()",
    "def count(calls=[]):\n    calls.append(1)",
    "def count(*, calls={}):\n    calls['n'] = 1",
    "def count():\n    count.calls = 1",
    "count = lambda calls=[]: calls.append(1)",
    "def keep():\n    calls = []\n    def count():\n        calls.append(1)\n    return count\ncount = keep()",
    "import functools\n@functools.cache\ndef calls():\n    return []",
    "import calendar\ndef count():\n    calendar.setfirstweekday(1)",
    "from decimal import getcontext as context",
)


def a_program(body: str) -> str:
    return "def transform(records):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize("body", BLIND)
def test_a_program_that_leaves_chance_alone_is_known_by_its_text(body: str) -> None:
    """It then runs twice, and not thirteen times."""
    assert not can_see_chance(a_program(body))


@pytest.mark.parametrize("body", SEEING)
def test_a_program_that_may_see_chance_is_never_taken_for_blind(body: str) -> None:
    """Two passes would let half of these through."""
    assert can_see_chance(a_program(body))


@pytest.mark.parametrize("beginning", READING)
def test_a_module_that_reads_its_constants_is_known_to_keep_nothing(beginning: str) -> None:
    """Tables of constants are plain style."""
    assert not can_see_chance(f"{beginning}\n{a_program('return len(records)')}")


@pytest.mark.parametrize("beginning", KEEPING)
def test_a_module_that_may_keep_something_between_calls_is_never_taken_for_blind(beginning: str) -> None:
    """What counts calls may count alike forwards and backwards."""
    assert can_see_chance(f"{beginning}\n{a_program('return len(records)')}")


def test_no_program_of_the_catalog_can_see_chance() -> None:
    """The catalog costs what two passes cost."""
    files = [an_author_file(path) for path in sorted((CATALOGS / "python").glob("*.toml"))]
    recipe = practice_recipe(files, families_per_cell=4)
    families = [recipe.build(slot) for slot in recipe.slots()[::4]]

    assert {family.slot.shape_id for family in families} == {file.shape.id for file in files}
    assert not [
        program for family in families for form in family.forms for program in form.programs if can_see_chance(program)
    ]
