"""What R2 returns, held against R0 with the names of one exchanged for those of the other."""

from __future__ import annotations

from typing import Any

import pytest

from leakscale.models import Ring
from leakscale_sandbox.canonical import encode_rows, encode_value
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.judging.renaming import find_other_result
from leakscale_server.sandbox_pool import Execution, Verdict

NAMES = {"size": "width", "tag": "mark"}


def value(content: Any) -> Execution:
    return Execution(Verdict.RETURNED, encode_value(content, byte_count_max=1 << 16), "")


def table(names: list[str], *rows: tuple[Any, ...], ordered: bool = True) -> Execution:
    written = encode_rows(names, list(rows), ordered=ordered, byte_count_max=1 << 16)
    return Execution(Verdict.RETURNED, written, "")


def find(exact: Execution, renamed: Execution) -> Rejection | None:
    return find_other_result({Ring.R0: ((exact,),), Ring.R2: ((renamed,),)}, NAMES)


@pytest.mark.parametrize(
    ("exact", "renamed"),
    [
        (value([1, 2.5, None, "a"]), value([1, 2.5, None, "a"])),
        (value([{"size": 1, "tag": ["size"]}]), value([{"width": 1, "mark": ["size"]}])),
        (value({"size": {"tag": (1, "x")}}), value({"width": {"mark": (1, "x")}})),
        (table(["size", "n"], (1, "size")), table(["width", "n"], (1, "size"))),
        (table(["tag"], (1,), (2,), ordered=False), table(["mark"], (1,), (2,), ordered=False)),
        (Execution(Verdict.EXCEPTION, b"", "KeyError"), value(1)),
    ],
)
def test_names_alone_may_differ(exact: Execution, renamed: Execution) -> None:
    """Values stay, a value that is spelt as a name is, too; of what did not return, other rules speak."""
    assert find(exact, renamed) is None


def test_a_key_that_is_a_value_may_be_spelt_as_a_name_is() -> None:
    """Records counted by a tag that some of them call `size`."""
    assert find(value({"size": 3, "other": 1}), value({"size": 3, "other": 1})) is None


@pytest.mark.parametrize(
    ("exact", "renamed"),
    [
        (value([1, 2]), value([1, 3])),
        (value([1]), value([1, 1])),
        (value([1]), value([1.0])),
        (value([1]), value([True])),
        (value(["size"]), value(["width"])),
        (value([1]), value((1,))),
        (value({"size": 1}), value({"mark": 1})),
        (value({"size": 1}), value({"width": 1, "mark": 2})),
        (table(["size"], (1,)), table(["mark"], (1,))),
        (table(["size"], (1,)), table(["width"], (2,))),
        (table(["size"], (1,)), table(["width", "n"], (1, 2))),
        (table(["n"], (1,)), table(["n"], (1.0,))),
    ],
)
def test_any_other_difference_is_found(exact: Execution, renamed: Execution) -> None:
    """All candidates alike may read another field once fields are renamed: who agrees with whom does not show it."""
    assert find(exact, renamed) == Rejection(
        RejectionReason.RENAMED_OUTPUT_DIFFERS, Ring.R2, candidate_position=0, fixture_index=0
    )
