"""The end of an edition: its use is over for good, that is logged, and then its truth is opened."""

from __future__ import annotations

from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.retirement import Retirements
from leakscale_server.scorer.contract import RetirementOrder, Scoring
from leakscale_server.stages.disclosing import Disclosing

__all__ = ["Retiring"]


class Retiring:
    """Retires editions."""

    def __init__(
        self, editions: EditionRegistry, retirements: Retirements, disclosing: Disclosing, scorer: Scoring
    ) -> None:
        self._editions = editions
        self._retirements = retirements
        self._disclosing = disclosing
        self._scorer = scorer

    def retire(self, edition: Edition, *, principal: str) -> Edition:
        """Open the commitments of a frozen edition; a retired one whose openings are there is returned as it is.

        Whatever is killed in between, the same call goes on. The scorer ends the edition's use first, then that is
        stated and logged, and it opens what it finds in the log.

        Raises:
            NotFrozen: If it is a draft.
            IntegrityFailure: If the vault does not open the root that was frozen.
        """
        edition = self._editions.get_frozen(edition.edition_id)
        if self._retirements.is_complete(edition.edition_id):
            return edition
        logged = self._retirements.record(edition, lambda: self._ended(edition), principal=principal)
        return self._retirements.show(edition, self._scorer.openings(edition.key, logged))

    def _ended(self, edition: Edition) -> bytes:
        families = self._editions.families(edition.edition_id)
        return self._scorer.retire(
            RetirementOrder(
                edition_key=edition.key,
                commitment_root=edition.commitment_root,
                family_ids=tuple(family.family_id for family in families),
                sealed=self._disclosing.sealed_digests(edition.edition_id),
            )
        )
