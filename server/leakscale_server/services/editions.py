"""EditionService and CertificationService."""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.v1 import (
    certification_service_pb2,
    certification_service_pb2_grpc,
    edition_service_pb2,
    edition_service_pb2_grpc,
    enums_pb2,
    resources_pb2,
)
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.errors import InvalidRequest
from leakscale_server.limits import CHUNK_BYTES, FAMILIES_PER_PAGE
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.names import parse
from leakscale_server.registry.retirement import Retirements
from leakscale_server.services import codec
from leakscale_server.services.call import Call
from leakscale_server.stages.editions import EditionStages
from leakscale_server.stages.retiring import Retiring
from leakscale_server.store.edition_file import Forms

__all__ = ["CertificationService", "EditionService"]


class EditionService(edition_service_pb2_grpc.EditionServiceServicer):
    """Drafts, frozen editions and their public families."""

    def __init__(
        self, editions: EditionRegistry, retirements: Retirements, stages: EditionStages, retiring: Retiring
    ) -> None:
        self._editions = editions
        self._retirements = retirements
        self._stages = stages
        self._retiring = retiring

    def CreateEdition(  # noqa: N802
        self, request: edition_service_pb2.CreateEditionRequest, call: Call
    ) -> edition_service_pb2.CreateEditionResponse:
        """Open a draft."""
        edition = self._stages.create(
            codec.decode_draft(request, project=call.caller.project),
            practice_private_seed=request.practice_private_seed,
            principal=call.caller.principal,
        )
        return edition_service_pb2.CreateEditionResponse(edition=_seen(edition, call))

    def GetEdition(  # noqa: N802
        self, request: edition_service_pb2.GetEditionRequest, call: Call
    ) -> edition_service_pb2.GetEditionResponse:
        """Return one edition."""
        (edition_id,) = parse(request.name, "editions")
        edition = self._editions.get(edition_id, project=call.caller.project)
        return edition_service_pb2.GetEditionResponse(edition=_seen(edition, call))

    def ListEditions(  # noqa: N802
        self, request: edition_service_pb2.ListEditionsRequest, call: Call
    ) -> edition_service_pb2.ListEditionsResponse:
        """List editions, newest first."""
        limit = codec.page_size(request.page_size, default=100)
        # One more than the page holds tells whether it is the last.
        ids = self._editions.list_ids(before=request.page_token, limit=limit + 1, project=call.caller.project)
        page = ids[:limit]
        return edition_service_pb2.ListEditionsResponse(
            editions=[_seen(self._editions.get(each, project=call.caller.project), call) for each in page],
            next_page_token=page[-1] if len(ids) > limit else "",
        )

    def FreezeEdition(  # noqa: N802
        self, request: edition_service_pb2.FreezeEditionRequest, call: Call
    ) -> edition_service_pb2.FreezeEditionResponse:
        """Make a fully certified draft immutable."""
        (edition_id,) = parse(request.name, "editions")
        draft = self._editions.owned(edition_id, project=call.caller.project)
        edition = self._stages.freeze(draft, principal=call.caller.principal)
        return edition_service_pb2.FreezeEditionResponse(edition=_seen(edition, call))

    def ListFamilies(  # noqa: N802
        self, request: edition_service_pb2.ListFamiliesRequest, call: Call
    ) -> edition_service_pb2.ListFamiliesResponse:
        """List public families in one ring, in the order of their ids."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        limit = codec.page_size(request.page_size, default=FAMILIES_PER_PAGE)
        families = self._forms(edition_id, request.ring, call).page(after=request.page_token, limit=limit + 1)
        page = families[:limit]
        return edition_service_pb2.ListFamiliesResponse(
            families=[codec.encode_family(edition_id, family) for family in page],
            next_page_token=page[-1].family_id if len(families) > limit else "",
        )

    def GetFamily(  # noqa: N802
        self, request: edition_service_pb2.GetFamilyRequest, call: Call
    ) -> edition_service_pb2.GetFamilyResponse:
        """Return one public family in one ring."""
        edition_id, family_id = parse(request.name, "editions", "families")
        family = codec.named_family(self._forms(edition_id, request.ring, call), edition_id, family_id)
        return edition_service_pb2.GetFamilyResponse(family=codec.encode_family(edition_id, family))

    def DownloadEdition(  # noqa: N802
        self, request: edition_service_pb2.DownloadEditionRequest, call: Call
    ) -> Iterator[edition_service_pb2.DownloadEditionResponse]:
        """Stream the file of a frozen edition."""
        (edition_id,) = parse(request.name, "editions")
        self._editions.get_frozen(edition_id, project=call.caller.project)
        with self._editions.frozen_file(edition_id).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield edition_service_pb2.DownloadEditionResponse(chunk=chunk)

    def RetireEdition(  # noqa: N802
        self, request: edition_service_pb2.RetireEditionRequest, call: Call
    ) -> edition_service_pb2.RetireEditionResponse:
        """Open the commitments of a frozen edition."""
        (edition_id,) = parse(request.name, "editions")
        frozen = self._editions.owned(edition_id, project=call.caller.project)
        edition = self._retiring.retire(frozen, principal=call.caller.principal)
        return edition_service_pb2.RetireEditionResponse(edition=_seen(edition, call))

    def ListOpenings(  # noqa: N802
        self, request: edition_service_pb2.ListOpeningsRequest, call: Call
    ) -> edition_service_pb2.ListOpeningsResponse:
        """List what the commitments of a retired edition hid, in the order of family ids."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        limit = codec.page_size(request.page_size, default=FAMILIES_PER_PAGE)
        self._editions.get(edition_id, project=call.caller.project)
        openings = self._retirements.openings(edition_id, after=request.page_token, limit=limit + 1)
        page = openings[:limit]
        return edition_service_pb2.ListOpeningsResponse(
            openings=[codec.encode_opening(opening) for opening in page],
            next_page_token=page[-1].family_id if len(openings) > limit else "",
        )

    def _forms(self, edition_id: str, ring: enums_pb2.Ring, call: Call) -> Forms:
        """Return the families of a frozen edition: what is read of them is kept, for it is the same to everybody."""
        forms = self._editions.forms(edition_id, codec.decode_ring(ring), project=call.caller.project)
        call.answer_holds = forms.hold
        return forms


