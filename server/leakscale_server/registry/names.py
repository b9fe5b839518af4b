"""Resource names, such as `editions/{edition}/families/{family}` and `experiments/{experiment}/banks/{bank}`."""

from __future__ import annotations

import re
from typing import Final

from leakscale_server.errors import InvalidRequest

__all__ = ["check_id", "child", "parse"]

_ID: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def check_id(value: str, *, field: str) -> str:
    """Return a new resource's id, or refuse it.

    Raises:
        InvalidRequest: If it is not 1 to 63 lower-case letters, digits and inner dashes.
    """
    if not _ID.fullmatch(value):
        raise InvalidRequest(
            f"{field} {value[:80]!r} is not a valid id; use 1 to 63 lower-case letters, digits and inner dashes",
            subject=field,
        )
    return value


def parse(name: str, *collections: str, field: str = "name") -> tuple[str, ...]:
    """Split a resource name into the ids of its collections.

    Raises:
        InvalidRequest: If the name has another form.
    """
    parts = name.split("/")
    ids = parts[1::2]
    if tuple(parts[::2]) != collections or len(parts) != 2 * len(collections) or not all(map(_ID.fullmatch, ids)):
        form = "/".join(f"{collection}/{{{collection.rstrip('s')}}}" for collection in collections)
        raise InvalidRequest(f"{field} {name[:200]!r} does not have the form {form}", subject=field)
    return tuple(ids)


def child(*pairs: str) -> str:
    """Join collections and ids: `child("editions", "demo")` is `editions/demo`."""
    return "/".join(pairs)
