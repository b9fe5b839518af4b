"""The corpus of an exposure grant, for the commands that train on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.models import TrainingRecord

__all__ = ["exposed_records", "holder_key_file"]


def holder_key_file() -> Path:
    """Return where a person's holder key is kept: XDG's configuration folder."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "leakscale" / "holder.key"


def exposed_records(
    client: Client,
    edition: str,
    *,
    grant: str | None,
    request_id: str,
    preservation: int,
    holder_key: Path | None,
) -> list[TrainingRecord]:
    """Redeem a grant that was approved, or one that the caller may approve.

    Args:
        client: Of the server.
        edition: `editions/{edition}`.
        grant: Name of a grant that was asked for before; None to ask for one.
        request_id: Of the request and of the redemption.
        preservation: Public-format tasks, where a grant is asked for.
        holder_key: File of the holder's key; None for the person's own.

    Raises:
        InvalidRequestError: If a grant is named, and its key is not there.
    """
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415 - loads gRPC
    from leakscale.sealing import HolderKey  # noqa: PLC0415 - needs cryptography

    path = holder_key or holder_key_file()
    if grant is not None and not path.is_file():
        raise InvalidRequestError(
            f"grant '{grant}' needs the key that it was requested with, and there is none in {path}; name its file "
            "with --holder-key"
        )
    key = HolderKey.kept_in(path)
    if grant is not None:
        return list(client.grants.redeem(grant, key=key, request_id=request_id))
    return client.grants.expose(edition, key=key, request_id=request_id, preservation_count=preservation)
