"""Results in files: Parquet or JSON lines, the columns of `ResultTable`, read and written through pyarrow."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leakscale.analysis.result_table import OPTIONAL_COLUMNS, TEXT_COLUMNS, WHOLE_COLUMNS, LabelColumn, ResultTable
from leakscale.errors import InvalidRequestError, NotFoundError, PreconditionError
from leakscale.whole_files import replacing

__all__ = ["RESULT_SUFFIXES", "read_results", "result_columns", "write_results"]

RESULT_SUFFIXES: Final = (".parquet", ".jsonl")
_REAL_COLUMNS: Final = ("strength", "probability")


def read_results(path: Path) -> ResultTable:
    """Read the results of an experiment. Columns that are not of a `ResultTable` are left alone.

    Args:
        path: A `.parquet` or `.jsonl` file. Text may be plain or of pandas' categories.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is of another kind, a column is missing or of another type, or a value is missing or
            out of range.
        PreconditionError: If pyarrow is not installed.
    """
    arrow = _arrow(path)
    if not path.is_file():
        raise NotFoundError(f"results '{path}' do not exist; give the path of a .parquet or .jsonl file")
    try:
        columns = _read_parquet(path) if path.suffix == ".parquet" else _read_json_lines(path)
        missing = [name for name in (*TEXT_COLUMNS, *WHOLE_COLUMNS) if name not in columns.column_names]
        if missing := [name for name in missing if name not in OPTIONAL_COLUMNS]:
            raise InvalidRequestError(f"results '{path}' have no column {missing[0]!r}; write it, one value a row")
        return _table(columns, path, arrow)
    except arrow.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidRequestError(f"results '{path}' cannot be read: {reason}; write the file again") from error


def write_results(table: ResultTable, path: Path) -> None:
    """Write the results of an experiment; the file appears whole or not at all.

    Raises:
        InvalidRequestError: If the path ends neither in `.parquet` nor in `.jsonl`.
        PreconditionError: If pyarrow is not installed.
    """
    arrow = _arrow(path)
    whole = arrow.table(result_columns(table))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

            pq.write_table(whole, file, compression="zstd")
        else:
            for batch in whole.to_batches(max_chunksize=1 << 14):
                file.writelines(f"{json.dumps(row, separators=(',', ':'))}\n".encode() for row in batch.to_pylist())


def result_columns(table: ResultTable) -> dict[str, Any]:
    """Return the columns that a table has, as pyarrow's arrays; those of text come with a dictionary."""
    import pyarrow as arrow  # noqa: PLC0415 - an extra

    columns: dict[str, Any] = {}
    for name in (*TEXT_COLUMNS, *WHOLE_COLUMNS, *_REAL_COLUMNS):
        column = getattr(table, name)
        if isinstance(column, LabelColumn):
            codes = arrow.array(column.codes.astype(np.int32))
            columns[name] = arrow.DictionaryArray.from_arrays(codes, arrow.array(column.names, arrow.string()))
        elif column is not None:
            columns[name] = arrow.array(column)
    return columns


def _arrow(path: Path) -> ModuleType:
    if path.suffix not in RESULT_SUFFIXES:
        raise InvalidRequestError(f"results '{path}' end in {path.suffix!r}; use {' or '.join(RESULT_SUFFIXES)}")
    try:
        import pyarrow  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise PreconditionError(f"results '{path}' need pyarrow; run `pip install 'leakscale[analysis]'`") from error
    module: ModuleType = pyarrow
    return module


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    with pq.ParquetFile(path) as opened:
        texts = [name for name in TEXT_COLUMNS if name in opened.schema_arrow.names]
    # Asked for a column that is not there, the library raises a KeyError of its own.
    with pq.ParquetFile(path, read_dictionary=texts) as opened:
        wanted = {*TEXT_COLUMNS, *WHOLE_COLUMNS, *_REAL_COLUMNS}
        return opened.read(columns=[name for name in opened.schema_arrow.names if name in wanted])


def _read_json_lines(path: Path) -> Any:
    import pyarrow.json as reader  # noqa: PLC0415 - an extra

    return reader.read_json(path)


def _table(columns: Any, path: Path, arrow: ModuleType) -> ResultTable:
    labels = {name: _labels(columns, name, path, arrow) for name in TEXT_COLUMNS}
    whole = {name: _whole(columns, name, path, arrow) for name in WHOLE_COLUMNS}
    real = {name: _real(columns, name, path, arrow) for name in _REAL_COLUMNS}
    counts = whole.pop("draw_count")
    if counts is None:
        counts = np.ones(columns.num_rows, np.int64)
    return ResultTable(**labels, **whole, **real, draw_count=counts)  # type: ignore[arg-type]


def _labels(columns: Any, name: str, path: Path, arrow: ModuleType) -> LabelColumn:
    column = _present(columns, name, path)
    if not arrow.types.is_dictionary(column.type):
        _require_kind(column.type, name, path, "text", arrow.types.is_string, arrow.types.is_large_string)
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, arrow.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else arrow.array([], column.type)
    _require_kind(whole.type.value_type, name, path, "text", arrow.types.is_string, arrow.types.is_large_string)
    return LabelColumn.of(
        name, whole.indices.to_numpy(zero_copy_only=False).astype(np.int64), tuple(whole.dictionary.to_pylist())
    )


def _whole(columns: Any, name: str, path: Path, arrow: ModuleType) -> NDArray[np.int64] | None:
    if name in OPTIONAL_COLUMNS and name not in columns.column_names:
        return None
    column = _present(columns, name, path)
    _require_kind(column.type, name, path, "whole numbers", arrow.types.is_integer, arrow.types.is_boolean)
    return np.asarray(column.to_numpy()).astype(np.int64)


def _real(columns: Any, name: str, path: Path, arrow: ModuleType) -> NDArray[np.float64] | None:
    if name not in columns.column_names:
        return None
    column = _present(columns, name, path)
    _require_kind(column.type, name, path, "numbers", arrow.types.is_floating, arrow.types.is_integer)
    return np.asarray(column.to_numpy()).astype(np.float64)


def _present(columns: Any, name: str, path: Path) -> Any:
    column = columns.column(name)
    if column.null_count:
        raise InvalidRequestError(f"results '{path}': {column.null_count} rows have no {name}; give every row one")
    return column


def _require_kind(kind: Any, name: str, path: Path, wanted: str, *tests: Any) -> None:
    if not any(test(kind) for test in tests):
        raise InvalidRequestError(f"results '{path}': column {name} is of type {kind}; write it as {wanted}")
