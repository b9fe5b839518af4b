"""The format as a JSON Schema, for editors: it completes fields and underlines what one field alone can tell.

It is made from the types that the server reads with. What takes two fields to tell (`checks`) is not in it, but for
what each domain must have and must not.
"""

from __future__ import annotations

from typing import Any, Final

from leakscale_server.core.format.schema import NO_ROWS, Shape

__all__ = ["format_schema"]

_DOMAINS: Final = {"sql": (("tables", "result"), ("records",)), "python": (("records",), ("tables", "result"))}
"""What a shape of each domain must have, and must not."""
_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum"}


def format_schema() -> dict[str, Any]:
    """Return the schema of a shape file (JSON Schema 2020-12)."""
    schema: dict[str, Any] = _tidied(Shape.model_json_schema())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "LeakScale shape",
        **schema,
        "allOf": [_for_domain(domain, must, must_not) for domain, (must, must_not) in _DOMAINS.items()],
    }


def _for_domain(domain: str, must: tuple[str, ...], must_not: tuple[str, ...]) -> dict[str, Any]:
    return {
        "if": {"properties": {"domain": {"const": domain}}, "required": ["domain"]},
        "then": {"required": list(must), "properties": dict.fromkeys(must_not, False)},
    }


def _tidied(node: Any) -> Any:
    """Say for TOML what the validator says for Python: it has numbers for decimals, and no null."""
    if isinstance(node, list):
        return [_tidied(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "decimal_places" in node:
        return _number(node)
    tidied = {key: _tidied(value) for key, value in node.items() if not _is_noise(key, value)}
    options = [option for option in tidied.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        return {**{key: value for key, value in tidied.items() if key != "anyOf"}, **options[0]}
    return tidied | ({"anyOf": options} if options else {})


def _is_noise(key: str, value: object) -> bool:
    """Return whether a keyword says nothing about a file: names of classes, and what stands for a missing field."""
    if key == "title":
        return isinstance(value, str)
    return key == "default" and value in (None, "", list(NO_ROWS))


def _number(node: dict[str, Any]) -> dict[str, Any]:
    number: dict[str, Any] = {"type": "number"}
    number |= {bound: float(node[key]) for key, bound in _BOUNDS.items() if key in node}
    number |= {"default": float(node["default"])} if "default" in node else {}
    return number | ({"description": node["description"]} if "description" in node else {})
