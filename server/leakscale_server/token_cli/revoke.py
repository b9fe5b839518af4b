"""`leakscale-server token revoke`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from leakscale_server.token_cli.common import (
    DataDirOption,
    JsonOption,
    ending_in_one_line,
    facts_of,
    opened_tokens,
    say,
)

__all__ = ["revoke"]


def revoke(
    token_id: Annotated[str, typer.Argument(help="Id of the token.")],
    *,
    data_dir: DataDirOption,
    as_json: JsonOption = False,
) -> None:
    """End a token. A server that runs refuses it within 5 seconds, also in streams that it began."""
    with ending_in_one_line(as_json=as_json):
        with opened_tokens(data_dir) as tokens:
            facts = facts_of(tokens.revoke(token_id))
        if as_json:
            say(facts)
        else:
            sys.stdout.write(f"token {token_id} of {facts['principal']} ended at {facts['end_time']}\n")
