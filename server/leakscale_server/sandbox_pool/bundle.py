"""Bundle the worker's modules into one `-c` argument.

The image is only an interpreter, so a change of the worker needs no new image, and `docker inspect` shows exactly what
runs.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from leakscale_sandbox.displacement import LARGE_SIZE

__all__ = ["interpreter_arguments", "worker_digest", "worker_source"]

# In order of import: each module needs only those before it.
_MODULE_NAMES = (
    "verdicts",
    "wire",
    "canonical",
    "kernel_clock",
    "clocks",
    "seccomp",
    "confinement",
    "preloaded",
    "displacement",
    "python_runner",
    "sql_policy",
    "sql_runner",
    "task",
    "supervisor",
    "surroundings",
    "worker",
)
_PACKAGE = "leakscale_sandbox"
_BOOTSTRAP = """\
import sys
from types import ModuleType
# In C, datetime asks the kernel for the time; in Python it asks the module time, which a lane stops.
sys.modules["_datetime"] = None
# Types stay where they are made, and most are made by the imports below; see `displacement`.
kept = [bytes({size}) for _ in range(int(sys.argv[2]))]
def load(name, source):
    module = sys.modules[name] = ModuleType(name)
    module.__path__ = []
    exec(compile(source, "<" + name + ">", "exec"), module.__dict__)
load({package!r}, "")
for name, source in {sources!r}:
    load({package!r} + "." + name, source)
sys.modules[{package!r} + ".worker"].main()
"""
# One argument of a process may have 128 KiB.
_SOURCE_BYTES_MAX = 120 << 10


@cache
def worker_source() -> str:
    """Return the worker as one Python program, read once: an upgrade on disk must not reach a running server."""
    folder = files(_PACKAGE)
    sources = [(name, folder.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in _MODULE_NAMES]
    source = _BOOTSTRAP.format(package=_PACKAGE, sources=sources, size=LARGE_SIZE)
    if len(source.encode()) > _SOURCE_BYTES_MAX:
        raise RuntimeError("the worker's source does not fit one argument")
    return source


def worker_digest() -> str:
    """Return the digest that a certificate names the worker by."""
    return "sha256:" + hashlib.sha256(worker_source().encode()).hexdigest()


def interpreter_arguments(*, is_second: bool, shift: int) -> list[str]:
    """Return the arguments of the interpreter that start a worker.

    Args:
        is_second: See `LaneSettings.is_second`.
        shift: See `LaneSettings.shift`.
    """
    # -s -S -P keep site packages and the working folder away; -I would too, but it ignores PYTHONHASHSEED.
    return ["-s", "-S", "-P", "-c", worker_source(), "second" if is_second else "first", str(shift)]
