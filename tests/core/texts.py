"""Shape files that are wrong in one place, and what is said of them."""

from __future__ import annotations

import pytest

from leakscale_server.core.shapes import ShapeError, parse_shape


def failure(text: str) -> ShapeError:
    """Return what is wrong with a shape file that must be refused."""
    with pytest.raises(ShapeError) as caught:
        parse_shape(text, source="shape.toml")
    return caught.value


def changed(text: str, old: str, new: str) -> str:
    """Return a text with another piece in place of one that must be there."""
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)
