"""Modules that a Python program may import.

The system-call filter refuses to open files, so what is not in memory before the first fork cannot be imported. This
list is all that is promised; what the worker imports for itself is in memory too, and may not be there tomorrow.
Adding a module here is a change of the worker's digest, and so of what a certificate names.
"""

from __future__ import annotations

import importlib
import os

__all__ = ["MODULE_NAMES", "preload"]

_NAMES = """
    __future__ abc array ast base64 binascii bisect builtins calendar cmath codecs collections collections.abc
    contextlib copy copyreg csv dataclasses datetime decimal enum errno fractions functools gc graphlib hashlib
    heapq html io itertools json keyword locale math numbers operator os os.path pprint random re reprlib signal
    statistics string struct sys textwrap threading time traceback types typing unicodedata warnings weakref zlib
"""
MODULE_NAMES = tuple(_NAMES.split())
# Reached by name at run time only: strptime's parser and codecs that text methods look up.
_HELPERS = ("_strptime", "encodings.ascii", "encodings.latin_1", "encodings.utf_8", "encodings.idna", "stringprep")


def preload() -> None:
    """Import every module of the list; one that this interpreter was built without is left out.

    Some ask to be told of a fork, to make locks or a seed anew. A program has one thread, and two lanes have two seeds
    anyway, so nobody is told: in a child of milliseconds these calls are a tenth of its work.
    """
    register_at_fork = os.register_at_fork
    os.register_at_fork = lambda **_: None
    try:
        for name in (*MODULE_NAMES, *_HELPERS):
            try:
                importlib.import_module(name)
            except ImportError:
                continue
    finally:
        os.register_at_fork = register_at_fork
