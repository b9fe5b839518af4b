"""What may follow what of deposited audits: deposited, then amended, fetched and sealed, then scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["AUDIT_FIELDS", "AuditStory"]

AUDIT_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "audit-deposited": ("audit", "registration"),
    "audit-amended": ("audit", "amendment"),
    "audit-forms-fetched": ("audit", "bank"),
    "audit-answers-sealed": ("audit", "variant", "bank", "model", "answers"),
    "audit-scores-released": ("audit", "variant", "scores"),
}
"""What an entry of a kind says at least, each a text."""


class AuditStory:
    """What has happened so far."""

    def __init__(self) -> None:
        self._deposited: set[str] = set()
        self._sealed: set[tuple[str, ...]] = set()
        self._released: set[tuple[str, str]] = set()

    @property
    def tellers(self) -> Mapping[str, Callable[[Mapping[str, Any]], None]]:
        """What to do with an entry of each kind; raises ValueError if it cannot follow what was before."""
        return {
            "audit-deposited": self._deposit,
            "audit-amended": self._require_deposited,
            "audit-forms-fetched": self._require_deposited,
            "audit-answers-sealed": self._seal,
            "audit-scores-released": self._release,
        }

    def _deposit(self, facts: Mapping[str, Any]) -> None:
        audit = facts["audit"]
        if audit in self._deposited:
            raise ValueError(f"audit {audit!r} is deposited twice")
        self._deposited.add(audit)

    def _require_deposited(self, facts: Mapping[str, Any]) -> None:
        audit, kind = facts["audit"], facts["kind"]
        if audit not in self._deposited:
            raise ValueError(f"audit {audit!r} has an entry {kind!r} before it is deposited")

    def _seal(self, facts: Mapping[str, Any]) -> None:
        self._require_deposited(facts)
        key = tuple(facts[name] for name in ("audit", "variant", "bank", "model"))
        whose = f"answers of model {facts['model']!r} to bank {facts['bank']!r} of audit {facts['audit']!r}"
        if key in self._sealed:
            raise ValueError(f"{whose} are sealed twice")
        if key[:2] in self._released:
            raise ValueError(f"{whose} are sealed after the scores of {facts['variant']!r} left")
        self._sealed.add(key)

    def _release(self, facts: Mapping[str, Any]) -> None:
        self._require_deposited(facts)
        key = facts["audit"], facts["variant"]
        if key in self._released:
            raise ValueError(f"scores of {key[1]!r} of audit {key[0]!r} left twice")
        if not any(sealed[:2] == key for sealed in self._sealed):
            raise ValueError(f"scores of {key[1]!r} of audit {key[0]!r} left before any answers were sealed")
        self._released.add(key)
