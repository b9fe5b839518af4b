"""Run one Python program on every fixture, inside its own confined process.

The program owns this process: it may patch anything here. That harms only its own results, because fixtures, programs
and results of others are not in this memory, and the server compares bytes elsewhere.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterator, Sequence

from leakscale_sandbox.canonical import RefusedValueError, TooLargeError, encode_value
from leakscale_sandbox.verdicts import Limits, Verdict

__all__ = ["Record", "exception_name", "known_exception_names", "learn_exceptions", "run_python"]

Record = tuple[Verdict, bytes]
"""A verdict with canonical bytes (RETURNED) or the detail in ASCII."""

_PLAIN_MARSHAL = 2
"""Later versions of `marshal` write a value that occurs twice by reference, as it happens to lie in memory."""


def run_python(source: str, fixtures: Sequence[bytes], limits: Limits) -> Iterator[Record]:
    """Call `transform` on each fixture.

    Args:
        source: Text of a module that defines `transform(records)`.
        fixtures: JSON of each argument, parsed anew each time: a program that changes its argument changes a copy, and
            gets a verdict that says so.
        limits: Only the size of one output is enforced here.

    Yields:
        One record a fixture. If the module itself fails, each fixture gets the same record.
    """
    try:
        transform = _load(source)
    except BaseException as error:
        record = _failure(error)
        yield from (record for _ in fixtures)
        return
    for fixture in fixtures:
        yield _execute(transform, fixture, limits)


def _load(source: str) -> Callable[[object], object]:
    namespace: dict[str, object] = {"__name__": "candidate"}
    exec(compile(source, "candidate", "exec", dont_inherit=True), namespace)
    return namespace["transform"]  # type: ignore[return-value]


def _execute(transform: Callable[[object], object], fixture: bytes, limits: Limits) -> Record:
    try:
        argument = json.loads(fixture)
        before = _snapshot(argument)
        value = transform(argument)
        written = encode_value(value, byte_count_max=limits.output_bytes_max)
        if _snapshot(argument) != before:
            return Verdict.ARGUMENT_CHANGED, b"argument"
        return Verdict.RETURNED, written
    except BaseException as error:
        return _failure(error)


def _snapshot(argument: object) -> bytes:
    """Return bytes that differ wherever two arguments do, in values, types or the order of keys.

    Does *not* guard against a program that means to deceive: it shares this memory and may change what is compared, or
    put everything back before it returns. An author who sorts the argument in place by mistake does neither.
    """
    try:
        return marshal.dumps(argument, _PLAIN_MARSHAL)  # type: ignore[arg-type]  # ValueError says what does not fit
    except ValueError:
        # It now holds what no JSON gives: a set, a function, itself.
        return b""


def _failure(error: BaseException) -> Record:
    kind = type(error)
    if kind is RefusedValueError:
        return Verdict.REFUSED_TYPE, str(error).encode()
    if kind is TooLargeError:
        return Verdict.OUTPUT_LIMIT, str(error).encode()
    # CPython out of memory in the wrong place says SystemError: no difference between two programs to certify on.
    if issubclass(kind, (MemoryError, SystemError)):
        return Verdict.MEMORY_LIMIT, b"address space"
    return Verdict.EXCEPTION, exception_name(error)


_known_exceptions: dict[type, bytes] = {}


def learn_exceptions() -> None:
    """Remember the name of each exception class that exists now. Called once, before any candidate runs."""
    waiting: list[type[BaseException]] = [BaseException]
    while waiting:
        kind = waiting.pop()
        _known_exceptions[kind] = kind.__name__.encode()
        waiting += kind.__subclasses__()


def known_exception_names() -> list[str]:
    """Return every name that `exception_name` can give."""
    return sorted({name.decode() for name in _known_exceptions.values()})


def exception_name(error: BaseException) -> bytes:
    """Return the name of the exception's class, or of its nearest ancestor that a candidate did not define.

    A class that the candidate made could carry fixture content in its name, and a metaclass could compute it.
    """
    for kind in type.mro(type(error)):
        name = _known_exceptions.get(kind)
        if name is not None:
            return name
    return b"BaseException"
