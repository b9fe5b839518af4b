"""Private facts: seeds, associations, nonces, utilities. Only the scorer opens this file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leakscale_server.store.database import InsertOnlyDatabase, Table

__all__ = ["open_vault"]

_TABLES: Final = (
    Table("seeds", {"edition_id": str, "private_seed": bytes}, ("edition_id",)),
    Table(
        "associations",
        {
            "edition_id": str,
            "family_id": str,
            "truth": int,
            "nonce": bytes,
            "fixture_count": int,
            "passed_0": int,
            "passed_1": int,
            "passed_2": int,
            "passed_3": int,
            "attempt": int,
        },
        ("edition_id", "family_id"),
    ),
)


def open_vault(data_dir: Path) -> InsertOnlyDatabase:
    """Open or create the vault of a server."""
    return InsertOnlyDatabase(data_dir / "vault.db", _TABLES)
