"""`leakscale-server edition allow-small-cohorts`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from leakscale_server.token_cli.common import DataDirOption, JsonOption, ending_in_one_line, opened_ledger, say

__all__ = ["allow_small_cohorts"]


def allow_small_cohorts(
    edition: Annotated[str, typer.Argument(help="Id of a private edition.")],
    *,
    data_dir: DataDirOption,
    principal: Annotated[str, typer.Option(help="Who decides it; stands in the ledger.")],
    as_json: JsonOption = False,
) -> None:
    """Permit numbers over 64 to 127 families of an edition: two releases, for good."""
    # They load a database library and the wire, which other commands of the server's do not need.
    from leakscale_server.registry.experiments.permits import permit_small_cohorts  # noqa: PLC0415

    with ending_in_one_line(as_json=as_json):
        with opened_ledger(data_dir) as (registry, ledger):
            is_new = permit_small_cohorts(registry, ledger, edition, principal=principal, now=datetime.now(UTC))
        if as_json:
            say({"edition": edition, "families_min": 64, "is_new": is_new})
        else:
            before = "" if is_new else ", as it was before"
            sys.stdout.write(f"edition {edition} may be asked about over 64 families and more{before}\n")
