"""Who trains does not answer: on a private edition, nobody redeems a grant and submits answers too, unless it is said.

The exception is a plan that says, before the first answer, that one party does both (`is_self_administered`): its
disclosure is of assurance level L1. Practice editions are L0 whoever does what, so the rule is not for them.

Goes by principal. Does not guard against two principals who work together.
"""

from __future__ import annotations

from leakscale_server.errors import PartiesMixed
from leakscale_server.registry.edition_index import FROZEN_EDITIONS
from leakscale_server.store.database import InsertOnlyDatabase

__all__ = ["require_apart_to_redeem", "require_apart_to_submit"]

_REDEEMED = (
    f"SELECT 1 FROM redemptions JOIN grants USING (grant_id) JOIN ({FROZEN_EDITIONS}) USING (edition_id) "  # noqa: S608 - words are ours
    "WHERE edition_id = ? AND redemptions.principal = ? AND kind != 'practice'"
)
_SUBMITTED = (
    "SELECT 1 FROM chunks JOIN experiments USING (project, experiment_id) "  # noqa: S608 - words are ours
    f"JOIN ({FROZEN_EDITIONS}) USING (edition_id) WHERE edition_id = ? AND chunks.principal = ? "
    "AND kind != 'practice' AND NOT json_extract(plan, '$.is_self_administered')"
)


def require_apart_to_submit(registry: InsertOnlyDatabase, edition_id: str, *, principal: str) -> None:
    """Refuse answers of a principal that redeemed a grant of the edition. Call it inside the transaction that stores.

    Raises:
        PartiesMixed: If it did.
    """
    if registry.row(_REDEEMED, (edition_id, principal)):
        raise PartiesMixed(
            f"principal {principal!r} redeemed a grant of edition {edition_id!r} and may not answer for it; let "
            "another principal submit, or register the experiment with `--self-administered`",
            subject=f"editions/{edition_id}",
        )


def require_apart_to_redeem(registry: InsertOnlyDatabase, edition_id: str, *, principal: str) -> None:
    """Refuse a grant to a principal that submitted answers. Call it inside the transaction that redeems.

    Raises:
        PartiesMixed: If it did, in an experiment that is not marked.
    """
    if registry.row(_SUBMITTED, (edition_id, principal)):
        raise PartiesMixed(
            f"principal {principal!r} submitted answers in an experiment on edition {edition_id!r} and may not "
            "redeem a grant of it; let another principal redeem",
            subject=f"editions/{edition_id}",
        )
