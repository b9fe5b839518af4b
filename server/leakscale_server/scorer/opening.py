"""Put the scorer together: sandboxes, vault, signing key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from leakscale_server.sandbox_check import require_limits
from leakscale_server.sandbox_pool import SandboxPool, choose_backend
from leakscale_server.scorer.contract import ScorerSettings
from leakscale_server.scorer.scorer import Scorer
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault
from leakscale_server.store.vault_key import read_vault_key

__all__ = ["open_scorer"]


@contextmanager
def open_scorer(settings: ScorerSettings) -> Iterator[Scorer]:
    """Open the vault and warm the sandboxes; close both at the end, whatever still runs.

    Raises:
        VaultError: If there is no key to the vault, or it does not open it.
        BackendUnavailable: If this host cannot run the sandbox, or a limit of it does not bite.
        SandboxFault: If a sandbox does not start.
    """
    with ExitStack() as stack:
        # First what is quick and may be wrong: sandboxes take a second.
        key = read_vault_key(
            settings.data_dir, command=settings.vault_key_command, descriptor=settings.vault_key_descriptor
        )
        vault = Vault(settings.data_dir, key)
        stack.callback(vault.close)
        signer = Signer.load_or_create(settings.data_dir / "signing.key")
        backend, notice = choose_backend(
            settings.backend,
            state_dir=settings.cache_dir,
            runtime=settings.docker_runtime,
            ray_address=settings.ray_address,
        )
        stack.callback(backend.close)
        pool = stack.enter_context(SandboxPool(backend, lane_count=settings.lane_count))
        if not settings.is_host_known:
            require_limits(pool)
        yield Scorer(
            vault=vault, signer=signer, pool=pool, notice=f"{notice}, and certificates say so" if notice else ""
        )
