"""What was met, added up while the corpus passes: one entry a needle, however often it comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar

from leakscale.freshness.scan.needles import Kind

__all__ = ["MARKERS_MAX", "MARKER_KINDS", "Count", "Encounter", "Met", "Place", "Tally"]

MARKER_KINDS: Final = frozenset({Kind.CANARY, Kind.OTHER_KEY})
"""What has the form of a grant's marker: evidence once the server says whose it is."""
MARKERS_MAX: Final = 10_000
"""Distinct words with a marker's form that are kept; a corpus of nothing else must not fill the memory."""

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands."""

    file: str
    record: int
    """Line or row, from 1."""
    offset: int | None
    """Byte of the uncompressed file: of the first character in a text, of the line in JSON lines; None of a row."""

    def __str__(self) -> str:
        return f"{self.file}:{self.record}"


@dataclass(frozen=True, slots=True)
class Encounter:
    """One needle at one place."""

    kind: Kind
    text: str
    families: tuple[str, ...]
    """Ids of the families that have it."""
    place: Place
    is_evidence: bool
    values: tuple[str, ...] = ()
    """Of a key: which answers of its family stand beside it."""

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "kind": self.kind.value,
            "text": self.text,
            "families": list(self.families),
            "file": self.place.file,
            "record": self.place.record,
            "offset": self.place.offset,
            "is_evidence": self.is_evidence,
            "values": list(self.values),
        }


@dataclass(slots=True)
class Count:
    """How often, in how many records."""

    hit_count: int = 0
    record_count: int = 0
    _last: Place | None = None

    def add(self, place: Place) -> None:
        """Count a place; those of one record come one after the other."""
        self.hit_count += 1
        last, self._last = self._last, place
        self.record_count += last is None or (last.file, last.record) != (place.file, place.record)


@dataclass(slots=True)
class Met:
    """One needle over the whole corpus."""

    kind: Kind
    text: str
    families: tuple[str, ...]
    first: Place
    count: Count = field(default_factory=Count)


@dataclass(slots=True)
class Tally:
    """Everything that was met so far."""

    evidence: Count = field(default_factory=Count)
    by_kind: dict[Kind, Count] = field(default_factory=dict)
    """Evidence by kind."""
    met: dict[tuple[Kind, str], Met] = field(default_factory=dict)
    """Evidence by needle."""
    markers: dict[str, Met] = field(default_factory=dict)
    """Words with the form of a grant's marker."""
    markers_left_out: int = 0
    """Encounters with further ones."""
    counted: dict[Kind, Count] = field(default_factory=dict)
    """Needles that were no evidence where they stood."""
    beside: Count = field(default_factory=Count)
    """Keys beside which an answer of their family stands."""
    pairs: dict[str, set[str]] = field(default_factory=dict)
    """By family id: answers that stood alone beside its key, as where a text gives one away; true or not."""

    def add(self, one: Encounter) -> None:
        """Count one encounter."""
        if one.kind in MARKER_KINDS:
            self._add_marker(one)
        elif not one.is_evidence:
            self.counted.setdefault(one.kind, Count()).add(one.place)
        else:
            self.evidence.add(one.place)
            self.by_kind.setdefault(one.kind, Count()).add(one.place)
            _counted(self.met, (one.kind, one.text), one)
            if one.values:
                self.beside.add(one.place)
            if len(one.values) == 1:
                for family in one.families:
                    self.pairs.setdefault(family, set()).update(one.values)

    def _add_marker(self, one: Encounter) -> None:
        if one.text in self.markers or len(self.markers) < MARKERS_MAX:
            _counted(self.markers, one.text, one)
        else:
            self.markers_left_out += 1


def _counted(entries: dict[_Key, Met], key: _Key, one: Encounter) -> None:
    if key not in entries:
        entries[key] = Met(one.kind, one.text, one.families, one.place)
    entries[key].count.add(one.place)
