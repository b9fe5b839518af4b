"""Random choices must be a pure function of seed and labels, and fair."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale_server.core.streams import Stream

SEED = b"seed of sixteen+"

labels = st.lists(st.text(max_size=8) | st.integers() | st.binary(max_size=8), max_size=4)


def test_stream_bytes_are_the_published_ones() -> None:
    """A change of these bytes changes every family that was ever built; it needs a new protocol label."""
    stream = Stream(SEED, "golden", 1)

    assert stream.take(8).hex() == "ab101c4814be4d54"
    assert [stream.below(1000) for _ in range(4)] == [118, 667, 580, 967]
    assert stream.shuffled("abcdef") == list("dacbef")


@given(st.lists(st.integers(0, 70), max_size=20))
def test_bytes_do_not_depend_on_how_they_are_taken(sizes: list[int]) -> None:
    """Taking 3 + 5 bytes or 8 at once is the same stream."""
    pieces = Stream(SEED, "a")

    assert b"".join(pieces.take(size) for size in sizes) == Stream(SEED, "a").take(sum(sizes))


@given(labels, labels)
def test_different_labels_are_different_streams(one: list[str | int | bytes], other: list[str | int | bytes]) -> None:
    """Labels are length-prefixed, so no two of them run together; a number and its digits are one label."""
    written = [[label if isinstance(label, bytes) else str(label) for label in each] for each in (one, other)]

    assert (Stream(SEED, *one).take(32) == Stream(SEED, *other).take(32)) == (written[0] == written[1])


def test_neighboring_labels_do_not_run_together() -> None:
    assert Stream(SEED, "ab", "c").take(32) != Stream(SEED, "a", "bc").take(32)
    assert Stream(SEED, "a").take(32) != Stream(SEED, b"a").take(32)


@given(st.integers(1, 2**32), st.binary(min_size=16, max_size=16))
def test_numbers_stay_below_their_bound(bound: int, seed: bytes) -> None:
    assert 0 <= Stream(seed, "n").below(bound) < bound


@given(st.integers(-(10**12), 10**12), st.integers(0, 2**32 - 1))
def test_between_includes_both_ends_and_nothing_else(low: int, width: int) -> None:
    assert low <= Stream(SEED, low).between(low, low + width) <= low + width


@given(st.integers(0, 40), st.integers(0, 40))
def test_samples_are_distinct_and_ascending(population: int, count: int) -> None:
    if count > population:
        with pytest.raises(ValueError, match="cannot take"):
            Stream(SEED).sample(population, count)
        return
    sample = Stream(SEED, population).sample(population, count)

    assert len(sample) == count
    assert sample == sorted(set(sample) & set(range(population)))


def test_numbers_are_uniform() -> None:
    """Three does not divide 2**32: a plain remainder would be fair here too, a wrong rejection would not."""
    stream = Stream(SEED, "uniform")
    counts = Counter(stream.below(3) for _ in range(30_000))

    assert all(abs(count - 10_000) < 5 * 82 for count in counts.values())


def test_each_order_is_equally_likely() -> None:
    stream = Stream(SEED, "orders")
    counts = Counter(tuple(stream.shuffled("abcd")) for _ in range(24_000))

    assert len(counts) == 24
    assert all(abs(count - 1000) < 5 * 31 for count in counts.values())


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1])
def test_a_bound_outside_a_word_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        Stream(SEED).below(bound)


def test_a_short_seed_is_refused() -> None:
    """Fewer than 128 bits could be found by trying."""
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Stream(b"short")
