"""Move what only counts or places things, by another distance in each kind of lane.

Two fresh workers have made the same objects in the same order, so their heaps differ in the page at which they begin
and in nothing below it: the last digits of an address, the order of objects in a set, the number of modules or the
depth of the stack say the same in both, and another thing once the worker or the interpreter changes. Moved by two
distances they differ today, and a family that hangs on them is rejected.

Does *not* move what lies in the interpreter's own file: types, functions and `None` follow each other as the compiler
put them, and a set of them has one order in all lanes. The certificate names the interpreter's build.
"""

from __future__ import annotations

import _thread
import builtins
import os
import posix
import sys
import threading
from collections.abc import Callable
from types import BuiltinMethodType, MethodType, MethodWrapperType, ModuleType
from typing import Any

__all__ = ["LARGE_SIZE", "displace"]

_SMALL_SIZES = range(1, 480, 16)
"""Lengths of `bytes` that reach each size class of the allocator of small objects but the first two."""
LARGE_SIZE = 600
"""Length of a `bytes` that the C library places, in an odd number of its steps of 16 bytes."""
_FILLING_BYTES = 1 << 16
_HASHED_BY_PLACE = (BuiltinMethodType, MethodType, MethodWrapperType)
_BOTH_ENDS = (1 << 48) + 1


def displace(shift: int) -> list[object]:
    """Move this process and those that it forks.

    Args:
        shift: Distance, from 0; in objects of every size, in modules, frames and numbers. An odd one makes what was
            even odd.

    Returns:
        Objects to be kept while programs run.
    """
    _number(shift)
    _salt(shift)
    sys.modules.update({f"elsewhere_{number}": ModuleType(f"elsewhere_{number}") for number in range(shift)})
    sys.setrecursionlimit(sys.getrecursionlimit() + shift)
    return _move_heap(shift)


def _move_heap(shift: int) -> list[object]:
    """Fill the gaps among objects, so that what comes next lies side by side, and then so many places more."""
    kept: list[object] = [object() for _ in range(_FILLING_BYTES // 16)]
    kept += (number + 0.5 for number in range(_FILLING_BYTES // 32))
    kept += (bytes(size) for size in _SMALL_SIZES for _ in range(_FILLING_BYTES // (size + 47)))
    for number in range(shift):
        kept += (object(), number + 0.25, [], {}, type(f"Elsewhere{number}", (), {}), bytes(LARGE_SIZE))
        kept += (bytes(size) for size in _SMALL_SIZES)
    return kept


def _number(shift: int) -> None:
    """Say other numbers of processes and threads; the kernel, asked by another way, says 0."""
    ask_thread = _thread.get_ident
    changes: dict[str, Callable[[], int]] = {
        "getpid": lambda: shift,
        "getppid": lambda: shift,
        "get_native_id": lambda: shift,
        "get_ident": lambda: ask_thread() + shift,
    }
    for module in (os, posix, threading, _thread):
        names = vars(module)
        names.update({name: change for name, change in changes.items() if name in names})
    # A thread looks itself up by its number.
    main: Any = threading.main_thread()
    main._ident, main._native_id = threading.get_ident(), shift
    vars(threading)["_active"] = {main._ident: main}


def _salt(shift: int) -> None:
    """Add to every address that a program is told, below the digits of a page and above those that all share."""
    tell_address, tell_hash = builtins.id, builtins.hash
    distance = shift * _BOTH_ENDS

    def salted_id(thing: object, /) -> int:
        return tell_address(thing) + distance

    def salted_hash(thing: object, /) -> int:
        found = tell_hash(thing)
        is_address = type(thing).__hash__ is object.__hash__ or isinstance(thing, _HASHED_BY_PLACE)
        # By another number than objects are moved by: two moves must not cancel each other out.
        return found + (shift >> 1) if is_address else found

    vars(builtins).update({"id": salted_id, "hash": salted_hash})
