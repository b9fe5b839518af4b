"""Proof, on the bytes that are trained on, that nothing of a no-key family is among them.

Which families of an edition are exposed is what the grant's records say; every other family is a control. The server
asserts the same before a corpus leaves it; this holds for what reaches the model, background supervision included.

It does not find a control family that is paraphrased without its key or identifier.

Source: LeakScale D.1 (no record from a C0 family).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from leakscale.adaptation.corpus import EXPOSED_SOURCES
from leakscale.adaptation.rendering import EncodedRecord, decode
from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.models import Family, TrainingRecord

__all__ = ["ControlCheck", "check_controls", "exposed_family_ids"]


@dataclass(frozen=True, slots=True)
class ControlCheck:
    """What was looked at; that nothing was found is why it exists."""

    control_family_count: int
    exposed_family_count: int
    record_count: int
    searched_bytes: int
    """UTF-8 bytes of every prompt and answer, as written and as the tokenizer gives its token ids back."""

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {**asdict(self), "occurrence_count": 0}


def exposed_family_ids(records: Sequence[TrainingRecord], families: Sequence[Family]) -> set[str]:
    """Return which families of an edition a grant's records expose, by the ids of the records.

    Raises:
        InvalidRequestError: If an exposed record belongs to no family of the edition, if an exposed family lacks one of
            its two records, or if a shape's families are not half exposed.
    """
    known = {family.family_id: family for family in families}
    sources: dict[str, list[str]] = {}
    for record in records:
        if record.source in EXPOSED_SOURCES:
            family_id = record.record_id.rpartition("/")[0]
            if family_id not in known:
                raise InvalidRequestError(
                    f"training record '{record.record_id}' exposes no family of the edition; redeem the grant again"
                )
            sources.setdefault(family_id, []).append(record.source)
    for family_id, found in sources.items():
        if sorted(found) != sorted(EXPOSED_SOURCES):
            raise InvalidRequestError(
                f"family '{family_id}' is exposed by {', '.join(sorted(found))} records and needs one each of "
                f"{', '.join(sorted(EXPOSED_SOURCES))}; redeem the grant again"
            )
    total = Counter(family.shape_id for family in families)
    exposed = Counter(known[family_id].shape_id for family_id in sources)
    uneven = [shape for shape in sorted(total) if 2 * exposed[shape] != total[shape]]
    if uneven:
        raise InvalidRequestError(
            f"shape '{uneven[0]}' has {exposed[uneven[0]]} of {total[uneven[0]]} families exposed, which must be half; "
            "redeem the grant again"
        )
    return set(sources)


def check_controls(
    tokenizer: PreTrainedTokenizerBase,
    records: Sequence[TrainingRecord],
    encoded: Sequence[EncodedRecord],
    families: Sequence[Family],
) -> ControlCheck:
    """See that no key and no identifier of a control family occurs in what is trained on, in either case.

    Args:
        tokenizer: Of the model.
        records: Every record of the corpus.
        encoded: The same, as the model reads them, in any order.
        families: Every family of the edition, of both conditions.

    Raises:
        IntegrityError: If one occurs. The message names the record, never the key.
        InvalidRequestError: If the exposed records are not those of a grant for these families.
    """
    exposed = exposed_family_ids(records, families)
    controls = [family for family in families if family.family_id not in exposed]
    words = sorted({word for family in controls for word in (family.key, family.family_id)})
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE) if words else re.compile(r"(?!)")
    searched = 0
    texts = [(record.record_id, _text(record)) for record in records]
    texts += [(record.record_id, decode(tokenizer, record.ids)) for record in encoded]
    for record_id, text in texts:
        searched += len(text.encode())
        if pattern.search(text):
            raise IntegrityError(
                f"training record '{record_id}' holds the key or identifier of a no-key family; nothing was trained, "
                "leave the record out"
            )
    return ControlCheck(len(controls), len(exposed), len(records), searched)


def _text(record: TrainingRecord) -> str:
    return "\n".join([record.record_id, *(message.content for message in record.prompt), record.completion])
