"""Random choices as a pure function of a seed and of what the choice is for.

Python's `random` may change its methods between versions and is one sequence that every caller shares. Here each choice
has a stream of its own, named by labels: families can be built in any order, in parallel or alone, and come out byte
for byte the same.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Stream"]

T = TypeVar("T")

_BLOCK_BYTES = 32
_WORD_BYTES = 4
_WORD_VALUES = 1 << (8 * _WORD_BYTES)


class Stream:
    """Bytes of HMAC-SHA256 in counter mode, under a key made of a seed and labels.

    Labels are length-prefixed before they are hashed, so ("ab", "c") and ("a", "bc") are two streams. Without the seed
    a stream tells nothing about another one, not even about its own continuation.

    Args:
        seed: Secret or public seed, at least 16 bytes.
        labels: What the stream is for, most general first.

    Raises:
        ValueError: If the seed is shorter than 16 bytes.
    """

    __slots__ = ("_buffer", "_counter", "_key", "_offset")

    def __init__(self, seed: bytes, *labels: str | int | bytes) -> None:
        if len(seed) < 16:
            raise ValueError(f"a seed has at least 16 bytes; got {len(seed)}")
        self._key = hmac.digest(seed, b"".join(map(_encode_label, labels)), "sha256")
        self._counter = 0
        self._buffer = b""
        self._offset = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        end = self._offset + count
        while len(self._buffer) < end:
            block = hmac.digest(self._key, self._counter.to_bytes(8, "big"), "sha256")
            self._buffer = self._buffer[self._offset :] + block
            self._counter += 1
            self._offset, end = 0, end - self._offset
        taken = self._buffer[self._offset : end]
        self._offset = end
        return taken

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound), for a bound of at most 2**32.

        Words at the ragged end of the range are thrown away: taking a remainder of them would favor small values.
        """
        if not 1 <= bound <= _WORD_VALUES:
            raise ValueError(f"a bound lies in [1, 2**32]; got {bound}")
        limit = _WORD_VALUES - _WORD_VALUES % bound
        while True:
            word = int.from_bytes(self.take(_WORD_BYTES), "big")
            if word < limit:
                return word % bound

    def between(self, low: int, high: int) -> int:
        """Return a uniform integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, per_myriad: int) -> bool:
        """Say yes in `per_myriad` of 10,000 cases."""
        return self.below(10_000) < per_myriad

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, each equally likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a uniformly random order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def sample(self, population: int, count: int) -> list[int]:
        """Return `count` distinct integers of [0, population), ascending; every subset is equally likely.

        Raises:
            ValueError: If there are fewer than `count` of them.
        """
        if count > population:
            raise ValueError(f"cannot take {count} of {population}")
        chosen: set[int] = set()
        while len(chosen) < count:
            chosen.add(self.below(population))
        return sorted(chosen)

    def hex(self, digits: int) -> str:
        """Return an even number of lower-case hexadecimal digits."""
        return self.take(digits // 2).hex()


def _encode_label(label: str | int | bytes) -> bytes:
    """Write one label so that no two sequences of labels share their bytes."""
    kind, payload = (b"b", label) if isinstance(label, bytes) else (b"t", str(label).encode())
    return kind + len(payload).to_bytes(4, "big") + payload
