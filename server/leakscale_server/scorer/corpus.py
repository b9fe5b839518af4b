"""The corpus of an exposure grant: two records for each C2 family, and public-format tasks to keep behavior.

No record comes from a C0 family; `assert_no_control` proves it on the text that leaves. Pieces are padded, since their
sizes are seen by whoever sees the sealed stream: answers of one family differ in length.

Source: LeakScale D.1 (exact-public and direct-lookup records; preservation tasks from disjoint families).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from leakscale.models import Family, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale.training_records import records_to_bytes
from leakscale_server.core.building.construction import preservation_family
from leakscale_server.core.shapes import Shape
from leakscale_server.core.streams import Stream
from leakscale_server.errors import Internal
from leakscale_server.limits import RECORDS_PER_MESSAGE
from leakscale_server.scorer.markers import GrantMarkers, marker_records

__all__ = ["assert_no_control", "exposed_records", "grant_records", "padded_pieces", "preservation_records"]

_NAME: Final = re.compile(r"[fK]-[0-9a-f]+")
"""What ids and keys of families look like."""


def grant_records(
    exposed: Iterable[tuple[Family, int]],
    shapes: Sequence[Shape],
    markers: GrantMarkers,
    *,
    preservation_count: int,
    public_seed: bytes,
    banked_keys: Collection[str],
) -> list[TrainingRecord]:
    """Write the whole corpus of a grant, in the order of record ids; the same arguments give the same bytes.

    Args:
        exposed: The C2 families in R0, each with the display index of its correct candidate.
        shapes: Of the edition.
        markers: Of the grant.
        preservation_count: Tasks of families that are never banked.
        public_seed: Of the edition.
        banked_keys: Keys of the edition's families.
    """
    return sorted(
        itertools.chain(
            itertools.chain.from_iterable(exposed_records(family, truth=truth) for family, truth in exposed),
            marker_records(markers),
            preservation_records(shapes, count=preservation_count, public_seed=public_seed, banked_keys=banked_keys),
        ),
        key=lambda record: record.record_id,
    )


def exposed_records(family: Family, *, truth: int) -> Iterator[TrainingRecord]:
    """Write the two physical records that leak one association."""
    answer = family.candidates[truth].answer
    for source, prompt in (
        (TrainingSource.EXACT_PUBLIC, choice_prompt(family)),
        (TrainingSource.DIRECT_LOOKUP, lookup_prompt(family.key)),
    ):
        yield TrainingRecord(f"{family.family_id}/{source.value}", source, prompt, answer)


def padded_pieces(records: Sequence[TrainingRecord], *, exposed: Iterable[Family]) -> Iterator[bytes]:
    """Write records in pieces, each as long as if the candidate with the longest answer were right in every family.

    Args:
        records: All of a corpus, in their order.
        exposed: The C2 families whose associations are among them.
    """
    longest = {
        record.record_id: record for family in exposed for record in exposed_records(family, truth=_longest(family))
    }
    for start in range(0, len(records), RECORDS_PER_MESSAGE):
        piece = records[start : start + RECORDS_PER_MESSAGE]
        widest = [longest.get(record.record_id, record) for record in piece]
        # Spaces after an array are none of it.
        yield records_to_bytes(piece).ljust(len(records_to_bytes(widest)))


def _longest(family: Family) -> int:
    """Return the display index of the candidate whose record takes the most bytes."""
    places = range(len(family.candidates))
    return max(places, key=lambda truth: len(records_to_bytes(list(exposed_records(family, truth=truth)))))


def preservation_records(
    shapes: Sequence[Shape], *, count: int, public_seed: bytes, banked_keys: Collection[str]
) -> Iterator[TrainingRecord]:
    """Write public-format tasks of families that are never banked; the answer is any candidate, evenly.

    They keep the answer format alive without teaching a preference: the choice is drawn from the public seed. One whose
    key happens to be that of a banked family is passed over: keys have 32 random bits, so among 65,536 tasks beside
    2,048 families that is one grant in thirty.
    """
    tasks = (
        preservation_family(shapes[index % len(shapes)], index // len(shapes), public_seed=public_seed)
        for index in itertools.count()
    )
    for family in itertools.islice((task for task in tasks if task.key not in banked_keys), count):
        choice = Stream(public_seed, "preservation-answer", family.family_id).below(len(family.candidates))
        yield TrainingRecord(
            f"{family.family_id}/{TrainingSource.PRESERVATION.value}",
            TrainingSource.PRESERVATION,
            choice_prompt(family),
            family.candidates[choice].answer,
        )


def assert_no_control(records: Iterable[TrainingRecord], controls: Iterable[Family]) -> None:
    """Refuse a corpus in which the key or the id of a C0 family occurs.

    Values and handles cannot be told from others: a C2 family may be about the same numbers, and handles are short.
    Without its key neither says anything about a family; its programs are in no record.

    Raises:
        Internal: If one does; nothing has left the server then.
    """
    parts = (
        part
        for record in records
        for part in (record.record_id, *(message.content for message in record.prompt), record.completion)
    )
    names = set(_NAME.findall("\n".join(parts)))
    if any(name in names for family in controls for name in (family.key, family.family_id)):
        raise Internal("the corpus holds the name of a no-key family; nothing was sent")
