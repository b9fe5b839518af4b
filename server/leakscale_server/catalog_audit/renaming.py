"""Whether R2 returns what R0 returns, but for names.

Certification compares which candidates agree in each ring, and so cannot see a program that returns another field under
other names, for all candidates alike. Here, the names of R0 in every output are replaced by those of R2; column names
and keys of records, never values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from leakscale.models import Ring
from leakscale_sandbox.canonical_reader import Rows, decode_value
from leakscale_server.catalog_audit.material import Recipe
from leakscale_server.core.building.families import build_public_part
from leakscale_server.core.judging.faults import cells
from leakscale_server.sandbox_pool import Verdict
from leakscale_server.scorer.prover import Proof

__all__ = ["find_other_result"]


def find_other_result(recipe: Recipe, proof: Proof) -> str:
    """Return what R2 returns otherwise than R0, in one line; nothing if it returns the same or did not run."""
    rings = proof.passes[0] if proof.passes else {}
    if Ring.R0 not in rings or Ring.R2 not in rings:
        return ""
    slot = proof.construction.slot
    part = build_public_part(
        recipe.file(slot.shape_id).shape,
        slot,
        families_per_cell=recipe.families_per_cell,
        public_seed=recipe.public_seed,
    )
    names = {word: part.other_words[name] for name, word in part.words.items()}
    for (position, index, one), (_, _, other) in zip(cells(rings[Ring.R0]), cells(rings[Ring.R2]), strict=True):
        if one.verdict is other.verdict is Verdict.RETURNED and _renamed(one.output, names) != _renamed(
            other.output, {}
        ):
            return (
                f"{slot.shape_id}: candidate {position} returns something else on fixture {index} once tables, columns "
                "and fields are renamed; use names to read values, and for nothing else"
            )
    return ""


def _renamed(output: bytes, names: Mapping[str, str]) -> str:
    """Return an output as text that tells types apart and does not depend on the order of keys."""
    return json.dumps(_rename(decode_value(output), names), sort_keys=True, default=repr)


def _rename(value: object, names: Mapping[str, str]) -> object:
    match value:
        case Rows(column_names=columns, rows=rows, is_ordered=is_ordered):
            return {"columns": [names.get(column, column) for column in columns], str(is_ordered): rows}
        case dict():
            return {names.get(key, key): _rename(item, names) for key, item in value.items()}
        case list():
            return [_rename(item, names) for item in value]
        case tuple():
            return {"tuple": [_rename(item, names) for item in value]}
        case _:
            return value
