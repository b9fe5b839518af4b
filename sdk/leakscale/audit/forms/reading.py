"""Read and write a bank of forms: JSON Lines or Parquet, one parent item a row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from leakscale.audit.forms.fields import GOLDS_WITHHELD, ParentFields
from leakscale.audit.forms.models import FormBank, Parent
from leakscale.audit.parquet import parquet_rows
from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.field_rules import validated
from leakscale.reading import parse_json
from leakscale.whole_files import replacing

__all__ = ["Golds", "bank_bytes", "parent_of_fields", "read_bank", "write_bank"]

Golds = Literal["required", "withheld"]
"""What a bank's golds have to be: all there, or none of them."""


def read_bank(path: Path, *, golds: Golds = "required", absent: str = "") -> FormBank:
    """Read a bank, or a benchmark's frame, which is a bank without fresh forms.

    Args:
        path: `.jsonl` (UTF-8, one object a line) or `.parquet` (the same fields as columns).
        golds: `withheld` of a bank that somebody was given to answer.
        absent: What is said where there is no such file; else, to pass one.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If a row is malformed or an id comes twice; the message names file, row, field and rule.
    """
    seen: dict[str, int] = {}
    parents = []
    if not path.is_file():
        raise NotFoundError(absent or f"bank '{path}' does not exist; pass a .jsonl or .parquet file")
    for number, fields in _rows(path):
        parent = parent_of_fields(fields, source=f"{path}, row {number}", golds=golds)
        if parent.parent_id in seen:
            raise InvalidRequestError(
                f"{path}, row {number}: parent '{parent.parent_id}' is row {seen[parent.parent_id]} already; "
                "an id stands for one parent item"
            )
        seen[parent.parent_id] = number
        parents.append(parent)
    if not parents:
        raise InvalidRequestError(f"{path}: holds no parent item; write one a line")
    return FormBank(tuple(parents))


def write_bank(bank: FormBank, path: Path) -> None:
    """Write a bank as JSON Lines, complete or not at all."""
    with replacing(path) as file:
        file.write(bank_bytes(bank))


def bank_bytes(bank: FormBank) -> bytes:
    """Return a bank as JSON Lines."""
    return "".join(json.dumps(parent.to_json(), ensure_ascii=False) + "\n" for parent in bank.parents).encode()


def parent_of_fields(fields: Any, *, source: str, golds: Golds = "required") -> Parent:
    """Return the parent item that JSON values describe.

    Raises:
        InvalidRequestError: If they describe none; the message names source, parent, field and rule.
    """
    context = GOLDS_WITHHELD if golds == "withheld" else None
    try:
        return validated(fields, ParentFields, context=context).parent()
    except ValueError as error:
        named = f"parent {fields['id']!r}: " if isinstance(fields, dict) and isinstance(fields.get("id"), str) else ""
        raise InvalidRequestError(f"{source}: {named}{error}") from error


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
    elif path.suffix == ".jsonl":
        yield from _json_rows(path)
    else:
        raise InvalidRequestError(f"bank '{path}' ends in {path.suffix!r}; pass a .jsonl or .parquet file")


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield number, parse_json(line.decode("utf-8-sig" if number == 1 else "utf-8"), is_strict=True)
            except ValueError as error:
                raise InvalidRequestError(f"{path}, row {number}: not a JSON object in UTF-8: {error}") from error


def _parquet_rows(path: Path) -> Iterator[tuple[int, Any]]:
    for number, fields in enumerate(parquet_rows(path, subject=f"bank '{path}'"), start=1):
        # A column that a row leaves out is null in Parquet and absent in JSON.
        yield number, {name: value for name, value in fields.items() if value is not None}
