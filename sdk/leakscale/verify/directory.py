"""What a server says of itself, as files: fetched by `leakscale ledger export`, checked by `leakscale verify`.

| path | what |
|---|---|
| `head.json` | the ledger's signed head |
| `ledger.jsonl` | every leaf in order, and the entry where the caller may read it |
| `editions/ID.sqlite` | a frozen edition |
| `editions/ID.json` | what the server states of it, a DSSE envelope |
| `editions/ID.openings.jsonl` | of a retired one: the private part of each family |
| `editions/ID.retirement.json` | what the server states of these, a DSSE envelope |
| `disclosures/ID.json` | the released numbers of an experiment, a DSSE envelope |

Each file has one form only, canonical JSON, so that a byte changed anywhere shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError
from leakscale.models import LedgerEntry, LedgerHead
from leakscale.reading import fault_of, parse_object

__all__ = ["ServerDirectory", "facts_of", "head_to_json", "line_of_entry", "read_entries", "read_head", "read_lines"]

_ID: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class ServerDirectory:
    """Where the files of one export lie."""

    root: Path

    @property
    def head(self) -> Path:
        """The signed head."""
        return self.root / "head.json"

    @property
    def ledger(self) -> Path:
        """The entries."""
        return self.root / "ledger.jsonl"

    def edition(self, edition_id: str) -> Path:
        """The file of a frozen edition."""
        return self._named("editions", edition_id, ".sqlite")

    def edition_statement(self, edition_id: str) -> Path:
        """What the server states of it."""
        return self._named("editions", edition_id, ".json")

    def openings(self, edition_id: str) -> Path:
        """The private part of a retired edition."""
        return self._named("editions", edition_id, ".openings.jsonl")

    def retirement(self, edition_id: str) -> Path:
        """What the server states of its retirement."""
        return self._named("editions", edition_id, ".retirement.json")

    def disclosure(self, experiment_id: str) -> Path:
        """The numbers of an experiment."""
        return self._named("disclosures", experiment_id, ".json")

    def relative(self, path: Path) -> str:
        """Name a file as messages do."""
        return path.relative_to(self.root).as_posix()

    def _named(self, folder: str, name: str, ending: str) -> Path:
        if not _ID.fullmatch(name):
            raise ValueError(f"{name[:80]!r} is no id, and a server has none such")
        return self.root / folder / f"{name}{ending}"


def head_to_json(head: LedgerHead) -> bytes:
    """Write a head as its file holds it."""
    return canonical_json(
        {
            "entry_count": head.entry_count,
            "public_key": head.public_key.hex(),
            "root": head.root.hex(),
            "signature": head.signature.hex(),
        }
    )


def read_head(path: Path) -> LedgerHead:
    """Read the head. Its signature is not checked.

    Raises:
        ValueError: If the file is not what `head_to_json` writes.
    """
    content = path.read_bytes()
    fields = parse_object(content)
    try:
        raw = {name: bytes.fromhex(fields[name]) for name in ("root", "signature", "public_key")}
        head = LedgerHead(entry_count=fields["entry_count"], **raw)
        if head_to_json(head) != content:
            raise ValueError("its bytes are not the ones that were written")
    except (KeyError, TypeError) as error:
        raise ValueError(f"it is no head of a ledger: {fault_of(error)}") from error
    return head


def line_of_entry(entry: LedgerEntry) -> bytes:
    """Write an entry as one line of its file, without the end of line."""
    fields = {"leaf": entry.leaf.hex()}
    if entry.content:
        fields["entry"] = entry.content.decode()
    return canonical_json(fields)


def read_entries(path: Path) -> Iterator[LedgerEntry]:
    """Read the entries in order. Neither leaf nor position is checked.

    Raises:
        ValueError: At the first line that is not what `line_of_entry` writes, with its number.
    """
    for position, line in enumerate(read_lines(path)):
        try:
            fields = parse_object(line)
            entry = LedgerEntry(position, bytes.fromhex(fields["leaf"]), fields.get("entry", "").encode())
            if line_of_entry(entry) != line:
                raise ValueError("its bytes are not the ones that were written")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"line {position + 1}: {fault_of(error)}") from error
        yield entry


def facts_of(entry: LedgerEntry) -> dict[str, Any]:
    """Return what an entry says; nothing of one that the caller may not read.

    Raises:
        IntegrityError: If it is no JSON object. That it is the one of its leaf is not checked.
    """
    try:
        return parse_object(entry.content) if entry.content else {}
    except ValueError as error:
        raise IntegrityError(f"entry {entry.position} of the ledger is damaged: {error}; export it again") from error


def read_lines(path: Path) -> Iterable[bytes]:
    """Return the lines of a file, each of which ends.

    Raises:
        ValueError: If the last one does not.
    """
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        raise ValueError("its last line has no end; the file was cut")
    return content.split(b"\n")[:-1]
