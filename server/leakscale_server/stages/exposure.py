"""From a request for exposure to the sealed corpus that it permits, and from a text back to the grant."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from leakscale.models import GrantPhase
from leakscale.sealing import SealedPiece
from leakscale_server.errors import InvalidRequest, NotFound
from leakscale_server.identity.caller import Caller
from leakscale_server.limits import TRACED_BYTES_MAX
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.grants import Grant, GrantRegistry
from leakscale_server.scorer.contract import CorpusOrder, Scoring, ShapeText, TraceOrder

__all__ = ["Exposure"]


class Exposure:
    """Hands out the associations of C2 families, each time to one holder, and entered in the ledger.

    A grant is seen by its holder's project and by the edition's, and by nobody else: to others it does not exist.
    """

    def __init__(self, editions: EditionRegistry, grants: GrantRegistry, scorer: Scoring) -> None:
        self._editions = editions
        self._grants = grants
        self._scorer = scorer

    def request(
        self, edition_id: str, caller: Caller, *, holder_key: bytes, preservation_count: int, request_id: str
    ) -> Grant:
        """Ask for a grant of a frozen edition; see `GrantRegistry.request`.

        Raises:
            NotFound: If there is no such edition.
            NotFrozen: If it is a draft.
            EditionRetired: If its truth is in the open.
        """
        self._editions.get_frozen(edition_id, project=caller.project).require_in_use()
        return self._grants.request(
            edition_id,
            caller,
            holder_key=holder_key,
            preservation_count=preservation_count,
            request_id=request_id,
        )

    def approve(self, edition_id: str, grant_id: str, caller: Caller, *, lifetime: timedelta) -> Grant:
        """Approve a request of an edition of the caller's project.

        Raises:
            NotFound: If there is none that the caller may approve.
        """
        grant = self._own_editions_grant(edition_id, grant_id, caller)
        return self._grants.approve(grant, caller, lifetime=lifetime)

    def get(self, edition_id: str, grant_id: str, caller: Caller) -> Grant:
        """Return a grant.

        Raises:
            NotFound: If there is none that the caller may see.
        """
        grant = self._grants.get(edition_id, grant_id)
        if caller.project not in (grant.project, self._editions.get(edition_id).project):
            raise _unseen(grant.name)
        return grant

    def visible(self, edition_id: str, caller: Caller) -> list[Grant]:
        """Return the grants of an edition that the caller may see, newest first."""
        is_own = self._editions.get_frozen(edition_id, project=caller.project).project == caller.project
        return [grant for grant in self._grants.of_edition(edition_id) if is_own or grant.project == caller.project]

    def phase(self, grant: Grant) -> GrantPhase:
        """Tell where a grant is in its life now."""
        return self._grants.phase(grant)

    def redeem(self, edition_id: str, grant_id: str, caller: Caller, *, request_id: str) -> Iterator[SealedPiece]:
        """Mark a grant as redeemed and return its corpus, sealed to the holder. The same request may come again.

        Raises:
            NotFound: If there is none that the caller may see.
            ScopeMissing: If the caller is not its holder.
            GrantNotOpen: If it waits for approval, or has expired.
            AlreadyDone: If another request redeemed it.
        """
        edition = self._editions.get_frozen(edition_id, project=caller.project)
        grant = self._grants.redeem(self.get(edition_id, grant_id, caller), caller, request_id=request_id)
        return self._scorer.corpus(
            CorpusOrder(
                edition_key=edition.key,
                grant_id=grant_id,
                grant=grant.name,
                holder_key=grant.holder_key,
                shapes=_shapes(edition),
                public_seed=edition.public_seed,
                families=tuple(self._editions.families(edition_id)),
                preservation_count=grant.preservation_count,
            )
        )

    def trace(self, edition_id: str, caller: Caller, *, text: str) -> list[tuple[Grant, tuple[str, ...]]]:
        """Return the redeemed grants of an edition of the caller's project whose markers stand in a text.

        Raises:
            NotFound: If there is no such edition of the caller's project.
            InvalidRequest: If the text is too long.
        """
        if len(text.encode()) > TRACED_BYTES_MAX:
            raise InvalidRequest(
                f"text has {len(text.encode()):,} bytes and a call takes {TRACED_BYTES_MAX:,}; send it in pieces that "
                "overlap by 256 characters",
                subject="text",
            )
        edition = self._editions.get_frozen(edition_id, project=caller.project)
        if edition.project != caller.project:
            raise _unseen(f"editions/{edition_id}")
        redeemed = [grant for grant in self._grants.of_edition(edition_id) if grant.redeem_time is not None]
        order = TraceOrder(edition.key, _shapes(edition), tuple(grant.grant_id for grant in redeemed), text)
        found = zip(redeemed, self._scorer.trace(order), strict=True)
        return [(grant, markers) for grant, markers in found if markers]

    def _own_editions_grant(self, edition_id: str, grant_id: str, caller: Caller) -> Grant:
        grant = self._grants.get(edition_id, grant_id)
        if self._editions.get(edition_id).project != caller.project:
            raise _unseen(grant.name)
        return grant


def _shapes(edition: Edition) -> tuple[ShapeText, ...]:
    return tuple(ShapeText(source, toml) for source, toml in edition.sources)


def _unseen(name: str) -> NotFound:
    """Return what a name gets that stands for nothing."""
    kind = "grant" if "/grants/" in name else "edition"
    return NotFound(f"{kind} {name!r} does not exist on this server", subject=name)
