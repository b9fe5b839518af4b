"""`client.editions` and `client.families`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing

from leakscale.client.conversion import (
    CONDITION_VALUES,
    KIND_VALUES,
    RING_VALUES,
    to_edition,
    to_family,
    to_opening,
    to_outcome,
)
from leakscale.client.transport import Transport
from leakscale.models import (
    CertificationOutcome,
    CertificationRequest,
    Condition,
    Edition,
    EditionKind,
    Family,
    Opening,
    Ring,
    ShapeFile,
)
from leakscale.v1 import (
    certification_service_pb2,
    certification_service_pb2_grpc,
    edition_service_pb2,
    edition_service_pb2_grpc,
)

__all__ = ["Editions", "Families"]


class Editions:
    """Drafts, frozen editions and their public families."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(edition_service_pb2_grpc.EditionServiceStub)

    def create(
        self,
        edition_id: str,
        *,
        kind: EditionKind,
        families_per_cell: int,
        public_seed: bytes,
        shapes: Sequence[ShapeFile],
        practice_private_seed: bytes = b"",
    ) -> Edition:
        """Open a draft; the same call again returns the same draft.

        Args:
            edition_id: 1 to 63 lower-case letters, digits and inner dashes.
            kind: A practice edition's author chooses the private seed; a private edition's server draws it.
            families_per_cell: Families in one shape and condition: 4, 8, 12 or 16.
            public_seed: 16 to 64 bytes, root of everything public.
            shapes: Shape files, in order.
            practice_private_seed: 32 bytes for a practice edition, nothing for a private one.
        """
        request = edition_service_pb2.CreateEditionRequest(
            edition_id=edition_id,
            kind=KIND_VALUES[kind],
            families_per_cell=families_per_cell,
            public_seed=public_seed,
            practice_private_seed=practice_private_seed,
            shapes=[edition_service_pb2.ShapeSource(source=shape.source, toml=shape.toml) for shape in shapes],
        )
        return to_edition(self._transport.unary(self._stub.CreateEdition, request).edition)

    def get(self, name: str) -> Edition:
        """Return one edition by its name, `editions/{edition}`."""
        request = edition_service_pb2.GetEditionRequest(name=name)
        return to_edition(self._transport.unary(self._stub.GetEdition, request).edition)

    def list(self) -> Iterator[Edition]:
        """Return all editions, newest first, page by page."""
        token = ""
        while True:
            request = edition_service_pb2.ListEditionsRequest(page_token=token)
            page = self._transport.unary(self._stub.ListEditions, request)
            yield from map(to_edition, page.editions)
            token = page.next_page_token
            if not token:
                return

    def freeze(self, name: str) -> Edition:
        """Make a fully certified draft immutable; a frozen edition is returned as it is."""
        request = edition_service_pb2.FreezeEditionRequest(name=name)
        return to_edition(self._transport.unary(self._stub.FreezeEdition, request).edition)

    def families(self, name: str, *, ring: Ring = Ring.R0) -> tuple[Family, ...]:
        """Return the public families of a frozen edition in one ring, in the order of their ids."""
        families: list[Family] = []
        token = ""
        while True:
            request = edition_service_pb2.ListFamiliesRequest(edition=name, page_token=token, ring=RING_VALUES[ring])
            page = self._transport.unary(self._stub.ListFamilies, request)
            families += map(to_family, page.families)
            token = page.next_page_token
            if not token:
                return tuple(families)

    def family(self, name: str, *, ring: Ring = Ring.R0) -> Family:
        """Return one public family of a frozen edition by its name, `editions/{edition}/families/{family}`."""
        request = edition_service_pb2.GetFamilyRequest(name=name, ring=RING_VALUES[ring])
        return to_family(self._transport.unary(self._stub.GetFamily, request).family)

    def retire(self, name: str) -> Edition:
        """Open the commitments of a frozen edition: from here on nothing can be measured with it."""
        request = edition_service_pb2.RetireEditionRequest(name=name)
        return to_edition(self._transport.unary(self._stub.RetireEdition, request).edition)

    def openings(self, name: str) -> Iterator[Opening]:
        """Return the openings of a retired edition, in the order of family ids, page by page."""
        token = ""
        while True:
            request = edition_service_pb2.ListOpeningsRequest(edition=name, page_token=token)
            page = self._transport.unary(self._stub.ListOpenings, request)
            yield from map(to_opening, page.openings)
            token = page.next_page_token
            if not token:
                return

    def download(self, name: str) -> Iterator[bytes]:
        """Return the file of a frozen edition in pieces; its SHA-256 is the digest of the edition's statement."""
        request = edition_service_pb2.DownloadEditionRequest(name=name)
        for message in self._transport.download(self._stub.DownloadEdition, request):
            yield message.chunk


class Families:
    """Proof of families."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(certification_service_pb2_grpc.CertificationServiceStub)

    def certify(
        self, edition: str, requests: Iterable[CertificationRequest]
    ) -> Generator[CertificationOutcome, None, None]:
        """Certify families of one edition and return each outcome as soon as it is done, in any order.

        Closing the generator cancels what is not done yet. A family that is certified already is answered from the
        store, so a broken stream is resumed by calling again.
        """
        messages = (
            certification_service_pb2.CertifyFamiliesRequest(
                edition=edition,
                shape_id=request.shape_id,
                condition=CONDITION_VALUES[request.condition],
                ordinal=request.ordinal,
            )
            for request in requests
        )
        with closing(self._transport.exchange(self._stub.CertifyFamilies, messages)) as answers:
            yield from map(to_outcome, answers)

    def certify_edition(self, edition: Edition) -> Generator[CertificationOutcome, None, None]:
        """Certify every family that an edition will have."""
        requests = (
            CertificationRequest(shape_id, condition, ordinal)
            for shape_id in edition.shape_ids
            for condition in Condition
            for ordinal in range(edition.families_per_cell)
        )
        return self.certify(edition.name, requests)
