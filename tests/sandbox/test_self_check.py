"""The self-check: every limit bites here, and one that does not is named and stops a server."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from leakscale_sandbox.canonical import encode_value
from leakscale_server.sandbox_check import BOMBS, Bomb, check_sandbox, host_facts, require_limits
from leakscale_server.sandbox_pool import (
    BackendIdentity,
    BackendUnavailable,
    Execution,
    Job,
    JobResult,
    SandboxFault,
    SandboxPool,
    Verdict,
)

from .helpers import SERVER_ENVIRONMENT

SURVIVED = Execution(Verdict.RETURNED, encode_value(["went through"], byte_count_max=99), "")
A_HOLE = """
import dataclasses
from leakscale_server.sandbox_check import check
check.BOMBS = (dataclasses.replace(check.BOMBS[1], limit="holes", must_end=lambda execution: False),)
"""
"""As `sitecustomize`, read by every interpreter of a server: the sandbox belongs to a child of it."""


@dataclasses.dataclass
class Leaky:
    """A sandbox in which one bomb goes off."""

    pool: SandboxPool
    bomb: Bomb
    fault: str = ""

    @property
    def identity(self) -> BackendIdentity:
        return self.pool.identity

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        if job.programs != (self.bomb.program,):
            return self.pool.run(job, lane=lane)
        if self.fault:
            raise SandboxFault(self.fault)
        return ((SURVIVED,),)


def test_every_limit_bites_here(pool: SandboxPool) -> None:
    """A host on which one does not must not run strangers' programs."""
    findings = list(check_sandbox(pool))

    assert [one for one in findings if not one.holds] == []
    assert len(findings) == sum(bomb.is_promised_by(pool.identity.backend) for bomb in BOMBS) + 4
    require_limits(pool)


@pytest.mark.parametrize("bomb", [bomb for bomb in BOMBS if bomb.is_quick], ids=lambda bomb: bomb.limit)
def test_a_limit_that_does_not_bite_is_named(pool: SandboxPool, bomb: Bomb) -> None:
    """The message is all that its reader has."""
    with pytest.raises(BackendUnavailable, match=f"the limit '{bomb.limit}' does not bite") as caught:
        require_limits(Leaky(pool, bomb))

    assert "sandbox check" in str(caught.value)


@pytest.mark.parametrize("bomb", BOMBS[:1])
def test_a_bomb_that_takes_the_sandbox_along_is_a_finding(pool: SandboxPool, bomb: Bomb) -> None:
    """The table must still be printed to its end."""
    findings = list(check_sandbox(Leaky(pool, bomb, fault="the container ended")))

    assert [one.ended for one in findings if not one.holds] == ["failure of the sandbox: the container ended"]


def test_the_host_says_what_it_is(pool: SandboxPool) -> None:
    """What a reader of the table wants to know first: cgroups, seccomp, namespaces, runtime."""
    facts = host_facts(pool.identity)

    assert facts["cgroups"] in {"v1", "v2", "not mounted"}
    assert facts["seccomp"] == "filters that kill the process"
    assert {"kernel", "user namespaces", "image", "worker"} <= facts.keys()
    if pool.identity.backend == "docker":
        assert {"Docker", "limits of containers", "runtime"} <= facts.keys()
    else:
        assert facts["bubblewrap"][0].isdigit()


def test_a_server_refuses_to_serve_where_a_limit_does_not_bite(tmp_path: Path, state_dir: Path) -> None:
    """It would certify on a sandbox that holds nothing back."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(A_HOLE, encoding="utf-8")
    paths = [str(tmp_path / "site"), SERVER_ENVIRONMENT["PYTHONPATH"]]
    reader, writer = os.pipe()
    options = ["--backend", "bubblewrap", "--listen", "127.0.0.1:0", "--ready-fd", str(writer), "--stop-with-stdin"]
    folders = ["--data-dir", str(tmp_path / "data"), "--cache-dir", str(state_dir)]
    done = subprocess.run(
        [sys.executable, "-m", "leakscale_server", *options, *folders],
        capture_output=True,
        text=True,
        check=False,
        pass_fds=(writer,),
        stdin=subprocess.DEVNULL,
        env=SERVER_ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    os.close(writer)
    with os.fdopen(reader) as ready:
        told = ready.read()

    assert done.returncode == 3, done.stderr
    assert "the limit 'holes' does not bite under bubblewrap" in done.stderr
    assert done.stderr.count("\n") == 1
    assert told == ""
