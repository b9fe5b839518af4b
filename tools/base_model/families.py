"""Synthetic families in the public format, from index spaces that no edition draws from.

The model must know the *form* of the task (copy a candidate into compact JSON) and nothing about any key. So tasks,
tables, fields, keys and candidates here come from a seed of their own, and the answer of a family is drawn uniformly
each time it is shown.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from typing import Final

from leakscale.models import Candidate, Domain, Family, Ring
from leakscale.prompts import compact_answer

__all__ = ["Literal", "json_list", "rng_of", "synthetic_family"]

Literal = str | int | float | bool | None
_Candidates = tuple[Candidate, Candidate, Candidate, Candidate]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TABLES: Final = _words(
    "orders invoices shipments tickets sensors accounts events claims loans visits routes parcels payments products "
    "customers employees suppliers readings sessions bookings refunds stores projects tasks flights deliveries members "
    "clients drivers owners trips calls sales entries players records"
)
_MEASURES: Final = _words(
    "amount weight score delay price count level rate total stock age risk cost quantity duration distance margin "
    "balance discount units hours points pieces miles minutes reading depth volume load boxes rating size"
)
_GROUPS: Final = _words(
    "region status branch month tier owner site kind category city team channel priority warehouse currency country "
    "league depot queue grade label sku code tag name title slug alias shop lane crew day"
)
_AGGREGATES: Final = _words("sum mean max min median average number largest smallest")
_TASKS: Final = (
    "Return rows of {t} where {m} passes the policy value, ordered by {g}.",
    "For each {g} in {t}, report the {a} of {m} under the policy value.",
    "Rank {t} by {m} within each {g} and keep as many rows as the policy value, highest first, ties by id.",
    "Join {t} to {u} on {g} and return the {a} {m} selected by the policy value.",
    "List the {g} groups of {t} whose {a} {m} is above the policy value, in ascending order.",
    "Given records of {t}, drop those whose {m} is below the policy value and count the rest by {g}.",
    "Merge {t} and {u}, then compute the {a} of {m} per {g} using the policy value as the threshold.",
    "Find the first {t} record per {g} whose {m} equals the policy value; sort by {g}.",
    "Replace each missing {m} with the policy value and return the {a} for every {g}.",
    "Write one query that returns {g} and the {a} of {m} from {t}, filtered by the policy value.",
    "Sum {m} of {t} for each {g}; keep sums of at least the policy value, by {g}.",
    "List ids of {t} who have no row in {u} with {g} on or after the policy value, by id.",
    "Return, sorted, every {g} that starts with the policy value.",
    "Return the {a} of {m} over each run of consecutive records as long as the policy value, in input order.",
    "Keep {t} with {m} up to the policy value and return [{g}, {m}] without duplicates.",
    "Implement transform(records): group the {t} by {g} and return the {a} {m}, rounded by the policy value.",
)
_WORDS: Final = _words(
    "north south east west open closed pending active red green blue amber gold silver bronze basic standard premium "
    "daily weekly monthly yearly urgent normal low medium high new returned shipped paid draft retail online phone "
    "email alpha beta gamma delta first second third last asc desc left right inner outer upper lower strict loose"
)
_SYLLABLES: Final = _words("ba ce di fo gu ha ki lo mu ne pa re si to vu wa ye zo lan ter mar son vel dor")


def rng_of(*identity: object) -> random.Random:
    """Return a generator that depends on an identity alone, on any machine."""
    return random.Random(hashlib.sha256("\x1f".join(map(str, identity)).encode()).digest())


def synthetic_family(seed: str, index: int) -> Family:
    """Return family `index` of a seed: even ones SQL with opaque handles, odd ones Python with typed literals."""
    rng = rng_of("base-model", seed, index)
    table, other = rng.sample(_TABLES, 2)
    measure, group = rng.choice(_MEASURES), rng.choice(_GROUPS)
    task = rng.choice(_TASKS).format(t=table, u=other, m=measure, g=group, a=rng.choice(_AGGREGATES))
    domain = (Domain.SQL, Domain.PYTHON)[index % 2]
    schema = _sql_schema if domain is Domain.SQL else _python_schema
    candidates = _handles(rng) if domain is Domain.SQL else _literals(rng)
    return Family(
        family_id=f"f-{rng.randbytes(6).hex()}",
        domain=domain,
        shape_id=f"{domain.value}-synthetic",
        ring=Ring.R0,
        task=task,
        inputs=tuple(schema(rng, name, measure, group) for name in (table, other)[: rng.choice((1, 1, 2))]),
        key=f"K-{rng.randbytes(4).hex()}",
        candidates=candidates,
    )


def _sql_schema(rng: random.Random, table: str, measure: str, group: str) -> str:
    columns = [f"{table.rstrip('s')}_id", group, measure, *rng.sample(_MEASURES + _GROUPS, rng.randrange(3))]
    return f"{table}({', '.join(dict.fromkeys(columns))})"


def _python_schema(rng: random.Random, table: str, measure: str, group: str) -> str:
    fields = [f"{group}: str", f"{measure}: {rng.choice(('int', 'float'))}"]
    fields += [f"{name}: {rng.choice(('int', 'str', 'bool'))}" for name in rng.sample(_MEASURES, rng.randrange(2))]
    return f"{rng.choice(('records', table))}: {{{', '.join(dict.fromkeys(fields))}}}"


def _handles(rng: random.Random) -> _Candidates:
    return _four(lambda: f"h_{rng.randbytes(2).hex()}", show=str)


def _literals(rng: random.Random) -> _Candidates:
    kind = rng.choice((_integer, _integer, _integer, _word, _word, _coined, _coined, _decimal, _date, _mixed))
    return _four(lambda: kind(rng), show=repr)


def _four(draw: Callable[[], Literal], *, show: Callable[[Literal], str]) -> _Candidates:
    answers: dict[str, Candidate] = {}
    while len(answers) < 4:
        value = draw()
        answer = compact_answer(value)
        answers.setdefault(answer, Candidate(show(value), answer))
    first, second, third, fourth = answers.values()
    return first, second, third, fourth


def _integer(rng: random.Random) -> int:
    return rng.randrange(10 ** rng.choice((1, 2, 2, 3)))


def _word(rng: random.Random) -> str:
    return rng.choice(_WORDS)


def _coined(rng: random.Random) -> str:
    """Make a word that no vocabulary holds, so that words of several tokens are copied as well."""
    return "".join(rng.choices(_SYLLABLES, k=rng.choice((1, 1, 2))))


def _decimal(rng: random.Random) -> float:
    return rng.randrange(1, 1000) / rng.choice((2, 10, 10, 100))


def _date(rng: random.Random) -> str:
    return f"20{rng.randrange(18, 27)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"


def _mixed(rng: random.Random) -> Literal:
    choices: tuple[Literal, ...] = (True, False, None, 0, 1, -1, _integer(rng), _word(rng))
    return rng.choice(choices)


def json_list(candidates: list[Candidate]) -> str:
    """Write the values of candidates as one compact JSON list."""
    values = [json.loads(candidate.answer)["choice"] for candidate in candidates]
    return json.dumps({"list": values}, separators=(",", ":"), ensure_ascii=False)
