"""The files that run a server in a container: what they name is there, and what they pass is understood.

No image is built here, since a base would come from a registry.
"""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
import typer
import yaml

from leakscale_server.__main__ import app
from leakscale_server.config import TlsFiles

from .certificates import Authority
from .helpers import server_config
from .test_http import a_server

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
DOCKERFILE = (DOCKER / "server.Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def service(compose: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", compose["services"]["server"])


@pytest.fixture(scope="module")
def options(service: dict[str, Any]) -> dict[str, Any]:
    """What the server's own command line makes of the arguments; an option that it lacks is an error."""
    command = typer.main.get_command(app)
    return dict(command.make_context("leakscale-server", list(service["command"])).params)


def sources() -> list[str]:
    """What the Dockerfile copies out of the repository."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return [name for names in copied for name in names.split()]


def test_the_servers_settings_are_ones_that_it_starts_with(options: dict[str, Any]) -> None:
    """Off loopback it wants TLS for both listeners."""
    config = server_config(
        options["data_dir"],
        listen=options["listen"],
        http_listen=options["http_listen"],
        backend=options["backend"],
        tls=TlsFiles(options["tls_certificate"], options["tls_key"]),
        metrics_port=options["metrics_port"],
        metrics_listen=options["metrics_listen"],
    )
    config.check()

    assert not config.listen.startswith("127.")


def test_every_path_in_the_container_is_mounted_there(
    compose: dict[str, Any], service: dict[str, Any], options: dict[str, Any]
) -> None:
    """The root is read-only: what is written has a volume, what is secret is one."""
    volumes = dict(each.split(":") for each in service["volumes"])
    secrets = {f"/run/secrets/{name}" for name in service["secrets"]}

    assert service["read_only"] is True
    assert {str(options["data_dir"]), str(options["cache_dir"])} == set(volumes.values())
    assert set(volumes) == set(compose["volumes"])
    assert {str(options["tls_certificate"]), str(options["tls_key"])} < secrets
    assert options["vault_key_command"].split()[-1] in secrets
    assert set(service["secrets"]) == set(compose["secrets"])
    for path in volumes.values():
        assert f"{path}" in DOCKERFILE.split("install --directory", 1)[1].splitlines()[0].split()


def test_the_ports_are_those_that_the_server_listens_on(service: dict[str, Any], options: dict[str, Any]) -> None:
    """And the health check asks one of them."""
    listened = {options[name].rpartition(":")[2] for name in ("listen", "http_listen")}

    assert {each.split(":")[1] for each in service["ports"]} == listened
    assert set(re.findall(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)[0].split()) == listened
    assert service["healthcheck"]["test"][-1].rpartition(":")[2] == options["http_listen"].rpartition(":")[2]


def test_metrics_are_reached_from_a_network_that_leads_nowhere(
    compose: dict[str, Any], service: dict[str, Any], options: dict[str, Any]
) -> None:
    """They take no token: a published port would tell the world how much is called, and how often it fails."""
    port = str(options["metrics_port"])

    assert options["metrics_listen"] == "0.0.0.0"
    assert service["expose"] == [port]
    assert not any(port in each for each in service["ports"])
    assert compose["networks"] == {"metrics": {"internal": True}}
    assert set(service["networks"]) == {"default", "metrics"}
    assert set(compose["services"]) == {"server"}  # nobody else is on the default network


def test_the_container_has_no_more_rights_than_a_jail_needs(service: dict[str, Any]) -> None:
    """No root, no capability, no socket of the daemon, which would be root by another name."""
    assert service["user"] == "10001:10001"
    assert "USER 10001:10001" in DOCKERFILE
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert set(service).isdisjoint({"privileged", "cap_add", "devices", "network_mode", "pid"})
    assert "docker.sock" not in str(service)


def test_what_the_image_is_built_from_is_there_and_reaches_the_build(service: dict[str, Any]) -> None:
    """An ignored file fails the build, and secrets must be ignored."""
    context = DOCKER / service["build"]["context"]
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    kept = [pattern[1:] for pattern in patterns if pattern.startswith("!")]

    assert (context / service["build"]["dockerfile"]).samefile(DOCKER / "server.Dockerfile")
    assert patterns[0] == "*"
    assert sorted(kept) == sorted(sources())
    assert all((context / name).exists() for name in sources())
    assert not any(fnmatch.fnmatch("docker/secrets/vault.key", f"{name}*") for name in kept)
    ignored = subprocess.run(["git", "check-ignore", "docker/secrets/vault.key"], cwd=ROOT, check=False)
    assert ignored.returncode == 0 or not (ROOT / ".git").exists()


def test_the_extras_that_the_image_installs_exist() -> None:
    """pip only warns of one that does not."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (named,) = re.findall(r"/src\[(.+?)\]", DOCKERFILE)

    assert set(named.split(",")) <= set(declared)


def healthy(url: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    command = [sys.executable, "-I", str(DOCKER / "healthy.py"), url]
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False)


def test_the_health_check_tells_a_server_that_serves_from_one_that_does_not(tmp_path: Path) -> None:
    """With TLS, as in the container, where the certificate is for another name."""
    pair = Authority(tmp_path).issue("server")

    with a_server(tls=TlsFiles(pair.certificate, pair.key)) as (url, _):
        assert healthy(url).returncode == 0
    stopped = healthy(url)
    assert stopped.returncode == 1
    assert stopped.stderr.startswith("no answer from https://")
    assert len(stopped.stderr.splitlines()) == 1
