"""The invariants that a catalog's own bytes decide, without running a program and without statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from leakscale_server.catalog_audit.answers import check_answers, check_compiler
from leakscale_server.catalog_audit.balance import check_balance
from leakscale_server.catalog_audit.candidates import check_candidates, check_names
from leakscale_server.catalog_audit.findings import Finding
from leakscale_server.catalog_audit.material import Material
from leakscale_server.catalog_audit.prompts import check_prompts
from leakscale_server.catalog_audit.regeneration import check_regeneration
from leakscale_server.catalog_audit.secrecy import check_separation
from leakscale_server.catalog_audit.structures import check_structures

__all__ = ["CONSTRUCTION_INVARIANTS"]

CONSTRUCTION_INVARIANTS: Final[tuple[Callable[[Material], Finding], ...]] = (
    check_structures,
    check_candidates,
    check_names,
    check_balance,
    check_answers,
    check_compiler,
    check_prompts,
    check_regeneration,
    check_separation,
)
"""In the order in which they are said."""
