"""Fill in a shape's texts: vocabulary words by slot, and the one masked value as a typed literal."""

from __future__ import annotations

import re

from leakscale.models import Domain
from leakscale_server.core.building.cell_types import Words, annotation, named
from leakscale_server.core.format.columns import Column, ReferenceColumn
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape
from leakscale_server.core.literals import Value, as_operand, literal
from leakscale_server.core.streams import Stream

__all__ = [
    "PLACEHOLDER",
    "draw_other_words",
    "draw_words",
    "find_column",
    "input_lines",
    "render_program",
    "render_text",
]

PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
"""`{{slot}}`; spaces are not allowed, so that a dictionary in a Python program is never taken for one."""


def draw_words(shape: Shape, stream: Stream) -> dict[str, str]:
    """Choose one word for each slot."""
    return {slot: stream.choice(words) for slot, words in sorted(shape.vocabulary.items())}


def draw_other_words(shape: Shape, words: Words, stream: Stream) -> dict[str, str]:
    """Choose for each slot a word that is not the one it has in `words`."""
    return {
        slot: stream.choice([word for word in choices if word != words[slot]])
        for slot, choices in sorted(shape.vocabulary.items())
    }


def render_text(template: str, words: Words) -> str:
    """Replace every `{{slot}}` by its word.

    Raises:
        KeyError: If a slot has no word; the parser lets no such shape through.
    """
    return PLACEHOLDER.sub(lambda match: words[match[1]], template)


def render_program(template: str, domain: Domain, words: Words, value: Value) -> str:
    """Return the artifact of one candidate: the program with `value` as a literal in place of the mask."""
    return render_text(template, {**words, RESERVED_SLOT: as_operand(literal(domain, value))})


def input_lines(shape: Shape, words: Words) -> tuple[str, ...]:
    """Describe what a program reads: a line for each table, or one for the records."""
    if shape.records is None:
        return tuple(
            f"{named(table.name, words)}({', '.join(named(column.name, words) for column in table.columns)})"
            for table in shape.tables
        )
    fields = ", ".join(f"{named(field.name, words)}: {annotation(field, words)}" for field in shape.records.fields)
    return (f"records: {{{fields}}}",)


def find_column(shape: Shape, reference: ReferenceColumn) -> Column | None:
    """Return the column that a reference points to, or None if there is no such column."""
    for table in shape.tables:
        if table.name == reference.table:
            return next((column for column in table.columns if column.name == reference.column), None)
    return None
