"""Explicit outputs: what an author says that each candidate's program returns, as canonical bytes.

They are stated for all four candidates and checked for all four, so they say nothing about which is right.
"""

from __future__ import annotations

import json
from typing import Any, Final

from leakscale_sandbox.canonical import RefusedValueError, TooLargeError, encode_rows, encode_value
from leakscale_server.core.building.cell_types import Words, named
from leakscale_server.core.building.fixtures import rename_fields
from leakscale_server.core.building.given_texts import GivenError, read_json_text
from leakscale_server.core.format.problems import Phrase
from leakscale_server.core.format.schema import GivenFixture, Shape

__all__ = ["Outputs", "expected_outputs", "read_outputs"]

Outputs = tuple[tuple[bytes, ...], ...]
"""Canonical bytes as `[candidate][fixture]`."""

_OUTPUT_BYTES_MAX: Final = 256 << 10


def read_outputs(shape: Shape, fixture: GivenFixture) -> list[Any]:
    """Read the outputs of one fixture, by rank; nothing if it states none.

    Raises:
        GivenError: If one is no JSON, or no rows of the result's columns in SQL.
    """
    return [_read_output(shape, text, rank) for rank, text in enumerate(fixture.outputs or ())]


def _read_output(shape: Shape, text: str, rank: int) -> Any:
    try:
        value = read_json_text(shape.given_text(text))
        _encode(shape, value, {})
    except GivenError as error:
        raise error.within("outputs", rank) from None
    return value


def expected_outputs(shape: Shape, words: Words) -> Outputs | None:
    """Return what each candidate must return under a family's names, by rank; None if the shape does not say."""
    if not shape.fixtures or shape.fixtures[0].outputs is None:
        return None
    by_fixture = [read_outputs(shape, fixture) for fixture in shape.fixtures]
    return tuple(
        tuple(_encode(shape, values[rank], words) for values in by_fixture) for rank in range(len(by_fixture[0]))
    )


def _encode(shape: Shape, value: Any, words: Words) -> bytes:
    try:
        if shape.result is None:
            return encode_value(rename_fields(value, words), byte_count_max=_OUTPUT_BYTES_MAX)
        names = [named(column, words) for column in shape.result.columns]
        _require_rows(value, len(names))
        return encode_rows(names, value, ordered=shape.is_ordered, byte_count_max=_OUTPUT_BYTES_MAX)
    except (RefusedValueError, TooLargeError) as error:
        raise GivenError(f"must have a canonical form of at most {_OUTPUT_BYTES_MAX} bytes", str(error)) from None


def _require_rows(value: object, column_count: int) -> None:
    if not isinstance(value, list):
        raise GivenError("must be an array of rows, such as [[1], [2]]", Phrase(json.dumps(value)))
    for row in value:
        if not isinstance(row, list) or len(row) != column_count:
            values = f"an array of {column_count} value{'s' * (column_count > 1)}, one for each of result.columns"
            raise GivenError(f"must have rows that are each {values}", Phrase(json.dumps(row)))
        if any(isinstance(cell, bool | list | dict) for cell in row):
            raise GivenError("must have numbers, texts and null alone in a row", Phrase(json.dumps(row)))
