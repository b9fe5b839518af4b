"""`leakscale-server token rotate`."""

from __future__ import annotations

from typing import Annotated

import typer

from leakscale_server.token_cli.common import (
    DataDirOption,
    JsonOption,
    duration,
    ending_in_one_line,
    opened_tokens,
    say_issued,
)

__all__ = ["rotate"]


def rotate(
    token_id: Annotated[str, typer.Argument(help="Id of the token that is replaced.")],
    *,
    data_dir: DataDirOption,
    overlap: Annotated[str, typer.Option(help="How long the old one still holds: 24h, 30m, 0s.")] = "24h",
    as_json: JsonOption = False,
) -> None:
    """Issue a token with the rights and lifetime of another, which ends after the overlap."""
    with ending_in_one_line(as_json=as_json):
        both = duration(overlap, option="--overlap")
        with opened_tokens(data_dir) as tokens:
            issued = tokens.rotate(token_id, overlap=both)
        say_issued(issued, as_json=as_json, note=f"; {token_id} ends in {overlap}")
