"""Several tables of one analysis: found by name, printed, written into one folder."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from leakscale.errors import NotFoundError
from leakscale.tables import Table
from leakscale.whole_files import write_folder

__all__ = ["Tabled", "find_table", "table_contents", "tables_text"]


class Tabled(ABC):
    """An analysis that is told as tables."""

    __slots__ = ()

    tables: tuple[Table[Any], ...]
    """In the order in which they are read."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what the numbers hang on, and the tables, as JSON-ready values."""

    def table(self, name: str) -> Table[Any]:
        """Return a table by its number or name, e.g. `11` or `integer-totals`.

        Raises:
            NotFoundError: If there is none.
        """
        return find_table(self.tables, name)

    def to_text(self) -> str:
        """Return every table in plain characters."""
        return tables_text(self.tables)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write `analysis.json`, `tables.txt` and one CSV a table.

        Args:
            folder: A name that is free, or an empty folder. It appears whole or not at all; one that holds the same
                files already is left as it is.

        Raises:
            ConflictError: If the folder holds something else; nothing is overwritten.
        """
        contents = table_contents(self.tables, facts=self.to_dict())
        files = {name: text.encode() for name, text in contents.items()}
        return write_folder(folder, files, subject="these tables")


def find_table(tables: Iterable[Table[Any]], name: str) -> Table[Any]:
    """Return a table by its number or name, e.g. `11` or `integer-totals`.

    Raises:
        NotFoundError: If there is none.
    """
    tables = tuple(tables)
    for one in tables:
        if name in (one.number, one.name):
            return one
    known = ", ".join(f"{one.number or '-'} {one.name}" for one in tables)
    raise NotFoundError(f"there is no table '{name}'; take the number or the name of one of these: {known}")


def tables_text(tables: Iterable[Table[Any]]) -> str:
    """Return tables in plain characters, an empty line between two."""
    return "\n\n".join(one.to_text() for one in tables)


def table_contents(tables: Sequence[Table[Any]], *, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return what `Tabled.write` writes, by the names of the files."""
    files = {
        "analysis.json": json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "tables.txt": tables_text(tables) + "\n",
    }
    return files | {f"{one.file_stem}.csv": one.to_csv() for one in tables}
