"""Whether a family's four candidates are four, of one type, and its public names opaque and its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from leakscale.models import Domain, Family, Ring
from leakscale.prompts import compact_answer
from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Material
from leakscale_server.catalog_audit.written import written_faults
from leakscale_server.core.building.construction import Construction, require_unique
from leakscale_server.core.format.candidates import Candidates
from leakscale_server.core.judging.rejections import RejectionReason
from leakscale_server.core.literals import plain_value, read_json

__all__ = ["check_candidates", "check_names"]

_TYPES: Final = {"integer": (int,), "decimal": (float,), "string": (str,), "date": (str,)}
_LITERALS: Final = {
    "integer": r"-?\d+",
    "decimal": r"-?\d+\.\d+",
    "string": r"'(?:[^']|'')+'",
    "date": r"'\d{4}-\d\d-\d\d'",
    "json": r"NULL|-?\d+(?:\.\d+)?|'(?:[^']|'')*'",
}
"""How SQL writes a value of each type."""
_NAMES: Final = {"family id": r"f-[0-9a-f]{12}", "key": r"K-[0-9a-f]{8}"}
_HANDLE: Final = r"h_[0-9a-f]{4}"


def check_candidates(material: Material) -> Finding:
    """Check that every family has four distinct candidates of its shape's one type, the same in every ring."""
    families = material.families
    types = {file.shape.id: file.shape.candidates for file in material.recipe.files}
    faults = (fault for family in families for fault in _faults(family, types[family.slot.shape_id]))
    return find("candidates", counted(4 * len(families), "candidate"), faults)


def _faults(family: Construction, candidates: Candidates) -> Iterator[str]:
    name = family.family_id
    public = family.form(Ring.R0).public
    if len(set(family.literals)) != 4:
        yield f"{name} has candidates {', '.join(family.literals)}, which are not four"
    if any(form.public.candidates != public.candidates or form.public.key != public.key for form in family.forms):
        yield f"{name} shows other candidates or another key in another ring"
    for candidate, literal in zip(public.candidates, family.literals, strict=True):
        if public.domain is Domain.SQL:
            is_typed = re.fullmatch(_LITERALS[candidates.type], literal) is not None
            is_shown = re.fullmatch(_HANDLE, candidate.text) and candidate.answer == compact_answer(candidate.text)
        else:
            is_typed = _is_of_type(json.loads(candidate.answer)["choice"], candidates)
            is_shown = candidate.text == literal
        if not is_typed:
            yield f"{name} has the candidate {literal}, which is no {candidates.type}"
        if not is_shown:
            yield f"{name} shows the candidate {literal} as {candidate.text}, answered by {candidate.answer}"


def _is_of_type(value: object, candidates: Candidates) -> bool:
    if candidates.type == "json":
        # By type and value: True is no 1 here.
        return repr(value) in {repr(plain_value(read_json(text))) for text in candidates.pool}
    return type(value) in _TYPES[candidates.type]


def check_names(material: Material) -> Finding:
    """Check that ids and keys are unique, of one form, and that no task names a key, a handle or a candidate."""
    keys = [family.form(Ring.R0).public for family in material.families]
    return find(
        "names", f"{counted(len(keys), 'key')} and {counted(3 * len(keys), 'task')}", _name_faults(material, keys)
    )


def _name_faults(material: Material, families: list[Family]) -> Iterator[str]:
    try:
        require_unique(families)
    except ValueError as error:
        yield str(error)
    for family in families:
        for what, written in (("family id", family.family_id), ("key", family.key)):
            if not re.fullmatch(_NAMES[what], written):
                yield f"{family.family_id} has the {what} {written}, which is not of the form {_NAMES[what]}"
    yield from written_faults(material, RejectionReason.TEXT_NAMES_KEY, RejectionReason.TEXT_NAMES_CANDIDATE)
