"""A table of scores as JSON Lines: a line that says whose scores these are, then a line a parent, in draw order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from leakscale.audit.scores.models import ScoreSource

if TYPE_CHECKING:
    from leakscale.audit.scores.table import ScoreTable

__all__ = ["table_fields", "table_lines"]

_FORMAT: Final = "leakscale-scores-v1"


def table_lines(table: ScoreTable) -> Iterator[str]:
    """Yield the lines of a table, without line ends; the same table always gives the same ones."""
    yield _compact(
        {
            "format": _FORMAT,
            "model": table.model,
            "state": table.state,
            "kind": str(table.kind),
            "metric": table.metric,
            "fresh_count": table.fresh_count,
            "deep_count": table.deep_count,
            "bank_digest": table.bank_digest,
            "sources": [{"name": source.name, "sha256": source.sha256} for source in table.sources],
        }
    )
    strata = table.strata or ("",) * len(table.parent_ids)
    for parent_id, stratum, row in zip(table.parent_ids, strata, table.scores.tolist(), strict=True):
        original, *rewrites = [None if score != score else score for score in row]  # noqa: PLR0124 - NaN
        fresh, deep = rewrites[: table.fresh_count], rewrites[table.fresh_count :]
        named = {"id": parent_id} | ({"stratum": stratum} if stratum else {})
        yield _compact({**named, "original": original, "fresh": fresh, "deep": deep})


def table_fields(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the table that lines describe.

    Raises:
        KeyError, TypeError, ValueError: If they describe none.
    """
    if header["format"] != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT}")
    scores = [[row["original"], *row["fresh"], *row["deep"]] for row in rows]
    column_count = 1 + header["fresh_count"] + header["deep_count"]
    strata = tuple(row.get("stratum", "") for row in rows)
    fields = ("model", "state", "kind", "metric", "fresh_count", "bank_digest")
    return {
        **{field: header[field] for field in fields},
        "sources": tuple(ScoreSource(source["name"], source["sha256"]) for source in header["sources"]),
        "parent_ids": tuple(row["id"] for row in rows),
        "scores": np.array(scores, np.float64).reshape(len(rows), column_count),
        "strata": strata if any(strata) else (),
    }


def _compact(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
