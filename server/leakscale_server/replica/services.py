"""EditionService of a replica, and the answer to everything that a replica does not do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import grpc

from leakscale.v1 import edition_service_pb2, edition_service_pb2_grpc
from leakscale_server.errors import ReadOnly
from leakscale_server.identity.methods import METHOD_SCOPES
from leakscale_server.limits import CHUNK_BYTES, FAMILIES_PER_PAGE
from leakscale_server.registry.names import parse
from leakscale_server.replica.state import Replica, ReplicaEdition
from leakscale_server.services import codec
from leakscale_server.services.call import Call

__all__ = ["EverythingElse", "ReplicaEditionService"]


class ReplicaEditionService(edition_service_pb2_grpc.EditionServiceServicer):
    """Frozen editions out of an exported directory."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    def CreateEdition(self, request: object, call: Call) -> NoReturn:  # noqa: N802
        """Refuse: a replica only reads."""
        raise _read_only()

    def FreezeEdition(self, request: object, call: Call) -> NoReturn:  # noqa: N802
        """Refuse: a replica only reads."""
        raise _read_only()

    def RetireEdition(self, request: object, call: Call) -> NoReturn:  # noqa: N802
        """Refuse: a replica only reads."""
        raise _read_only()

    def GetEdition(  # noqa: N802
        self, request: edition_service_pb2.GetEditionRequest, call: Call
    ) -> edition_service_pb2.GetEditionResponse:
        """Return one frozen edition."""
        return edition_service_pb2.GetEditionResponse(
            edition=codec.encode_edition(self._edition(request.name), is_own=False)
        )

    def ListEditions(  # noqa: N802
        self, request: edition_service_pb2.ListEditionsRequest, call: Call
    ) -> edition_service_pb2.ListEditionsResponse:
        """List frozen editions, those that were frozen last first."""
        size = codec.page_size(request.page_size, default=100)
        editions = list(self._replica.state().editions.values())
        page, token = codec.page(editions, key=lambda edition: edition.edition_id, after=request.page_token, size=size)
        return edition_service_pb2.ListEditionsResponse(
            editions=[codec.encode_edition(edition, is_own=False) for edition in page], next_page_token=token
        )

    def ListFamilies(  # noqa: N802
        self, request: edition_service_pb2.ListFamiliesRequest, call: Call
    ) -> edition_service_pb2.ListFamiliesResponse:
        """List public families in one ring, in the order of their ids."""
        edition = self._edition(request.edition, field="edition")
        limit = codec.page_size(request.page_size, default=FAMILIES_PER_PAGE)
        forms = edition.forms(codec.decode_ring(request.ring))
        call.answer_holds = forms.hold
        families = forms.page(after=request.page_token, limit=limit + 1)
        page = families[:limit]
        return edition_service_pb2.ListFamiliesResponse(
            families=[codec.encode_family(edition.edition_id, family) for family in page],
            next_page_token=page[-1].family_id if len(families) > limit else "",
        )

    def GetFamily(  # noqa: N802
        self, request: edition_service_pb2.GetFamilyRequest, call: Call
    ) -> edition_service_pb2.GetFamilyResponse:
        """Return one public family in one ring."""
        edition_id, family_id = parse(request.name, "editions", "families")
        edition = self._replica.state().edition(edition_id)
        forms = edition.forms(codec.decode_ring(request.ring))
        call.answer_holds = forms.hold
        family = codec.named_family(forms, edition_id, family_id)
        return edition_service_pb2.GetFamilyResponse(family=codec.encode_family(edition_id, family))

    def DownloadEdition(  # noqa: N802
        self, request: edition_service_pb2.DownloadEditionRequest, call: Call
    ) -> Iterator[edition_service_pb2.DownloadEditionResponse]:
        """Stream the file of a frozen edition."""
        with self._edition(request.name).checked_path().open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield edition_service_pb2.DownloadEditionResponse(chunk=chunk)

    def ListOpenings(  # noqa: N802
        self, request: edition_service_pb2.ListOpeningsRequest, call: Call
    ) -> edition_service_pb2.ListOpeningsResponse:
        """List what the commitments of a retired edition hid, in the order of family ids."""
        limit = codec.page_size(request.page_size, default=FAMILIES_PER_PAGE)
        after = request.page_token
        openings = [
            each for each in self._edition(request.edition, field="edition").openings() if each.family_id > after
        ]
        return edition_service_pb2.ListOpeningsResponse(
            openings=[codec.encode_opening(opening) for opening in openings[:limit]],
            next_page_token=openings[limit - 1].family_id if len(openings) > limit else "",
        )

    def _edition(self, name: str, *, field: str = "name") -> ReplicaEdition:
        (edition_id,) = parse(name, "editions", field=field)
        return self._replica.state().edition(edition_id)


class EverythingElse(grpc.GenericRpcHandler):
    """Answers the methods that a replica does not have, so that a caller hears where to turn."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Refuse a method of the wire; leave alone what is none."""
        if handler_call_details.method not in METHOD_SCOPES:
            return None
        return grpc.stream_stream_rpc_method_handler(_refuse)


def _refuse(requests: Iterator[bytes], call: Call) -> Iterator[bytes]:
    raise _read_only()
    yield b""


def _read_only() -> ReadOnly:
    return ReadOnly("this server is a replica, which only reads; call the server that it is a replica of")
