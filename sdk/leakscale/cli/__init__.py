"""The command line. Importing this package loads nothing; `main` loads what the command at hand needs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run `leakscale` with the arguments of this process and exit with its code."""
    from leakscale.cli.entry import run  # noqa: PLC0415 - `import leakscale.cli` stays free

    sys.exit(run(sys.argv[1:]))
