"""The schema that editors use says of a file what the server says, as far as one field can tell."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from leakscale_server.core.format.json_schema import format_schema
from leakscale_server.core.shapes import ShapeError, parse_shape

ROOT = Path(__file__).parents[2]
SCHEMA = format_schema()
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str, date),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def faults(value: Any, schema: Any, at: str = "") -> Iterator[str]:
    """Yield where a value breaks a schema: the keywords that ours uses, and an error for any other."""
    if schema is False:
        yield f"{at}: not allowed"
        return
    assert set(schema) <= KEYWORDS
    yield from _combined_faults(value, schema, at)
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{at}: no {kind}"
        return
    if value not in schema.get("enum", [schema.get("const", value)]):
        yield f"{at}: not one of the values"
    match value:
        case str():
            yield from _text_faults(value, schema, at)
        case bool():
            pass
        case int() | float():
            yield from _number_faults(value, schema, at)
        case list():
            yield from _array_faults(value, schema, at)
        case dict():
            yield from _object_faults(value, schema, at)


def _combined_faults(value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from faults(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], at)
    for option in ("anyOf", "oneOf"):
        if option in schema and all(any(faults(value, each, at)) for each in schema[option]):
            yield f"{at}: none of {option}"
    for each in schema.get("allOf", ()):
        if not any(faults(value, each["if"], at)):
            yield from faults(value, each["then"], at)


def _number_faults(value: float, schema: dict[str, Any], at: str) -> Iterator[str]:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{at}: out of range"
    if value <= schema.get("exclusiveMinimum", value - 1):
        yield f"{at}: too small"


def _array_faults(value: list[Any], schema: dict[str, Any], at: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{at}: {len(value)} items"
    items = schema.get("prefixItems", [schema.get("items", {})] * len(value))
    for index, (item, each) in enumerate(zip(value, items, strict=False)):
        yield from faults(item, each, f"{at}[{index}]")


KEYWORDS = {
    "$defs", "$ref", "$schema", "additionalProperties", "allOf", "anyOf", "const", "default", "description",
    "discriminator", "enum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "oneOf", "pattern", "patternProperties", "prefixItems",
    "properties", "propertyNames", "required", "title", "type",
}  # fmt: skip


def _text_faults(value: str, schema: dict[str, Any], at: str) -> Iterator[str]:
    if not re.search(schema.get("pattern", ""), value):
        yield f"{at}: not {schema['pattern']}"
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield f"{at}: {len(value)} characters"


def _object_faults(value: dict[str, Any], schema: dict[str, Any], at: str) -> Iterator[str]:
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name in set(schema.get("required", ())) - set(value):
        yield f"{at}.{name}: missing"
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{at}: {len(value)} properties"
    for name, item in value.items():
        pattern = next((each for each in patterns if re.search(each, name)), None)
        if name in properties:
            yield from faults(item, properties[name], f"{at}.{name}")
        elif pattern is not None:
            yield from faults(item, patterns[pattern], f"{at}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{at}.{name}: unknown"
        elif isinstance(schema.get("additionalProperties"), dict):
            yield from faults(item, schema["additionalProperties"], f"{at}.{name}")


def test_the_file_in_docs_is_what_the_types_make() -> None:
    """`python tools/catalog_schema.py` writes it."""
    assert json.loads((ROOT / "docs" / "catalog.schema.json").read_text(encoding="utf-8")) == SCHEMA


@pytest.mark.parametrize("path", sorted((ROOT / "catalogs").glob("*/*.toml")), ids=lambda path: path.stem)
def test_every_shipped_shape_keeps_the_schema(path: Path) -> None:
    """An editor that underlines what is right is switched off."""
    assert list(faults(tomllib.loads(path.read_text(encoding="utf-8")), SCHEMA)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("format = 1", "format = 2"),
        ("format = 1\n", ""),
        ('domain = "sql"', 'domain = "cobol"'),
        ('domain = "sql"', 'domain = "python"'),
        ('title = "', 'author = "me"\ntitle = "'),
        ('type = "decimal"', 'type = "complex"'),
        ("distance = 6", "distance = -6"),
        ("rows = [12, 18]", "rows = [0, 18]"),
        ("rows = [12, 18]", "rows = [12]"),
        ('generator = "serial"', 'generator = "cereal"'),
        ("near_candidates = 0.6", "near_candidates = 1.6"),
        ("near_candidates = 0.6", 'near_candidates = "0.6"'),
        ('order = "ordered"', 'order = "sorted"'),
        ("[rings.R1]", "[rings.R2]"),
        ('amount = ["amount", "price", "weight", "score"]', 'amount = ["amount"]'),
        ("[result]", "[results]"),
    ],
)
def test_what_one_field_can_tell_is_refused_by_schema_and_server(old: str, new: str) -> None:
    """Two descriptions of one format must not drift apart."""
    text = (ROOT / "catalogs" / "sql" / "threshold.toml").read_text(encoding="utf-8")
    assert old in text
    broken = text.replace(old, new, 1)

    assert list(faults(tomllib.loads(broken), SCHEMA)) != []
    with pytest.raises(ShapeError):
        parse_shape(broken, source="a")


def test_every_field_has_a_description_or_a_speaking_name() -> None:
    """Editors show it beside the field."""
    described = [name for name, each in SCHEMA["properties"].items() if "description" in each]

    assert set(described) >= {"vocabulary", "fixtures", "files"}
    assert all("description" in each for each in SCHEMA["$defs"].values())
