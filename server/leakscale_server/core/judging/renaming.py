"""Whether R2 says under other names what R0 says: which candidates agree, and what each of them returns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from leakscale.models import Ring
from leakscale_sandbox.canonical_reader import Rows, decode_value
from leakscale_server.core.judging.faults import Rings, cells, is_equal
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.sandbox_pool import Verdict

__all__ = ["find_other_result", "find_renaming"]

Names: TypeAlias = Mapping[str, str]
"""The name in R2 of each name in R0."""


def find_renaming(rings: Rings) -> Rejection | None:
    """Find two candidates that agree on a fixture under the names of R0 and not under those of R2, or the reverse.

    Where all pairs agree alike, the
    same share of fixtures is right for each candidate in both rings, so one utility serves both.
    """
    exact, renamed = rings[Ring.R0], rings[Ring.R2]
    # A candidate agrees with itself where it returns.
    for one, other in itertools.combinations_with_replacement(range(len(exact)), 2):
        before = map(is_equal, exact[one], exact[other])
        after = map(is_equal, renamed[one], renamed[other])
        for index, (was_equal, stays_equal) in enumerate(zip(before, after, strict=True)):
            if was_equal != stays_equal:
                return Rejection(
                    RejectionReason.RENAMING_DIFFERS,
                    Ring.R2,
                    candidate_position=one,
                    other_position=None if one == other else other,
                    fixture_index=index,
                )
    return None


def find_other_result(rings: Rings, names: Names) -> Rejection | None:
    """Find a candidate whose output is not the same in R2 but for names of columns and keys of records.

    A program that returns another field under other names, for all candidates alike, leaves who agrees with whom.
    A name may also stay as it is: a key may be a value that is spelt as a field is.
    """
    pairs = zip(cells(rings[Ring.R0]), cells(rings[Ring.R2]), strict=True)
    encoded = [name.encode() for name in names]
    for (position, index, one), (_, _, other) in pairs:
        if not one.verdict is other.verdict is Verdict.RETURNED:
            continue
        # Most outputs hold values alone: equal bytes without a name in them need not be read.
        if one.output == other.output and not any(name in one.output for name in encoded):
            continue
        if not _is_same(decode_value(one.output), decode_value(other.output), names):
            return Rejection(
                RejectionReason.RENAMED_OUTPUT_DIFFERS, Ring.R2, candidate_position=position, fixture_index=index
            )
    return None


def _is_same(one: object, other: object, names: Names) -> bool:
    """Compare two results by type and value, names aside."""
    if type(one) is not type(other):
        return False
    match one, other:
        case Rows(), Rows():
            columns = zip(one.column_names, other.column_names, strict=False)
            return (
                len(one.column_names) == len(other.column_names)
                and all(new in (old, names.get(old)) for old, new in columns)
                and _are_same(one.rows, other.rows, names)
            )
        case dict(), dict():
            found = {key: key if key in other else names.get(key, key) for key in one}
            return set(found.values()) == set(other) and all(
                _is_same(one[key], other[new], names) for key, new in found.items()
            )
        case list() | tuple(), list() | tuple():
            return _are_same(one, other, names)
    return one == other


def _are_same(one: Sequence[object], other: Sequence[object], names: Names) -> bool:
    return len(one) == len(other) and all(_is_same(*pair, names) for pair in zip(one, other, strict=True))
