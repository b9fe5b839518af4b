"""One warm pool for each backend, and an honest job to prove that a lane is still sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.sandbox_pool import SandboxPool

from .helpers import a_backend, a_python_job

BACKENDS = [pytest.param("docker", marks=pytest.mark.docker), "bubblewrap"]

HONEST_PROGRAMS = (
    "def transform(records):\n    return sum(records)",
    "def transform(records):\n    return len(records)",
)


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session", params=BACKENDS)
def pool(request: pytest.FixtureRequest, state_dir: Path) -> Iterator[SandboxPool]:
    with SandboxPool(a_backend(request.param, state_dir), lane_count=2) as pool:
        yield pool


@pytest.fixture
def honest(pool: SandboxPool) -> Iterator[Callable[[], None]]:
    """After the test, two honest programs must still give the right bytes on every lane."""

    def check() -> None:
        for lane in range(pool.lane_count):
            outcome = pool.run(a_python_job(*HONEST_PROGRAMS, fixtures=(b"[1,2,3]", b"[]")), lane=lane)
            assert [[decode_value(one.output) for one in row] for row in outcome] == [[6, 0], [3, 0]]

    yield check
    check()
