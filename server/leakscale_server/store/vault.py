"""Private facts: seeds, associations, nonces, utilities. Only the scorer opens this file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.models import Condition
from leakscale_server.store.database import InsertOnlyDatabase, Row, Table

__all__ = ["Association", "Vault"]

_TABLES: Final = (
    Table("seeds", {"edition_id": str, "private_seed": bytes}, ("edition_id",)),
    Table(
        "associations",
        {
            "edition_id": str,
            "family_id": str,
            "key": str,
            "condition": str,
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


@dataclass(frozen=True, slots=True)
class Association:
    """The private part of a certified family, with what its commitment binds."""

    key: str
    condition: Condition
    truth: int
    """Display index of the correct candidate, 0 to 3."""
    nonce: bytes
    fixture_count: int
    passed_counts: tuple[int, int, int, int]
    """Fixtures that each candidate passes, in display order."""
    attempt: int
    """How many draws of the fixtures came before."""

    def is_correct(self, choice: int) -> bool:
        """Tell whether the chosen candidate passed every fixture; a number past the four chose none."""
        return choice < len(self.passed_counts) and self.passed_counts[choice] == self.fixture_count


class Vault:
    """The private facts of one server. What was written first stays."""

    def __init__(self, data_dir: Path) -> None:
        self._database = InsertOnlyDatabase(data_dir / "vault.db", _TABLES)

    def fix_seed(self, edition_id: str, seed: bytes) -> bytes:
        """Store the private seed of an edition unless it has one, and return the one that stands."""
        self._database.add("seeds", [{"edition_id": edition_id, "private_seed": seed}])
        return self.seed(edition_id) or seed

    def seed(self, edition_id: str) -> bytes | None:
        """Return the private seed of an edition, if it has one."""
        row = self._database.row("SELECT private_seed FROM seeds WHERE edition_id = ?", (edition_id,))
        return row["private_seed"] if row else None

    def add_association(self, edition_id: str, family_id: str, association: Association) -> None:
        """Store the association of a certified family; the first one stays."""
        row: Row = {
            "edition_id": edition_id,
            "family_id": family_id,
            "key": association.key,
            "condition": association.condition.value,
            "truth": association.truth,
            "nonce": association.nonce,
            "fixture_count": association.fixture_count,
            **{f"passed_{index}": count for index, count in enumerate(association.passed_counts)},
            "attempt": association.attempt,
        }
        self._database.add("associations", [row])

    def associations(self, edition_id: str) -> dict[str, Association]:
        """Return the associations of an edition by family id."""
        rows = self._database.rows("SELECT * FROM associations WHERE edition_id = ?", (edition_id,))
        return {
            row["family_id"]: Association(
                key=row["key"],
                condition=Condition(row["condition"]),
                truth=row["truth"],
                nonce=row["nonce"],
                fixture_count=row["fixture_count"],
                passed_counts=(row["passed_0"], row["passed_1"], row["passed_2"], row["passed_3"]),
                attempt=row["attempt"],
            )
            for row in rows
        }

    def close(self) -> None:
        """Checkpoint and close."""
        self._database.close()
