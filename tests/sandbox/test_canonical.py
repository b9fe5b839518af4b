"""The canonical encoding: equal bytes exactly for the same value, and nothing else can be decoded."""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale_sandbox.canonical import RefusedValueError, TooLargeError, encode_rows, encode_value
from leakscale_sandbox.canonical_reader import NotCanonicalError, Rows, canonical_text, decode_value

SIZE = 256 << 10
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(TEXT, inner, max_size=4)
    ),
    max_leaves=20,
)
STORAGE = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT | st.binary(max_size=6)


def encode(value: object) -> bytes:
    return encode_value(value, byte_count_max=SIZE)


def written_again(value: object) -> bytes:
    if isinstance(value, Rows):
        return encode_rows(value.column_names, value.rows, ordered=value.is_ordered, byte_count_max=SIZE)
    return encode(value)


def identical(left: object, right: object) -> bool:
    """Compare as the encoding must: types count, the sign of zero counts, the order of keys does not."""
    if type(left) is not type(right):
        return False
    match left, right:
        case float(), float():
            return left == right and math.copysign(1, left) == math.copysign(1, right)
        case ((list() | tuple()), (list() | tuple())):
            return len(left) == len(right) and all(map(identical, left, right))
        case dict(), dict():
            return left.keys() == right.keys() and all(identical(left[key], right[key]) for key in left)
    return left == right


@given(VALUES)
def test_a_value_survives_the_way_there_and_back(value: object) -> None:
    """A lossy encoding would let two different answers pass as one."""
    assert identical(decode_value(encode(value)), value)


@given(VALUES, VALUES)
def test_two_values_share_bytes_exactly_when_they_are_identical(left: object, right: object) -> None:
    """The server compares bytes and nothing else."""
    assert (encode(left) == encode(right)) == identical(left, right)


@given(st.binary(max_size=64))
def test_whatever_decodes_encodes_to_the_same_bytes(data: bytes) -> None:
    """Hostile bytes are refused unless the writer itself would have written them."""
    try:
        value = decode_value(b"\x01" + data)
    except NotCanonicalError:
        return

    assert canonical_text(b"\x01" + data).count("\n") == 0
    assert written_again(value) == b"\x01" + data


@given(VALUES, st.data())
def test_a_changed_byte_is_another_value_or_none(value: object, data: st.DataObject) -> None:
    """Random bytes seldom parse; bytes near honest ones do, and lead into every branch of the reader."""
    written = bytearray(encode(value))
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] ^= data.draw(st.integers(1, 255))
    try:
        other = decode_value(bytes(written))
    except NotCanonicalError:
        return

    assert written_again(other) == bytes(written)
    assert not identical(other, value)


@given(VALUES, st.data())
def test_a_value_that_is_cut_or_followed_is_refused(value: object, data: st.DataObject) -> None:
    """A prefix that decoded would let a forger hide bytes behind an answer."""
    written = encode(value)
    length = data.draw(st.integers(0, len(written) - 1))

    for forged in (written[:length], written + b"n", written + bytes(1)):
        with pytest.raises(NotCanonicalError):
            decode_value(forged)


@given(st.lists(st.tuples(STORAGE, STORAGE), max_size=6), st.booleans(), st.data())
def test_changed_rows_are_other_rows_or_none(
    rows: list[tuple[object, object]], ordered: bool, data: st.DataObject
) -> None:
    """An SQL result is read by a way of its own: columns, storage classes, and the order of a bag."""
    honest = encode_rows(["a", "b"], rows, ordered=ordered, byte_count_max=SIZE)
    written = bytearray(honest)
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] ^= data.draw(st.integers(1, 255))

    assert written_again(decode_value(honest)) == honest
    with contextlib.suppress(NotCanonicalError):
        assert written_again(decode_value(bytes(written))) == bytes(written)


@given(st.lists(st.tuples(STORAGE, STORAGE), max_size=6), st.randoms())
def test_a_bag_does_not_depend_on_the_order_of_rows(rows: list[tuple[object, object]], random: object) -> None:
    """A bag sorts whole rows; sorting columns apart would let scrambled rows pass."""
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    one, other = (encode_rows(["a", "b"], order, ordered=False, byte_count_max=SIZE) for order in (rows, shuffled))

    assert one == other
    assert len(decode_value(one).rows) == len(rows)  # type: ignore[attr-defined]


