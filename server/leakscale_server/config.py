"""What a server is told when it starts; every limit with its unit."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from leakscale.addresses import is_local
from leakscale_server.limits import CallLimits
from leakscale_server.sandbox_pool.backends import BACKEND_NAMES

__all__ = ["LANE_COUNT_MAX", "METRICS_LISTEN", "ConfigError", "ServerConfig", "TlsFiles"]

LANE_COUNT_MAX: Final = 64
METRICS_LISTEN: Final = "127.0.0.1"
_OR_UNIX: Final = " or a UNIX socket (unix:PATH)"


class ConfigError(Exception):
    """A flag breaks a rule; the message names it, the rule and the value."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files of a server that speaks TLS."""

    certificate: Path
    """Its own certificate first, then those up to the authority."""
    key: Path
    """Private key of the first certificate, without a password."""
    client_ca: Path | None = None
    """Authorities whose certificates clients must show; None: a token is enough."""

    def paths(self) -> tuple[Path, ...]:
        """Return the files that there are."""
        return (self.certificate, self.key, *([self.client_ca] if self.client_ca else ()))


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Settings of one server process."""

    listen: str
    """`host:port` (port 0: a free one) or `unix:/path`."""
    data_dir: Path
    """Registry, vault, key, token and editions."""
    cache_dir: Path
    """Sandbox images, which any server of this user can share."""
    backend: str
    """`docker`, `bubblewrap`, or `auto`: Docker where a daemon answers, else bubblewrap, said in one line."""
    lane_count: int
    """Warm sandboxes; an even number, since each family is proved in two that differ."""
    docker_runtime: str = ""
    """A stronger runtime that the Docker daemon knows, such as `runsc`; empty for the daemon's default."""
    ray_address: str = ""
    """Ray cluster on whose nodes the sandboxes run, `HOST:PORT` or `auto`; empty for this machine alone."""
    tls: TlsFiles | None = None
    """None: no TLS, which only a loopback address or a UNIX socket may do without."""
    vault_key_command: str = ""
    """Program that prints the key of the vault; empty to take it from `LEAKSCALE_VAULT_KEY` or the file `vault.key`."""
    http_listen: str = ""
    """`host:port` (port 0: a free one) of the unary calls as JSON over HTTP, under the same TLS; empty for none."""
    metrics_port: int | None = None
    """Port of the page with metrics, 0 for a free one; None: no page."""
    metrics_listen: str = METRICS_LISTEN
    """IP address of that page. It takes no token and speaks no TLS: another one than loopback is for a network that
    nobody else reaches."""
    reflection: bool = False
    """Whether the server describes its services to who asks with a token."""
    replica_of: Path | None = None
    """Directory that `leakscale ledger export` wrote: serve it, read-only; None: a server of its own."""
    thread_count: int = 64
    """Calls that are handled at once."""
    waiting_count_max: int = 256
    """Calls that may wait for one; the next are refused at once."""
    call_limits: CallLimits = field(default_factory=CallLimits)
    """What one principal, and all together, may have in flight."""
    grace_s: float = 10.0
    """How long calls in flight may take after SIGTERM."""

    def check(self) -> None:
        """Refuse settings that cannot work.

        Raises:
            ConfigError: With the flag, the rule and the value.
        """
        if not 2 <= self.lane_count <= LANE_COUNT_MAX or self.lane_count % 2:
            raise ConfigError(f"--lanes {self.lane_count}: use an even number of 2 to {LANE_COUNT_MAX}")
        if self.backend not in ("auto", *BACKEND_NAMES):
            raise ConfigError(f"--backend {self.backend}: choose auto, {' or '.join(BACKEND_NAMES)}")
        if self.docker_runtime and self.backend != "docker":
            # `auto` could fall back to bubblewrap, which is not what somebody asked for who wants more.
            raise ConfigError(f"--docker-runtime {self.docker_runtime}: it needs --backend docker, not {self.backend}")
        if self.ray_address and self.backend == "auto":
            raise ConfigError(
                f"--ray-address {self.ray_address}: name the nodes' --backend, {' or '.join(BACKEND_NAMES)}"
            )
        self._check_address("--listen", self.listen)
        if self.http_listen:
            self._check_http()
        self._check_metrics()
        if self.tls is not None and self.listen.startswith("unix"):
            raise ConfigError(f"--listen {self.listen}: a UNIX socket takes no TLS; leave --tls-certificate out")

    def _check_http(self) -> None:
        if self.http_listen.startswith("unix:"):
            raise ConfigError(f"--http-listen {self.http_listen}: HTTP takes no UNIX socket; pass host:port")
        self._check_address("--http-listen", self.http_listen)
        if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
            raise ConfigError(f"--http-listen {self.http_listen}: HTTP needs pip install 'leakscale[http]'")

    def _check_metrics(self) -> None:
        if self.metrics_port is None and self.metrics_listen != METRICS_LISTEN:
            raise ConfigError(
                f"--metrics-listen {self.metrics_listen}: no page is served there; pass --metrics-port too"
            )
        try:
            ipaddress.ip_address(self.metrics_listen)
        except ValueError as error:
            # A name could come to mean an address that others reach.
            raise ConfigError(
                f"--metrics-listen {self.metrics_listen}: pass an IP address, such as {METRICS_LISTEN}"
            ) from error

    def _check_address(self, option: str, listen: str) -> None:
        _check_port(option, listen)
        if self.tls is None and not is_local(listen):
            raise ConfigError(
                f"{option} {listen}: tokens would travel in the clear there; pass --tls-certificate and --tls-key, or "
                f"listen on a loopback address (127.0.0.1:PORT){_OR_UNIX if option == '--listen' else ''}"
            )

    @property
    def features(self) -> tuple[str, ...]:
        """What a server of these settings does that another may not, sorted."""
        has = {
            "client-certificates": self.tls is not None and self.tls.client_ca is not None,
            "http": bool(self.http_listen),
            "metrics": self.metrics_port is not None,
            "reflection": self.reflection,
            "tls": self.tls is not None,
        }
        return tuple(sorted(name for name, is_there in has.items() if is_there))

    @staticmethod
    def default_cache_dir() -> Path:
        """Where sandbox images are kept: XDG's cache folder."""
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leakscale"

    @staticmethod
    def default_lane_count() -> int:
        """One lane a core, even, at least two and at most eight."""
        cores = len(os.sched_getaffinity(0))
        return max(2, min(8, cores - cores % 2))


def _check_port(option: str, listen: str) -> None:
    _, _, port = listen.rpartition(":")
    if not listen.startswith("unix:") and not (port.isdecimal() and int(port) <= 65535):
        raise ConfigError(f"{option} {listen}: the port must be a number of 0 to 65535, as in 127.0.0.1:7443")
