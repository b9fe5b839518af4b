"""What the scorer keeps of what it let out, in the vault, so that it need not believe who asks.

- Whether an edition is for practice is what the scorer saw at its draft: only a seed that came from outside makes one.
- Extent of a private edition are over classes of the least that any permission allows, and within the budget of the
  edition, counted over all that was disclosed before. Which families make an atom stands from the first disclosure on.
- An experiment is scored over one set of answers, whatever is asked again.
- An edition that is retired is scored no more, but for the experiments that were sealed when its truth was opened.

Each step is noted before anything leaves. So whoever asks, in whatever order, learns of the controls of a private
edition what its budget allows, until a retirement that cannot be taken back.

Does not guard the accounts of principals and projects, the permission for classes under 128, the reading of answers,
nor the assurance level: of those the scorer knows what it is told. Exposures are not counted; they hold no control.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from leakscale_server.core.edition_keys import EditionKey, id_of
from leakscale_server.errors import EditionRetired, IntegrityFailure, NotRetired
from leakscale_server.scorer.contract import ExperimentHead, RetirementOrder, SealedExperiment
from leakscale_server.scorer.room import require_room
from leakscale_server.scorer.sealed import extent_of, partition_digest, require_whole, sealed_digest
from leakscale_server.store.vault import Vault

__all__ = ["Book"]

_PRACTICE: Final = "practice"
_PARTITION: Final = "partition"
_DISCLOSURE: Final = "disclosure"
_RETIREMENT: Final = "retirement"
_ONE: Final = "one"
"""Name of a note of which an edition has one."""
_Note = Mapping[str, Any]


class Book:
    """The scorer's account of every edition. What is noted stays. Safe to use from several threads."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def note_practice(self, edition_key: EditionKey) -> None:
        """Note that the private seed of an edition came from its author, who can rebuild its truth."""
        self._vault.note(_PRACTICE, edition_key, _ONE, {})

    def charge(self, experiment: SealedExperiment) -> None:
        """Note what an experiment is scored over, or refuse it; noted before, the same again is nothing new.

        Raises:
            IntegrityFailure: If it was scored over something else, is not whole, or asks for all of a private edition.
            EditionRetired: If the edition is retired, and the experiment was not sealed by then.
            CohortTooSmall: If its numbers, with what was disclosed, are over too few families.
            BudgetSpent: If the edition has too little left.
        """
        require_whole(experiment)
        head, digest = experiment.head, sealed_digest(experiment).hex()
        name = f"{head.project}/{head.experiment_id}"
        with self._vault.transaction():
            known = self._vault.notes(_DISCLOSURE, head.edition_key, name=name)
            if not known:
                self._require_in_use(head, digest)
                self._require_allowed(experiment)
            stands = self._vault.note(_DISCLOSURE, head.edition_key, name, {"digest": digest, **extent_of(head)})
        if stands["digest"] != digest:
            raise IntegrityFailure(
                f"experiment {head.experiment_id!r} was scored over other answers or by another plan before; restore "
                "registry and vault from one copy of the data folder",
                subject=f"experiments/{head.experiment_id}",
            )

    def retire(self, order: RetirementOrder, *, openings_digest: bytes) -> None:
        """Note for good that an edition is retired; noted before, the same openings are nothing new.

        Raises:
            IntegrityFailure: If it was retired with other openings.
        """
        body = {"openings": openings_digest.hex(), "sealed": [digest.hex() for digest in order.sealed]}
        if self._vault.note(_RETIREMENT, order.edition_key, _ONE, body)["openings"] != openings_digest.hex():
            raise IntegrityFailure(
                f"edition {id_of(order.edition_key)!r} was retired with other openings; restore registry and vault "
                "from one copy of the data folder",
                subject=f"editions/{id_of(order.edition_key)}",
            )

    def openings_digest(self, edition_key: EditionKey) -> bytes:
        """Return the SHA-256 of the openings that an edition was retired with.

        Raises:
            NotRetired: If it was not.
        """
        edition_id, retirement = id_of(edition_key), self._retirement(edition_key)
        if retirement is None:
            raise NotRetired(
                f"edition {edition_id!r} is not retired in the vault, so its commitments stay closed; "
                "`leakscale edition retire` ends its use and opens them",
                subject=f"editions/{edition_id}",
            )
        return bytes.fromhex(retirement["openings"])

    def _retirement(self, edition_key: EditionKey) -> _Note | None:
        return self._vault.notes(_RETIREMENT, edition_key).get(_ONE)

    def _require_in_use(self, head: ExperimentHead, digest: str) -> None:
        retirement = self._retirement(head.edition_key)
        if retirement is not None and digest not in retirement["sealed"]:
            raise EditionRetired(
                f"edition {head.edition_id!r} was retired before experiment {head.experiment_id!r} was sealed; measure "
                "with another edition",
                subject=f"editions/{head.edition_id}",
            )

    def _require_allowed(self, experiment: SealedExperiment) -> None:
        head = experiment.head
        if not head.is_open:
            self._require_partition(experiment)
            before = self._vault.notes(_DISCLOSURE, head.edition_key).values()
            require_room(experiment, before=[note for note in before if not note["is_open"]])
        elif not self._vault.notes(_PRACTICE, head.edition_key):
            raise IntegrityFailure(
                f"edition {head.edition_id!r} is none for practice in the vault, so it does not tell everything; "
                "create it again with the same contents and seed, or restore registry and vault from one copy of the "
                "data folder",
                subject=f"editions/{head.edition_id}",
            )

    def _require_partition(self, experiment: SealedExperiment) -> None:
        edition_id, digest = experiment.head.edition_id, partition_digest(experiment.families)
        if self._vault.note(_PARTITION, experiment.head.edition_key, _ONE, {"digest": digest})["digest"] != digest:
            raise IntegrityFailure(
                f"the families of edition {edition_id!r} are not those that were disclosed over before; restore "
                "registry and vault from one copy of the data folder",
                subject=f"editions/{edition_id}",
            )
