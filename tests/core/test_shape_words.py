"""Names of the catalog and words of its vocabularies are names to the languages that they stand in."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from leakscale_server.core.shapes import Shape

from .example_shapes import SQL
from .texts import changed, failure


def test_every_word_of_the_catalog_is_an_identifier(shapes: dict[str, Shape]) -> None:
    """Words stand unquoted in DDL and in queries."""
    connection = sqlite3.connect(":memory:")
    words = {word for shape in shapes.values() for words in shape.vocabulary.values() for word in words}
    for word in words:
        connection.execute(f"CREATE TABLE {word}_ AS SELECT 1 AS {word}")
        connection.execute(f"CREATE TABLE {word} ({word} INTEGER)")
    connection.close()


def test_every_keyword_that_sqlite_refuses_is_refused_here() -> None:
    """Source: https://sqlite.org/lang_keywords.html, of which SQLite takes many as names anyway."""
    connection = sqlite3.connect(":memory:")
    refused = set()
    for word in SQLITE_KEYWORDS.split():
        try:
            connection.execute(f"SELECT t.{word} AS {word} FROM (SELECT 1 AS {word}) AS t ORDER BY t.{word}")
            connection.execute(f"CREATE TABLE {word} ({word} INTEGER)")
        except sqlite3.OperationalError:
            refused.add(word)
    connection.close()
    old, line = '["orders", "sales"]', 11

    for word in sorted(refused):
        error = failure(changed(SQL, old, f'["orders", "{word}"]'))
        assert (error.line, error.rule) == (line, "must be no keyword; choose another word")


def test_file_names_are_shape_ids(shapes: dict[str, Shape]) -> None:
    """A shape is found by its name."""
    files = {f"{path.parent.name}-{path.stem}" for path in (Path(__file__).parents[2] / "catalogs").glob("*/*.toml")}

    assert set(shapes) == files
    assert {re.split("-", name)[0] for name in files} == {"sql", "python"}


SQLITE_KEYWORDS = """
abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case
cast check collate column commit conflict constraint create cross current current_date current_time current_timestamp
database default deferrable deferred delete desc detach distinct do drop each else end escape except exclude exclusive
exists explain fail filter first following for foreign from full generated glob group groups having if ignore immediate
in index indexed initially inner insert instead intersect into is isnull join key last left like limit match
materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma
preceding primary query raise range recursive references regexp reindex release rename replace restrict returning right
rollback row rows savepoint select set table temp temporary then ties to transaction trigger unbounded union unique
update using vacuum values view virtual when where window with without
"""
