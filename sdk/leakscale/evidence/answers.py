"""All answers of a study as one Parquet table, one row a case, for pandas and DuckDB.

It says nothing that the results of the banks do not say; a verification derives it from them again.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscale.answers import answer_line
from leakscale.errors import IntegrityError
from leakscale.inference.binding import BankFiles
from leakscale.inference.cases import FrozenBank
from leakscale.models import Answer, Domain, ModelState, Ring

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BankAnswers", "answers_table", "first_difference", "read_bank_answers", "read_table", "write_table"]

_COLUMNS = ("case", "family_id", "ring", "draw", "mode", "finish", "text")


@dataclass(frozen=True, slots=True)
class BankAnswers:
    """The answers of one bank as columns, in the order of its cases."""

    bank_id: str
    domain: Domain
    state: ModelState
    ring: Ring
    columns: pa.Table
    """As the results have them."""
    choices: list[int | None]
    """Display index of the candidate that each answer chose; None where it is none of the four strings."""

    def digest(self) -> str:
        """Return the hex SHA-256 of the answers as the server seals them."""
        state = hashlib.sha256()
        columns = (self.columns[name].to_pylist() for name in ("family_id", "draw", "text"))
        for family_id, draw, text in zip(*columns, strict=True):
            state.update(answer_line(Answer(family_id, draw, text)))
        return state.hexdigest()


def read_bank_answers(bank_id: str, files: BankFiles, *, state: ModelState) -> BankAnswers:
    """Read the results of an answered bank, and which candidate each chose.

    Raises:
        IntegrityError: If a result is not of the question that its place has in the plan.
    """
    import pyarrow as arrow  # noqa: PLC0415 - an extra
    from pyarrow import json as reader  # noqa: PLC0415

    bank = FrozenBank(files.plan)
    content = files.results.read_bytes()
    rows = io.BytesIO(content[content.index(b"\n") + 1 :])
    schema = arrow.schema([(name, arrow.int64() if name in {"case", "draw"} else arrow.string()) for name in _COLUMNS])
    columns = reader.read_json(rows, parse_options=reader.ParseOptions(explicit_schema=schema)).select(_COLUMNS)
    choices: list[int | None] = []
    texts, families = columns["text"].to_pylist(), columns["family_id"].to_pylist()
    if len(texts) != bank.case_count:
        raise IntegrityError(f"{files.results.name}: it has {len(texts)} results, {bank.case_count} are expected")
    domain, ring = Domain.SQL, Ring.R0
    for question in bank.questions():
        domain, ring = question.domain, question.ring
        places = {answer: index for index, answer in enumerate(question.answers)}
        start = question.index * bank.draw_count
        stop = start + bank.draw_count
        if families[start:stop] != [question.family_id] * bank.draw_count:
            raise IntegrityError(
                f"{files.results.name} line {start + 2}: {bank.draw_count} results of {question.family_id} are expected"
            )
        choices += map(places.get, texts[start:stop])
    return BankAnswers(bank_id, domain, state, ring, columns, choices)


def answers_table(banks: Iterable[BankAnswers], *, model: str, shapes: Mapping[str, str]) -> pa.Table:
    """Put the answers of all banks together.

    Args:
        banks: In the order of their rows.
        model: What the study calls it.
        shapes: Shape of each family, by its id.
    """
    import pyarrow as arrow  # noqa: PLC0415

    def labelled(name: str, values: Any) -> Any:
        return arrow.array(values, arrow.string()).dictionary_encode()

    parts = []
    for bank in banks:
        count = bank.columns.num_rows
        families = bank.columns["family_id"].to_pylist()
        same = {
            "bank": bank.bank_id,
            "model": model,
            "domain": bank.domain.value,
            "state": bank.state.value,
            "ring": bank.ring.value,
        }
        columns = {name: labelled(name, [value] * count) for name, value in same.items()}
        columns |= {
            "shape": labelled("shape", [shapes[family] for family in families]),
            "family": labelled("family", families),
            "case": bank.columns["case"].cast(arrow.int32()),
            "draw": bank.columns["draw"].cast(arrow.int32()),
            "mode": labelled("mode", bank.columns["mode"].to_pylist()),
            "finish": labelled("finish", bank.columns["finish"].to_pylist()),
            "text": bank.columns["text"],
            "choice": arrow.array(bank.choices, arrow.int8()),
        }
        parts.append(arrow.table(columns))
    return arrow.concat_tables(parts).unify_dictionaries()


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet."""
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(table, path, compression="zstd")


def read_table(path: Path) -> pa.Table:
    """Read a table of Parquet.

    Raises:
        IntegrityError: If it is none.
    """
    import pyarrow as arrow  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    try:
        return parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        name = f"{path.parent.name}/{path.name}"
        raise IntegrityError(f"{name}: it is no Parquet file that can be read; it was cut or changed") from error


def first_difference(found: pa.Table, expected: pa.Table) -> str:
    """Say in words where two tables differ first; empty if they hold the same."""
    if found.column_names != expected.column_names:
        return f"its columns are {', '.join(found.column_names)}, expected {', '.join(expected.column_names)}"
    if found.num_rows != expected.num_rows:
        return f"it has {found.num_rows:,} rows, expected {expected.num_rows:,}"
    for name in expected.column_names:
        if _plain(found[name]).equals(_plain(expected[name])):
            continue
        pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        for row, (own, other) in enumerate(pairs):
            if own != other and not (own != own and other != other):  # noqa: PLR0124 - not a number
                return f"row {row}: {name} is {own!r}, expected {other!r}"
    return ""


def _plain(column: Any) -> Any:
    """Return a column without the dictionary that its texts may come in."""
    import pyarrow as arrow  # noqa: PLC0415

    return column.cast(arrow.string()) if arrow.types.is_dictionary(column.type) else column