class CertificationService(certification_service_pb2_grpc.CertificationServiceServicer):
    """Proof of families."""

    def __init__(self, editions: EditionRegistry, stages: EditionStages) -> None:
        self._editions = editions
        self._stages = stages

    def CertifyFamilies(  # noqa: N802
        self,
        request_iterator: Iterator[certification_service_pb2.CertifyFamiliesRequest],
        call: Call,
    ) -> Iterator[certification_service_pb2.CertifyFamiliesResponse]:
        """Certify families of one edition, each answered as soon as it is done."""
        first = next(request_iterator, None)
        if first is None:
            return
        (edition_id,) = parse(first.edition, "editions", field="edition")
        edition = self._editions.owned(edition_id, project=call.caller.project)
        slots = _slots(first, request_iterator, edition)
        for outcome in self._stages.certify(slots, principal=call.caller.principal):
            yield codec.encode_certification(edition_id, outcome)


def _seen(edition: Edition, call: Call) -> resources_pb2.Edition:
    return codec.encode_edition(edition, is_own=edition.project == call.caller.project)


def _slots(
    first: certification_service_pb2.CertifyFamiliesRequest,
    rest: Iterator[certification_service_pb2.CertifyFamiliesRequest],
    edition: Edition,
) -> Iterator[tuple[Edition, FamilySlot]]:
    yield edition, codec.decode_slot(first, edition)
    for request in rest:
        if request.edition != first.edition:
            raise InvalidRequest(
                f"a stream certifies one edition; it began with {first.edition!r}, now {request.edition[:80]!r}",
                subject="edition",
            )
        yield edition, codec.decode_slot(request, edition)
