"""What a server says of itself and its ledger."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "LedgerEntry",
    "LedgerHead",
    "ServerInfo",
]


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """Signed state of the server's append-only ledger."""

    entry_count: int
    root: bytes
    """Merkle root over all entries, 32 bytes."""
    signature: bytes
    """Ed25519 over `leakscale.heads.head_bytes`."""
    public_key: bytes


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry of the server's ledger."""

    position: int
    """0-based."""
    leaf: bytes
    """SHA-256 over 0x00 and the entry, 32 bytes."""
    content: bytes
    """The entry, canonical JSON; empty where it is another project's."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server is."""

    version: str
    sandbox_backend: str
    """`docker` or `bubblewrap`."""
    sandbox_image: str
    lane_count: int
    public_key: bytes
    """Raw Ed25519 key that signs certificates, disclosures and ledger heads."""
    message_bytes_max: int
    cases_per_message_max: int
    features: tuple[str, ...]
    """What it does that another may not, such as `tls`, `metrics` and `reflection`; sorted."""
    calls_per_s: float
    """Calls that one principal may begin in a second, on average; 0: any number."""
    calls_at_once_max: int
    """Calls that one principal may have in flight, streams among them."""
    streams_at_once_max: int
    principal: str
    """Whom the token of the call stands for."""
    project: str
    """Whose experiments, grants and drafts it reaches."""
    role: str
    """`author`, `trainer`, `auditor` or `admin`."""
    scopes: tuple[str, ...]
    """What it may do; sorted."""
