"""`leakscale-server token list`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from leakscale_server.token_cli.common import (
    DataDirOption,
    JsonOption,
    ending_in_one_line,
    facts_of,
    opened_tokens,
    said_time,
    say,
)

if TYPE_CHECKING:
    from leakscale_server.identity.token_registry import StoredToken

__all__ = ["list_tokens"]


def list_tokens(*, data_dir: DataDirOption, as_json: JsonOption = False) -> None:
    """List all tokens, oldest first, those that have ended too. The one in the file `token` is not among them."""
    with ending_in_one_line(as_json=as_json):
        with opened_tokens(data_dir) as tokens:
            found = tokens.list()
        now = datetime.now(UTC)
        if as_json:
            say({"tokens": [{**facts_of(token), "has_ended": token.has_ended(now)} for token in found]})
        else:
            sys.stdout.writelines(f"{line}\n" for line in _table(found, now))


def _table(tokens: Sequence[StoredToken], now: datetime) -> Iterator[str]:
    rows = [("token", "principal", "project", "role", "ends")]
    for token in tokens:
        ends = said_time(token.end_time) or "never"
        ends += " (ended)" if token.has_ended(now) else ""
        rows.append((token.caller.token_id, token.caller.principal, token.caller.project, token.caller.role, ends))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
