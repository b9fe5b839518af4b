"""The sandbox in which practice families are proved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leakscale_server.sandbox_pool import BackendUnavailable, SandboxPool, open_backend


@pytest.fixture(scope="session")
def sandbox_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the image, which is made once."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def pool(sandbox_state: Path) -> Iterator[SandboxPool]:
    """Two lanes of bubblewrap."""
    try:
        backend = open_backend("bubblewrap", state_dir=sandbox_state)
    except BackendUnavailable as error:
        pytest.skip(str(error))
    with SandboxPool(backend, lane_count=2) as opened:
        yield opened
