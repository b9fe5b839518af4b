"""The outermost frame of a command: arguments in, exit code out, and no traceback in between."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.exits import ExitCode, failure_of, interrupted
from leakscale.cli.shell import hoist_global_options

__all__ = ["run"]


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Every exception ends as one line on stderr; LEAKSCALE_DEBUG=1 puts its traceback before it.
    """
    console = Console(as_json="--json" in arguments)
    try:
        outcome = app(hoist_global_options(arguments), prog_name="leakscale", standalone_mode=False)
    except KeyboardInterrupt:
        outcome = int(ExitCode.INTERRUPTED)
    except Exception as error:
        if os.environ.get("LEAKSCALE_DEBUG") == "1":
            traceback.print_exc(file=sys.stderr)
        failure = failure_of(error)
        console.fail(failure)
        return int(failure.exit_code)
    code = outcome if isinstance(outcome, int) else int(ExitCode.OK)
    if code == ExitCode.INTERRUPTED:
        console.fail(interrupted())
    return code
