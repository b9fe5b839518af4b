"""Whether what a report is made with is installed."""

from __future__ import annotations

import importlib.util

from leakscale.errors import InvalidRequestError

__all__ = ["require_extra"]


def require_extra() -> None:
    """See that a report can be made: before hours of work whose end it is, too.

    Raises:
        InvalidRequestError: If a package is missing.
    """
    for name in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(name) is None:
            raise InvalidRequestError(f"a report needs {name}; run `pip install 'leakscale[report]'`")
