"""In which order an audit's ledger may enter things. Every entry is held to it, when it is written and when it is read.

What this does not guard: whoever holds the key may begin another ledger. A head that was published shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from leakscale.audit.directory import REGISTERED
from leakscale.audit.registration.entries import EntryKind, LedgerEntry
from leakscale.audit.registration.facts import broken_facts

__all__ = ["analysis_before", "breach_of"]

_OPENINGS: Final = frozenset({EntryKind.DRAW, EntryKind.FETCH})
"""What a ledger begins with, and never has again."""
_SCORE_PARTS: Final = 4
"""`scores/<variant>/<bank>/<file>`."""
_LOCKS: Final = frozenset({EntryKind.LOCK, EntryKind.FETCH})
"""What fixes the rules, once; nothing else but an opening may stand before it. What was fetched was locked."""


def breach_of(entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, str] | None:
    """Return the first entry that breaks the order or is not whole, and the rule in words; None where all are good.

    One opening, first. One lock. Scores, analyses, controls and amendments after it. Each subject once: whoever may
    enter it twice may keep the better one. Amendments are numbered from 1, and what is of one comes after it; so do the
    numbers of a control. Scores of the models themselves come before the analysis that they are part of.
    """
    before: dict[str, LedgerEntry] = {}
    for entry in entries:
        if rule := _broken_rule(entry, before) or broken_facts(entry):
            return entry, rule
        before[entry.subject] = entry
    return None


def _broken_rule(entry: LedgerEntry, before: Mapping[str, LedgerEntry]) -> str:
    """Return the rule that an entry breaks after those before it, or nothing."""
    kinds = [each.kind for each in before.values()]
    return (
        _broken_beginning(entry, kinds) or _broken_repetition(entry, before, kinds) or _broken_belonging(entry, before)
    )


def _broken_beginning(entry: LedgerEntry, kinds: Sequence[EntryKind]) -> str:
    if (entry.kind in _OPENINGS) is bool(kinds):
        return "an audit is drawn or fetched once, first"
    if entry.kind in _LOCKS and not _LOCKS.isdisjoint(kinds):
        return "an audit is locked once"
    if entry.kind not in _OPENINGS | _LOCKS and _LOCKS.isdisjoint(kinds):
        return f"'{entry.subject}' ({entry.kind}) stands before the lock"
    return ""


def _broken_repetition(entry: LedgerEntry, before: Mapping[str, LedgerEntry], kinds: Sequence[EntryKind]) -> str:
    if entry.subject in before:
        return f"'{entry.subject}' is entered a second time, after entry {before[entry.subject].number}"
    expected = f"amendment-{kinds.count(EntryKind.AMENDMENT) + 1}"
    if entry.kind is EntryKind.AMENDMENT and entry.subject != expected:
        return f"'{entry.subject}' stands where '{expected}' belongs"
    if (analysis := before.get(analysis_before(entry.subject))) is not None:
        return f"'{entry.subject}' is entered after the analysis of its variant, entry {analysis.number}"
    return ""


def analysis_before(subject: str) -> str:
    """Return the analysis that may not stand before some scores: of a model without an adapter, in their variant.

    A panel is analyzed whole and once. The states of a positive control come later, and are not in it. Of any other
    subject it is the empty string.
    """
    parts = PurePosixPath(subject).parts
    is_of_base = parts[:1] == ("scores",) and len(parts) == _SCORE_PARTS and parts[-1].split(".")[1:2] == ["base"]
    return f"analysis/{parts[1]}/analysis.json" if is_of_base else ""


def _broken_belonging(entry: LedgerEntry, before: Mapping[str, LedgerEntry]) -> str:
    """Return the rule where scores or numbers are of an amendment or a control that nobody entered before them."""
    top, owner = (*PurePosixPath(entry.subject).parts, "", "")[:2]
    if entry.kind is EntryKind.ANALYSIS and top == "controls" and f"controls/{owner}/control.json" not in before:
        return f"'{entry.subject}' is of a control that was not registered before"
    if top in {"scores", "analysis"} and owner != REGISTERED and owner not in before:
        return f"'{entry.subject}' is of an amendment that was not logged before"
    return ""
