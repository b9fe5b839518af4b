"""What an entry of each kind has to say beside its subject, so that who reads it later finds what they look for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from leakscale.audit.registration.entries import EntryKind, LedgerEntry
from leakscale.audit.registration.models import Amendment
from leakscale.digests import json_digest
from leakscale.reading import fault_of

__all__ = ["broken_facts", "clock_notes"]


def broken_facts(entry: LedgerEntry) -> str:
    """Return in words what an entry lacks or says wrongly; nothing where it is whole."""
    try:
        _require_moment(entry.at)
        _require_files(entry.facts.get("files", {}))
        if entry.kind is EntryKind.AMENDMENT:
            _require_amendment(entry)
        elif entry.kind is EntryKind.CONTROL:
            _require(entry.subject == f"controls/{entry.facts['control']}/control.json", "it names another control")
        elif entry.facts.get("made_by") == "import":
            _require_import(entry.facts)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return f"'{entry.subject}' ({entry.kind}) does not say what such an entry says: {fault_of(error)}"
    return ""


def clock_notes(entries: Sequence[LedgerEntry]) -> list[str]:
    """Say which entries are dated before one that they follow: a moment is the word of a clock that anybody may set."""
    notes, latest = [], entries[0]
    for entry in entries[1:]:
        if datetime.fromisoformat(entry.at) < datetime.fromisoformat(latest.at):
            notes.append(f"entry {entry.number} is dated before entry {latest.number}; a clock was set back")
        else:
            latest = entry
    return notes


def _require_moment(at: Any) -> None:
    moment = datetime.fromisoformat(at)
    _require(moment.utcoffset() == timedelta(0), f"its moment {at!r} is not in UTC")


def _require_files(files: Any) -> None:
    for name, digest in files.items():
        _require(PurePosixPath(name).name == name and isinstance(digest, str), f"it binds {name!r}, which is no file")


def _require_amendment(entry: LedgerEntry) -> None:
    amendment = Amendment.from_json(entry.told)
    _require(isinstance(amendment.reason, str) and isinstance(amendment.changes, Mapping), "its fields are others")
    _require(amendment.variant == entry.subject, f"it is {amendment.variant!r}")
    _require(json_digest(amendment.to_json()).hex() == entry.digest, "its digest is of another one")
    _require_moment(amendment.amended_at)


def _require_import(facts: Mapping[str, Any]) -> None:
    texts = [facts["logged_model"], facts["metric"], *facts["notes"]]
    texts += [text for source in facts["sources"] for text in (source["name"], source["sha256"])]
    _require(all(isinstance(text, str) for text in texts), "it holds something else than text")


def _require(holds: bool, words: str) -> None:
    if not holds:
        raise ValueError(words)
