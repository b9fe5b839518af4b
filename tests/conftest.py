"""What every test shares: whether Docker or a browser is here, where servers log, untimed properties."""

from __future__ import annotations

import functools
import signal

import hypothesis
import pytest
from tests.report.browser import browser_program

from leakscale_server.logs import configure_log

hypothesis.settings.register_profile("leakscale", deadline=None)  # a busy machine must not fail a property
hypothesis.settings.register_profile("long", deadline=None, max_examples=4000)  # `--hypothesis-profile long`
hypothesis.settings.load_profile("leakscale")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-docker", action="store_true", help="fail tests marked `docker` where no daemon answers")
    parser.addoption("--require-browser", action="store_true", help="fail tests marked `browser` where no Chromium is")


def pytest_runtest_setup(item: pytest.Item) -> None:
    needs = (
        ("docker", _docker_answers, "no Docker daemon answers; run `docker/engine.sh start`"),
        ("browser", browser_program, "no Chromium is installed; install your system's package `chromium`"),
    )
    for marker, is_here, reason in needs:
        if item.get_closest_marker(marker) is None or is_here():
            continue
        if item.config.getoption(f"--require-{marker}"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _log_of_servers_in_this_process() -> None:
    """Keep it off standard output, where a command's result stands, as a server's own process does."""
    configure_log()


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """Also where a shell started the run in its background, with the signal ignored: tests send it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