def test_kinds_of_one_stay_apart() -> None:
    """`1 == 1.0 == True` in Python; as answers they differ."""
    assert len({encode(value) for value in (1, 1.0, True, "1", [1], (1,), {"1": 1})}) == 7


def test_rows_with_swapped_columns_stay_apart() -> None:
    """Comparing column by column would call these equal."""
    one = encode_rows(["a", "b"], [(1, 2), (3, 4)], ordered=False, byte_count_max=SIZE)
    other = encode_rows(["a", "b"], [(1, 4), (3, 2)], ordered=False, byte_count_max=SIZE)

    assert one != other


def test_duplicate_column_names_keep_both_values() -> None:
    """Rows as dictionaries would lose one."""
    assert decode_value(encode_rows(["n", "n"], [(1, 2)], ordered=True, byte_count_max=SIZE)) == Rows(
        ("n", "n"), ((1, 2),), True
    )


class _List(list):  # type: ignore[type-arg]
    """Says that it equals everything."""

    def __eq__(self, _other: object) -> bool:
        return True

    __hash__ = None


def nested(depth: int) -> object:
    value: object = 0
    for _ in range(depth - 1):
        value = [value]
    return value


def cycle() -> object:
    items: list[object] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, b"x", {1}, frozenset(), _List(), OrderedDict(), 1j, object(), range(3), "\ud800", {1: 2}),
        *({"\ud800": 1}, [_List()], nested(65), cycle(), iter(())),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_without_canonical_form_is_refused(value: object) -> None:
    """A type that could answer for itself never reaches a comparison."""
    with pytest.raises(RefusedValueError):
        encode(value)


@pytest.mark.parametrize("value", ["x" * SIZE, [0] * 100_001, 10**4300], ids=["bytes", "nodes", "digits"])
def test_a_value_that_is_too_large_is_refused(value: object) -> None:
    """Every bound is counted in the value, so it bites at the same place on every machine."""
    with pytest.raises(TooLargeError):
        encode_value(value, byte_count_max=SIZE)


def test_the_largest_allowed_values_survive() -> None:
    """Writer and reader must agree on where the bounds lie."""
    for value in (nested(64), 2**14_284 - 1, -(2**14_284) + 1, "x" * (SIZE - 6)):
        assert decode_value(encode(value)) == value


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x01", b"\x02n", b"\x01nn", b"\x01x", b"\x01i\0\0\0\x0200", b"\x01i\0\0\0\x02-0", b"\x01i\0\0\0\x00",
        b"\x01d\x7f\xf8\0\0\0\0\0\0", b"\x01s\0\0\0\x01\xff", b"\x01s\xff\xff\xff\xff", b"\x01l\xff\xff\xff\xff",
        b"\x01m\0\0\0\x02s\0\0\0\x01ans\0\0\0\x01an", b"\x01m\0\0\0\x02s\0\0\0\x01bns\0\0\0\x01an",
        b"\x01" + b"l\0\0\0\x01" * 64 + b"n", b"\x01g\0\0\0\0\xff\xff\xff\xff", b"\x01b\0\0\0\x01a",
        b"\x01q\0\0\0\0\0\x01\x86\xa0", b"\x01q\0\0\0\0\0\0\0\0",
        b"\x01g\0\0\0\x01s\0\0\0\x01a\0\0\0\x02i\0\0\0\x012i\0\0\0\x011",
    ],
)  # fmt: skip
def test_forged_bytes_are_refused(data: bytes) -> None:
    """A candidate can write what it likes to its own result; it must not crash or fool the reader."""
    with pytest.raises(NotCanonicalError):
        decode_value(data)


def test_text_for_people_is_one_line() -> None:
    """`sandbox run` prints one JSON line an execution."""
    assert canonical_text(encode({"b": (1, 2.5), "a": "\n"})) == '{"a":"\\n","b":{"$tuple":[1,2.5]}}'
