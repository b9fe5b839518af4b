"""The openings of a retired edition as a file: one line a family, canonical JSON, in the order of family ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from leakscale.digests import canonical_json
from leakscale.models import Condition, Opening
from leakscale.reading import fault_of, parse_json

__all__ = ["opening_of_line", "openings_to_lines"]


def openings_to_lines(openings: Iterable[Opening]) -> bytes:
    """Write openings as their file holds them; the server states the SHA-256 of these bytes."""
    return b"".join(canonical_json(_to_json(opening)) + b"\n" for opening in openings)


def opening_of_line(line: bytes) -> Opening:
    """Read one line, without its end.

    Raises:
        ValueError: If it is not what `openings_to_lines` writes.
    """
    try:
        fields = parse_json(line)
        opening = Opening(
            family_id=fields["family"],
            key=fields["key"],
            truth=fields["truth"],
            nonce=bytes.fromhex(fields["nonce"]),
            condition=Condition(fields["condition"]),
        )
        if canonical_json(_to_json(opening)) != line:
            raise ValueError("its bytes are not the ones that were written")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no opening ({fault_of(error)})") from error
    return opening


def _to_json(opening: Opening) -> dict[str, Any]:
    return {
        "family": opening.family_id,
        "key": opening.key,
        "truth": opening.truth,
        "nonce": opening.nonce.hex(),
        "condition": opening.condition.value,
    }
