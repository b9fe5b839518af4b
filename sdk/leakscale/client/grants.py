"""`client.grants`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from google.protobuf.duration_pb2 import Duration

from leakscale.client.conversion import to_grant
from leakscale.client.transport import Transport
from leakscale.errors import GrantNotOpenError, InvalidRequestError, PermissionDeniedError
from leakscale.models import Grant, GrantPhase, GrantTrace, TrainingRecord
from leakscale.training_records import records_from_bytes
from leakscale.v1 import grant_service_pb2, grant_service_pb2_grpc

if TYPE_CHECKING:
    from leakscale.sealing import HolderKey

__all__ = ["Grants"]

_Records = list[TrainingRecord]
_Traces = list[GrantTrace]  # named here: in the class, `list` is a method
_TRACED_CHARACTERS: Final = 256 * 1024
"""Of one call; a character has at most four bytes, and a text at most 1 MiB."""
_OVERLAP_CHARACTERS: Final = 256
"""Longer than any marker, so that one on the seam is found."""


class Grants:
    """Exposure grants."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(grant_service_pb2_grpc.GrantServiceStub)

    def request(self, edition: str, *, holder_key: bytes, request_id: str, preservation_count: int = 0) -> Grant:
        """Ask for a grant of a frozen edition; the same request again returns the same grant.

        Args:
            edition: `editions/{edition}`.
            holder_key: Public half of a `HolderKey`, 32 bytes: the corpus is sealed to it.
            request_id: 1 to 63 lower-case letters, digits and inner dashes, chosen by the caller.
            preservation_count: Public-format tasks of families that are never banked, 0 to 65,536.
        """
        request = grant_service_pb2.RequestGrantRequest(
            edition=edition, holder_key=holder_key, request_id=request_id, preservation_count=preservation_count
        )
        return to_grant(self._transport.unary(self._stub.RequestGrant, request).grant)

    def approve(self, name: str, *, lifetime: timedelta | None = None) -> Grant:
        """Approve a request, for one minute to seven days (the default); approved already, that approval stands."""
        request = grant_service_pb2.ApproveGrantRequest(name=name)
        if lifetime is not None:
            duration = Duration()
            duration.FromTimedelta(lifetime)
            request.lifetime.CopyFrom(duration)
        return to_grant(self._transport.unary(self._stub.ApproveGrant, request).grant)

    def get(self, name: str) -> Grant:
        """Return one grant, `editions/{edition}/grants/{grant}`."""
        return to_grant(self._transport.unary(self._stub.GetGrant, grant_service_pb2.GetGrantRequest(name=name)).grant)

    def list(self, edition: str) -> Iterator[Grant]:
        """Return the grants of an edition that the caller may see, newest first."""
        request = grant_service_pb2.ListGrantsRequest(edition=edition)
        while True:
            page = self._transport.unary(self._stub.ListGrants, request)
            yield from map(to_grant, page.grants)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def redeem(self, name: str, *, key: HolderKey, request_id: str) -> Iterator[TrainingRecord]:
        """Redeem an approved grant and return its adaptation corpus; the same request id returns the same records.

        Args:
            name: `editions/{edition}/grants/{grant}`.
            key: The key that the grant was requested with.
            request_id: Chosen by the caller; a grant is redeemed by one.

        Raises:
            InvalidRequestError: If the grant is sealed to another key; nothing is redeemed then.
            IntegrityError: If the corpus was cut off, or changed on the way.
        """
        if self.get(name).holder_key != key.public:
            raise InvalidRequestError(
                f"grant '{name}' is sealed to another key than the one given, so nothing was redeemed; give the key "
                "that it was requested with"
            )
        from leakscale.sealing import SealedPiece, open_pieces  # noqa: PLC0415 - needs cryptography

        request = grant_service_pb2.RedeemGrantRequest(name=name, request_id=request_id)
        messages = self._transport.download(self._stub.RedeemGrant, request)
        pieces = (SealedPiece(message.sealed, message.is_last) for message in messages)
        for piece in open_pieces(pieces, key=key, subject=name):
            yield from records_from_bytes(piece)

    def expose(self, edition: str, *, key: HolderKey, request_id: str, preservation_count: int = 0) -> _Records:
        """Ask for a grant, approve it where the caller may, and redeem it.

        Raises:
            GrantNotOpenError: If somebody else has to approve it first; the message names the grant.
        """
        grant = self.request(
            edition, holder_key=key.public, request_id=request_id, preservation_count=preservation_count
        )
        if grant.phase is GrantPhase.REQUESTED:
            try:
                grant = self.approve(grant.name)
            except PermissionDeniedError as error:
                raise GrantNotOpenError(
                    f"grant '{grant.name}' waits for approval, which your token does not give; ask the edition's "
                    f"author to run `leakscale grant approve {grant.name}`, then run this again"
                ) from error
        return list(self.redeem(grant.name, key=key, request_id=request_id))

    def trace(self, edition: str, text: str) -> _Traces:
        """Name the redeemed grants of an edition whose markers stand in a text of any length."""
        found: dict[str, set[str]] = {}
        for piece in _pieces(text):
            request = grant_service_pb2.TraceTextRequest(edition=edition, text=piece)
            for trace in self._transport.unary(self._stub.TraceText, request).traces:
                found.setdefault(trace.grant, set()).update(trace.markers)
        return [GrantTrace(grant, tuple(sorted(markers))) for grant, markers in sorted(found.items())]


def _pieces(text: str) -> Iterable[str]:
    step = _TRACED_CHARACTERS - _OVERLAP_CHARACTERS
    return (text[start : start + _TRACED_CHARACTERS] for start in range(0, max(1, len(text)), step))
