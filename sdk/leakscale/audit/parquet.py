"""Rows of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leakscale.errors import InvalidRequestError

__all__ = ["parquet_rows"]


def parquet_rows(path: Path, *, subject: str) -> Iterator[dict[str, Any]]:
    """Yield the rows in order, a batch in memory at a time; a field that a row lacks is None.

    Args:
        path: The file.
        subject: What it is, for messages.

    Raises:
        InvalidRequestError: If the extra `audit` is not installed, or the file is no Parquet file.
    """
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise InvalidRequestError(f"{subject}: Parquet needs pyarrow; run `pip install 'leakscale[audit]'`") from error
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise InvalidRequestError(f"{subject}: column '{twice}' comes twice; name each column once")
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except OverflowError as error:
        raise InvalidRequestError(f"{subject}: a date is out of range ({error}); leave its column out") from error
    except pyarrow.ArrowException as error:
        raise InvalidRequestError(f"{subject} is no Parquet file: {error}") from error
