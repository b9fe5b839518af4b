"""Beginnings of prompts that many questions share, each computed once and read on from.

Every question of a bank begins with the same system turn. How long that is, is fixed in the bank and a function of the
question alone, and a beginning is always computed by itself, in one forward of its own length: so its bits are the same
whoever asked for it first, and whether it was kept since or computed again.

Reading on where the texts of two tasks part would save more tokens, and cost a second forward for about half of the
questions: families of one shape differ in the words of their task (118 texts among 256 families of eight shapes).
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from transformers import DynamicCache

__all__ = ["PrefixCache"]

_KEPT_MAX: Final = 8
"""Beginnings kept; a bank has one, with the adapter on and, in a preflight, off."""


class PrefixCache:
    """Keys and values of the last few beginnings that were read."""

    def __init__(self, read: Callable[[tuple[int, ...]], DynamicCache]) -> None:
        """Remember how a beginning is read."""
        self._read = read
        self._kept: OrderedDict[tuple[bool, tuple[int, ...]], DynamicCache] = OrderedDict()

    def after(self, tokens: tuple[int, ...], *, adapter: bool) -> DynamicCache:
        """Return a cache that holds a beginning and can be read on in; what is kept does not change.

        Args:
            tokens: The beginning.
            adapter: Whether it is read with the adapter on.
        """
        key = (adapter, tokens)
        if key not in self._kept:
            self._kept[key] = self._read(tokens)
            if len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return _fork(self._kept[key])


def _fork(kept: DynamicCache) -> DynamicCache:
    """Return a cache with the same tensors: layers grow by concatenation, into tensors of their own."""
    forked = copy.copy(kept)
    forked.layers = [copy.copy(layer) for layer in kept.layers]
    return forked
