"""What every test shares: whether a Docker daemon answers, where servers log, and properties that are not timed."""

from __future__ import annotations

import functools

import hypothesis
import pytest

from leakscale_server.logs import configure_log

hypothesis.settings.register_profile("leakscale", deadline=None)  # a busy machine must not fail a property
hypothesis.settings.load_profile("leakscale")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-docker", action="store_true", help="fail tests marked `docker` where no daemon answers")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker") is None or _docker_answers():
        return
    reason = "no Docker daemon answers; run `docker/engine.sh start`"
    if item.config.getoption("--require-docker"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _log_of_servers_in_this_process() -> None:
    """Keep it off standard output, where a command's result stands, as a server's own process does."""
    configure_log()


@functools.cache
def _docker_answers() -> bool:
    docker = pytest.importorskip("docker")
    try:
        client = docker.from_env(timeout=5)
    except docker.errors.DockerException:
        return False
    try:
        return bool(client.ping())
    except docker.errors.DockerException:
        return False
    finally:
        client.close()
