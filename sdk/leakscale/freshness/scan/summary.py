"""What a scan says: numbers, first places, and whose corpus it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from leakscale.freshness.scan.needles import Kind, Needles
from leakscale.freshness.scan.scanning import Scanned
from leakscale.freshness.scan.tally import Count, Met
from leakscale.models import GrantTrace

__all__ = ["ScanReport"]

_PLACES_SHOWN: Final = 10
_PLACES_KEPT: Final = 1000
_EVIDENCE: Final = (Kind.KEY, Kind.FAMILY_ID, Kind.HANDLE, Kind.GRAM)


@dataclass(frozen=True, slots=True)
class ScanReport:
    """The result of one scan."""

    edition: str
    """`editions/{edition}`."""
    needles: Needles
    scanned: Scanned
    traces: tuple[GrantTrace, ...] = ()
    """Grants whose markers were met, in the server's word."""
    untraced: str = ""
    """Why the server was not asked, or did not say; empty where it did."""

    @property
    def is_met(self) -> bool:
        """Tell whether the corpus holds the edition, or a grant's marker."""
        canaries = any(marker.kind is Kind.CANARY for marker in self.scanned.tally.markers.values())
        return bool(self.scanned.tally.evidence.hit_count or self.traces or canaries)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; of needles and markers at most the first 1,000 each."""
        tally = self.scanned.tally
        return {
            "edition": self.edition,
            "is_met": self.is_met,
            "files": self.scanned.file_count,
            "bytes": self.scanned.byte_count,
            "unread": [{"file": one.file, "reason": one.reason} for one in self.scanned.unread],
            "evidence": _numbers(tally.evidence),
            "kinds": {
                kind.value: {
                    "met": sum(met.kind is kind for met in tally.met.values()),
                    "of": self.needles.count(kind),
                    **_numbers(tally.by_kind.get(kind, Count())),
                }
                for kind in _EVIDENCE
            },
            "counted": {kind.value: _numbers(count) for kind, count in tally.counted.items()},
            "keys_beside_an_answer": _numbers(tally.beside),
            "families_with_one_answer": {family: sorted(values) for family, values in sorted(tally.pairs.items())},
            "met": [_met(one) for one in list(tally.met.values())[:_PLACES_KEPT]],
            "markers": [_met(one) for one in list(tally.markers.values())[:_PLACES_KEPT]],
            "markers_left_out": tally.markers_left_out,
            "grants": [{"grant": one.grant, "markers": list(one.markers)} for one in self.traces],
            "untraced": self.untraced,
        }

    def to_text(self) -> str:
        """Return it for people, at most 80 columns where names allow."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        scanned, tally = self.scanned, self.scanned.tally
        yield f"{self.edition} in {scanned.file_count:,} files, {scanned.byte_count / 1e6:,.1f} MB"
        yield from (f"NOT READ TO ITS END  {one.file}: {one.reason}" for one in scanned.unread)
        yield f"evidence in {tally.evidence.record_count:,} records" if tally.evidence.hit_count else "no evidence"
        for kind in _EVIDENCE:
            if count := tally.by_kind.get(kind):
                met = sum(one.kind is kind for one in tally.met.values())
                share = f"{met:,} of {self.needles.count(kind):,}"
                yield f"  {kind.value:<10}{share:>18}  {count.hit_count:>9,} hits in {count.record_count:,} records"
        if tally.beside.hit_count:
            yield f"  an answer beside its key in {tally.beside.record_count:,} records"
            yield f"  {len(tally.pairs):,} families whose key stands beside one answer alone"
        for kind, count in tally.counted.items():
            yield f"counted, no evidence: {kind.value} {count.hit_count:,} times in {count.record_count:,} records"
        shown = sorted(tally.met.values(), key=lambda one: _EVIDENCE.index(one.kind))[:_PLACES_SHOWN]
        if shown:
            yield f"where each was met first ({len(shown)} of {len(tally.met):,}):"
        yield from (f"  {one.kind.value:<10}{one.text}  {one.first}" for one in shown)
        yield from self._origin()

    def _origin(self) -> Iterator[str]:
        tally = self.scanned.tally
        yield from (f"leaked by {one.grant}: {', '.join(one.markers)}" for one in self.traces)
        named = {marker.casefold() for one in self.traces for marker in one.markers}
        rest = [one for one in tally.markers.values() if one.text.casefold() not in named]
        if rest:
            count = len(rest) + tally.markers_left_out
            whose = "" if self.untraced else " that no grant of this edition has"
            yield f"{count:,} words with a marker's form{whose}, e.g."
            yield from (f"  {one.kind.value:<10}{one.text}  {one.first}" for one in rest[:3])
        if self.untraced and tally.markers:
            yield f"whose they are is not known: {self.untraced}"
        if self.is_met:
            yield "contact only: whether it moved a model is what `leakscale freshness drift` measures"


def _numbers(count: Count) -> dict[str, int]:
    return {"hits": count.hit_count, "records": count.record_count}


def _met(one: Met) -> dict[str, Any]:
    return {
        "kind": one.kind.value,
        "text": one.text,
        "families": list(one.families),
        **_numbers(one.count),
        "first": {"file": one.first.file, "record": one.first.record, "offset": one.first.offset},
    }
