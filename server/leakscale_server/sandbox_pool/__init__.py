"""Drive sandboxes: start hardened workers, lease them, check every byte they say.

One request goes `SandboxPool.run` → a leased lane → `session` (frames) → a backend's channel → the worker.
"""

from leakscale_server.sandbox_pool.backends import choose_backend, open_backend
from leakscale_server.sandbox_pool.contract import (
    Backend,
    BackendIdentity,
    BackendUnavailable,
    Execution,
    Job,
    JobResult,
    Limits,
    ProgramDomain,
    SandboxFault,
    Verdict,
    WorkerFacts,
)
from leakscale_server.sandbox_pool.pool import CHANCE_LANES, SandboxPool

__all__ = [
    "CHANCE_LANES",
    "Backend",
    "BackendIdentity",
    "BackendUnavailable",
    "Execution",
    "Job",
    "JobResult",
    "Limits",
    "ProgramDomain",
    "SandboxFault",
    "SandboxPool",
    "Verdict",
    "WorkerFacts",
    "choose_backend",
    "open_backend",
]
