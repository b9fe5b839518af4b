"""Put a program in other surroundings in each of the two lanes: environment, folder, processors, interpreter.

What a program reads of the place in which it runs gives the same bytes in two sandboxes of one host, and others on
another one or with another image. Two places that agree in nothing differ today, and its family is rejected. Both are
invented, so what nevertheless passes says the same on every machine.

Does *not* hide what the interpreter is (`sys.version_info`, `sys.implementation`): a certificate names it.
"""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FIRST_PLACE", "SECOND_PLACE", "Surroundings"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a program can read of where it runs."""

    variables: Mapping[str, str]
    folder: str
    """Working folder; it must exist in the image."""
    processor_count: int
    interpreter: Mapping[str, object]
    """Names of `sys`."""

    def install(self) -> None:
        """Move this process and those that it forks there; its environment must be empty.

        Raises:
            OSError: If the folder cannot be entered.
        """
        os.environ.update(self.variables)
        os.chdir(self.folder)
        vars(sys).update(self.interpreter)
        # The C library counts processors in files and calls that a program is refused, and then says 1.
        for module in (os, posix):
            vars(module)["cpu_count"] = lambda: self.processor_count
            vars(module)["sysconf"] = _refuse


def _refuse(_name: object, /) -> int:
    raise PermissionError("the sandbox tells nothing about its machine")


FIRST_PLACE = Surroundings(
    variables={},
    folder="/",
    processor_count=1,
    interpreter={"argv": [""], "orig_argv": [""]},
)
"""No variable at all, as everything that starts a worker leaves it."""
SECOND_PLACE = Surroundings(
    variables={
        "EDITOR": "ed",
        "HOME": "/usr",
        "HOSTNAME": "elsewhere",
        "LANG": "POSIX",
        "LOGNAME": "somebody",
        "PATH": "/usr/local/bin",
        "PWD": "/usr/local",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "TMPDIR": "/usr/local",
        "USER": "somebody",
    },
    folder="/usr/local",
    processor_count=96,
    interpreter={
        "argv": ["elsewhere", "--verbose"],
        "executable": "/usr/bin/elsewhere",
        "orig_argv": ["elsewhere", "--verbose"],
        "platform": "elsewhere",
        "version": "0.0.0 (elsewhere)",
    },
)
"""`TZ` is left out and `LANG` a name of the locale that there is: a clock and a sorting rule are not moved by them."""
