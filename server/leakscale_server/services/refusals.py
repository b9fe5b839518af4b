"""What an exception out of a handler becomes on the wire, and what of it stands in the log."""

from __future__ import annotations

from typing import Final, NoReturn

import structlog
from grpc_status import rpc_status

from leakscale_server.errors import Internal, ServerFault
from leakscale_server.services.call import CallContext
from leakscale_server.translation import place_of, to_fault

__all__ = ["REQUEST_ID_HEADER", "abort", "fault_of"]

REQUEST_ID_HEADER: Final = "x-request-id"

_log = structlog.get_logger()


def abort(context: CallContext, fault: ServerFault, *, request_id: str) -> NoReturn:
    """End a call with the status of a fault."""
    status = rpc_status.to_status(fault.to_status())
    context.set_trailing_metadata(((REQUEST_ID_HEADER, request_id), *(status.trailing_metadata or ())))
    context.abort(status.code, status.details)
    raise AssertionError("abort raises")


def fault_of(error: Exception, *, request_id: str, client_is_there: bool) -> ServerFault:
    """Return what an exception is on the wire; what is no fault of ours is `Internal`, and its text stays here."""
    fault = to_fault(error)
    # A client that went away breaks off whatever it had begun, and that is no failure.
    if fault is not error and isinstance(fault, Internal) and client_is_there:
        # The class and the place, never the text: a message may quote what must stay private.
        _log.error("call failed", request_id=request_id, error=type(error).__name__, place=place_of(error))
    return fault
