"""What the numbers are tied to: digests of artifacts and streams, and every seed (Tables 9, 19, 20 and 21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from leakscale.analysis import heads
from leakscale.analysis.plan import Identities
from leakscale.tables import DIGEST, Row, Table, TableHead

__all__ = ["ArtifactRow", "SeedRow", "SourceRow", "StreamRow", "identity_tables"]

_UNKNOWN = "the study directory does not say; analyze the directory that the study was made in"


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """The identity of one part of a model."""

    model: str
    part: str
    sha256: str = field(metadata=DIGEST)


@dataclass(frozen=True, slots=True)
class StreamRow:
    """The identity of the results of a bank, and of the attempts that they follow from."""

    bank: str
    results_sha256: str = field(metadata=DIGEST)
    attempts_sha256: str = field(metadata=DIGEST)


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A seed that went in."""

    seed: str
    value: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The identity of something that the edition or the analysis was made from."""

    source: str
    sha256: str = field(metadata=DIGEST)


def identity_tables(
    identities: Identities,
) -> tuple[Table[ArtifactRow], Table[StreamRow], Table[SeedRow], Table[SourceRow]]:
    """List digests and seeds; a list that is empty is withheld with the reason.

    Source: LeakScale D.5 (Table 9), E.7 (19), F.2 (20), F.3 (21).
    """
    artifacts = [ArtifactRow(model, part, digest) for (model, part), digest in identities.artifacts.items()]
    streams = [StreamRow(bank, *digests) for bank, digests in identities.results.items()]
    seeds = [SeedRow(name, str(value)) for name, value in identities.seeds.items()]
    sources = [SourceRow(name, digest) for name, digest in identities.sources.items()]
    return (
        _table(heads.ARTIFACTS, artifacts),
        _table(heads.STREAMS, streams),
        _table(heads.SEEDS, seeds),
        _table(heads.SOURCES, sources),
    )


def _table(head: TableHead, rows: Sequence[Row]) -> Table[Row]:
    return head.filled(rows) if rows else head.withheld(_UNKNOWN)
