"""A family of a shape as a model would read it, sketched from the shape file alone.

Families are built by the server from secret and public seeds; a plan needs none of them, only how long a prompt is. So
the first words of the vocabulary stand for drawn ones and values on a grid for drawn values. Over the shapes that ship,
prompts come out within 1 % of the characters of real families, each within a tenth (`tests/study/test_sketches.py`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from leakscale.errors import InvalidRequestError
from leakscale.models import Candidate, Domain, Family, Ring, ShapeFile
from leakscale.prompts import compact_answer
from leakscale.reading import fault_of, parse_json, parse_toml

__all__ = ["sketch_family"]

_PLACEHOLDER: Final = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_KEY: Final = "K-7f3a91c2"
_FAMILY_ID: Final = "f-9c1e03ab54d2"
_HANDLES: Final = ("h_3b1f", "h_90ac", "h_c27e", "h_5d84")
_TYPES: Final = {
    "serial": "int", "integer": "int", "parent": "int", "decimal": "float", "boolean": "bool", "date": "str",
    "text": "str", "tokens": "str",
}  # fmt: skip


def sketch_family(shape: ShapeFile, *, ring: Ring = Ring.R0) -> Family:
    """Sketch the public part of a family.

    Raises:
        InvalidRequestError: If the file is no shape; the server, which judges it, says more.
    """
    try:
        fields = parse_toml(shape.toml)
        words = {slot: choices[_ring_word(ring)] for slot, choices in fields.get("vocabulary", {}).items()}
        rings = fields["rings"]
        domain = Domain(fields["domain"])
        first, second, third, fourth = _candidates(domain, fields["candidates"])
        return Family(
            family_id=_FAMILY_ID,
            domain=domain,
            shape_id=fields["id"],
            ring=ring,
            task=_filled(rings[(Ring.R1 if ring is Ring.R1 else Ring.R0).value]["task"], words),
            inputs=tuple(_inputs(fields, words)),
            key=_KEY,
            candidates=(first, second, third, fourth),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidRequestError(
            f"{shape.source}: no plan can be made of it ({fault_of(error)}); run `leakscale catalog check` on it"
        ) from error


def _ring_word(ring: Ring) -> int:
    return 1 if ring is Ring.R2 else 0


def _filled(template: str, words: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: words[match[1]], template)


def _inputs(fields: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    if "records" in fields:
        return [f"records: {_record(fields['records']['fields'], words)}"]
    return [
        f"{words.get(table['name'], table['name'])}"
        f"({', '.join(words.get(column['name'], column['name']) for column in table['columns'])})"
        for table in fields["tables"]
    ]


def _record(fields: Sequence[Mapping[str, Any]], words: Mapping[str, str]) -> str:
    inner = ", ".join(f"{words.get(field['name'], field['name'])}: {_annotation(field, words)}" for field in fields)
    return f"{{{inner}}}"


def _annotation(field: Mapping[str, Any], words: Mapping[str, str]) -> str:
    may_be_null = field.get("null_share", 0) > 0 or field.get("nullable", False)
    return f"{_type(field, words)}{' | None' if may_be_null else ''}"


def _type(field: Mapping[str, Any], words: Mapping[str, str]) -> str:
    generator = field.get("generator", field.get("type", "text"))
    if generator == "list":
        return f"list[{_annotation(field['item'], words)}]"
    if generator == "record":
        return _record(field["fields"], words)
    if generator == "choice":
        return type(field["values"][0]).__name__
    if generator == "json":
        return " | ".join(sorted({type(parse_json(text)).__name__ for text in field["values"]}))
    return _TYPES.get(generator, "str")


def _candidates(domain: Domain, rules: Mapping[str, Any]) -> list[Candidate]:
    """Four candidates: handles in SQL, literals of spread-out values in Python."""
    if domain is Domain.SQL:
        return [Candidate(handle, compact_answer(handle)) for handle in _HANDLES]
    return [Candidate(repr(value), compact_answer(value)) for value in _values(rules)]


def _values(rules: Mapping[str, Any]) -> list[str | int | float | bool | None]:
    if "pool" in rules:
        pool = rules["pool"]
        spread = [pool[place * (len(pool) - 1) // 3] for place in range(4)]
        return [parse_json(text) for text in spread] if rules["type"] == "json" else spread
    low, high = rules["range"]["low"], rules["range"]["high"]
    if isinstance(low, datetime.date):
        return [(low + (high - low) * place // 3).isoformat() for place in range(4)]
    step = rules["range"].get("step", 1)
    grid = [low + round((high - low) * place / 3 / step) * step for place in range(4)]
    return [float(value) for value in grid] if rules["type"] == "decimal" else grid
