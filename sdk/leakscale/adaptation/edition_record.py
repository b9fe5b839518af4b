"""Which edition an adapter was exposed to: kept in its record, and asked before it answers a bank.

An adapter of another edition answers as willingly, and would read as an exposure without effect.

Nothing is asked of an adapter whose record names no families: it was trained without the edition at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from leakscale.adaptation.completion import read_completion
from leakscale.errors import ConflictError
from leakscale.models import Domain
from leakscale.training_records import families_by_domain

__all__ = ["RECORD", "require_exposed_to"]

RECORD = "families"
"""Key in the corpus part of a completion record."""


def require_exposed_to(adapter: Path, families: Iterable[tuple[Domain, str]]) -> None:
    """Refuse an adapter that was trained on another edition than the one that a bank asks.

    Args:
        adapter: Folder of a completed adapter.
        families: Domain and id of every family of the bank.

    Raises:
        ConflictError: If its record names other families.
        NotFoundError, IntegrityError: As `read_completion`.
    """
    known = read_completion(adapter).corpus.get(RECORD)
    if not known:
        return
    for domain, digest in families_by_domain(families).items():
        if known.get(domain) != digest:
            raise ConflictError(
                f"adapter '{adapter}' was exposed to {domain} families {str(known.get(domain, 'none'))[:12]}, and the "
                f"bank asks {digest[:12]}, another edition's; give the adapter that was trained on this edition"
            )
