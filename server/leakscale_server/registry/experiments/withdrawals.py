"""An experiment that is given up before its disclosure: it expires there and then, and what it set aside is free."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from leakscale_server.errors import AlreadyDone, NotFound
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["END_TIME", "withdraw"]

END_TIME: Final = (
    "min(expire_time, ifnull((SELECT withdraw_time FROM withdrawals WHERE withdrawals.project = experiments.project "
    "AND withdrawals.experiment_id = experiments.experiment_id), expire_time))"
)
"""When an experiment ends that is not disclosed before, of a row of `experiments`."""


def withdraw(
    registry: InsertOnlyDatabase, ledger: Ledger, *, project: str, experiment_id: str, principal: str, now: datetime
) -> bool:
    """End an experiment without its numbers, for good; return whether it had not ended before.

    Raises:
        NotFound: If the project has none of that id.
        AlreadyDone: If its numbers left, or are about to.
    """
    with registry.transaction():
        where = (project, experiment_id)
        row = registry.row(
            f"SELECT {END_TIME} AS end_time FROM experiments WHERE project = ? AND experiment_id = ?",  # noqa: S608 - ours
            where,
        )
        if row is None:
            raise NotFound(f"experiment {experiment_id!r} does not exist in this project", subject=experiment_id)
        if registry.row("SELECT 1 FROM charges WHERE project = ? AND experiment_id = ?", where):
            raise AlreadyDone(
                f"the numbers of experiment {experiment_id!r} are disclosed; nothing of them can be taken back",
                subject=experiment_id,
            )
        if row["end_time"] <= time_text(now):
            return False
        added: Row = {
            "project": project,
            "experiment_id": experiment_id,
            "principal": principal,
            "withdraw_time": time_text(now),
        }
        registry.add("withdrawals", [added])
        ledger.append("experiment-withdrawn", {"experiment": experiment_id, "by": principal}, project=project)
    return True
