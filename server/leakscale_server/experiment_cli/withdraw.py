"""`leakscale-server experiment withdraw`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from leakscale_server.token_cli.common import DataDirOption, JsonOption, ending_in_one_line, opened_ledger, say

__all__ = ["withdraw_experiment"]


def withdraw_experiment(
    project: Annotated[str, typer.Argument(help="Whose experiment it is.")],
    experiment: Annotated[str, typer.Argument(help="Its id.")],
    *,
    data_dir: DataDirOption,
    principal: Annotated[str, typer.Option(help="Who decides it; stands in the ledger.")],
    as_json: JsonOption = False,
) -> None:
    """End an experiment of any project that is not disclosed: what it set aside of its edition's budget is free."""
    # They load a database library and the wire, which other commands of the server's do not need.
    from leakscale_server.registry.experiments.withdrawals import withdraw  # noqa: PLC0415

    with ending_in_one_line(as_json=as_json):
        with opened_ledger(data_dir) as (registry, ledger):
            is_new = withdraw(
                registry,
                ledger,
                project=project,
                experiment_id=experiment,
                principal=principal,
                now=datetime.now(UTC),
            )
        if as_json:
            say({"project": project, "experiment": experiment, "is_new": is_new})
        else:
            sys.stdout.write(
                f"experiment {experiment} of {project} {'is withdrawn' if is_new else 'had ended before'}\n"
            )
