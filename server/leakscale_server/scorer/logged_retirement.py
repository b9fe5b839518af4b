"""Whether a retirement stands in the ledger: an entry that a signed head has, and that names these openings."""

from __future__ import annotations

import json

from leakscale.heads import head_bytes
from leakscale.merkle import is_included, leaf_hash
from leakscale_server.errors import IntegrityFailure
from leakscale_server.store.ledger import LoggedEntry
from leakscale_server.store.signing import Signer

__all__ = ["require_logged"]


def require_logged(logged: LoggedEntry, *, edition_id: str, openings_digest: bytes, signer: Signer) -> None:
    """Refuse to open an edition whose retirement is not logged.

    Does not guard against a process that signs with the same key a head that it shows to nobody else.

    Raises:
        IntegrityFailure: Naming what does not hold.
    """
    head = logged.head
    entry = json.loads(logged.content)
    found = (entry.get("kind"), entry.get("edition"), entry.get("openings"))
    holds = {
        "is of something else": found == ("edition-retired", edition_id, openings_digest.hex()),
        "is not in the tree of its head": is_included(
            leaf_hash(logged.content),
            logged.position,
            leaf_count=head.entry_count,
            root=head.root,
            path=logged.path,
        ),
        "is proved to a head that this server did not sign": signer.is_own(
            head_bytes(entry_count=head.entry_count, root=head.root), head.signature
        ),
    }
    fault = next((words for words, is_so in holds.items() if not is_so), None)
    if fault is not None:
        raise IntegrityFailure(
            f"the ledger's entry of the retirement of edition {edition_id!r} {fault}; restore the registry from a copy "
            "of the server's data folder",
            subject=f"editions/{edition_id}",
        )
