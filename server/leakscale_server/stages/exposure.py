"""From a redeemed grant to the corpus that it permits."""

from __future__ import annotations

from leakscale.models import TrainingRecord
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.scorer.contract import CorpusOrder, Scoring, ShapeText

__all__ = ["Exposure"]


class Exposure:
    """Redeems grants."""

    def __init__(self, editions: EditionRegistry, grants: GrantRegistry, scorer: Scoring) -> None:
        self._editions = editions
        self._grants = grants
        self._scorer = scorer

    def redeem(self, edition_id: str, grant_id: str, *, request_id: str) -> list[TrainingRecord]:
        """Mark a grant as redeemed and write its corpus, in the order of record ids; the same request may come again.

        Raises:
            NotFound: If there is no such edition or grant.
            NotFrozen: If the edition is a draft.
            AlreadyDone: If another request redeemed it.
        """
        edition = self._editions.get_frozen(edition_id)
        grant = self._grants.redeem(grant_id, edition_id=edition_id, request_id=request_id)
        order = CorpusOrder(
            edition_id=edition_id,
            shapes=tuple(ShapeText(source, toml) for source, toml in edition.sources),
            public_seed=edition.public_seed,
            families=tuple(self._editions.families(edition_id)),
            preservation_count=grant.preservation_count,
        )
        return self._scorer.corpus(order)
