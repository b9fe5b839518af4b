"""Whose corpus a text came from: words with the form of a grant's marker, and the server's word whose they are.

The markers of a grant are drawn from the edition's private seed, so a list of them, or of their digests, must not
leave the server: a decoy's key has 32 bits, every digest of it is inverted in minutes, and whoever knows the decoys
takes them out. A corpus must not leave this machine. What passes between the two is therefore only what has the form
of a marker (`K-` and eight hexadecimal digits that are no key of the edition, `lsk-canary-` and 32), and the answer
names grants. That reveals to the server which such words the corpus holds, and nothing around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from leakscale.freshness.scan.needles import Kind
from leakscale.models import GrantTrace

__all__ = ["MARKER_FORMS", "MARKER_SHAPES", "Tracer", "marker_at", "traced"]

MARKER_FORMS: Final[Mapping[bytes, Kind]] = {b" lsk canary ": Kind.CANARY, b" k ": Kind.OTHER_KEY}
"""How each folded marker begins."""
MARKER_SHAPES: Final[Mapping[Kind, tuple[str, re.Pattern[bytes]]]] = {
    Kind.CANARY: ("lsk-canary-", re.compile(rb"[0-9a-f]{32}(?= )")),
    Kind.OTHER_KEY: ("K-", re.compile(rb"[0-9a-f]{8}(?= )")),
}
"""How each is written, and what follows its beginning."""


class Tracer(Protocol):
    """What says whose markers stand in a text: `client.grants`."""

    def trace(self, edition: str, text: str) -> list[GrantTrace]:
        """Name the grants."""


def marker_at(content: bytes, end: int, form: bytes) -> tuple[Kind, str, bytes] | None:
    """Read the marker that begins with `form`, which ends at `end`: its kind, how it is written, and folded."""
    kind = MARKER_FORMS[form]
    written, shape = MARKER_SHAPES[kind]
    found = shape.match(content, end)
    return None if found is None else (kind, written + found[0].decode(), form + found[0] + b" ")


def traced(markers: Iterable[str], *, edition: str, tracer: Tracer) -> tuple[GrantTrace, ...]:
    """Ask whose markers these are; nothing else is sent."""
    text = "\n".join(markers)
    return tuple(tracer.trace(edition, text)) if text else ()
