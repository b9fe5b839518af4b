"""Whether exactly four answer strings choose a candidate, and which program each of them stands for.

Three checks go the way of an answer: the string, the candidate that it chooses, the program that this one renders to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from leakscale.models import Domain, Family, Ring
from leakscale.scoring import choice_index
from leakscale_server.catalog_audit.findings import Finding, find
from leakscale_server.catalog_audit.material import Material
from leakscale_server.core.building.construction import Construction
from leakscale_server.core.format.schema import Shape
from leakscale_server.core.literals import as_operand

__all__ = ["check_answers", "check_compiler", "near_misses"]

_PROBES: Final[tuple[Any, ...]] = (None, True, False, 0, 1, 1.0, -1, "", "0", "1", "null", "true", "none", [], {})
"""Values that a model answers with when it answers anything."""


def check_answers(material: Material) -> Finding:
    """Check that the four answers choose their candidates, and that nothing close to them chooses any."""
    families = [family.form(Ring.R0).public for family in material.families]
    tried = sum(len(near_misses(family)) for family in families)
    checked = f"{4 * len(families):,} answers choose a candidate each, {tried:,} strings close to one choose none"
    return find("answers", checked, _answer_faults(families))


def _answer_faults(families: list[Family]) -> Iterator[str]:
    for family in families:
        accepted = [candidate.answer for candidate in family.candidates]
        for place, answer in enumerate(accepted):
            if list(json.loads(answer)) != ["choice"] or choice_index(answer, family.candidates) != place:
                yield f"{family.family_id} does not take its own answer {answer}"
        for text in near_misses(family):
            if choice_index(text, family.candidates) is not None:
                yield f"{family.family_id} takes {text!r}, which is none of {', '.join(accepted)}"


def near_misses(family: Family) -> set[str]:
    """Return answers that are nearly one of a family's four: other types, spaces, fields and spellings."""
    accepted = [candidate.answer for candidate in family.candidates]
    texts = {json.dumps({"choice": value}, separators=(",", ":")) for value in _PROBES}
    for answer, candidate in zip(accepted, family.candidates, strict=True):
        value = json.loads(answer).get("choice")
        written = json.dumps(value, ensure_ascii=False)
        texts |= {
            *(answer + " ", " " + answer, answer + "\n", "\ufeff" + answer, answer[:-1], answer * 2),
            *(json.dumps({"choice": value}), f"```json\n{answer}\n```", candidate.text, written, f"[{answer}]"),
            *(f'{{"Choice":{written}}}', f'{{"choice":{written},"why":""}}', f'{{"why":"","choice":{written}}}'),
            *(f'{{"choice":{written},"choice":{written}}}', f'{{"choice":[{written}]}}', f"{{'choice':{written}}}"),
            *(f'{{"choice":{each}}}' for each in _other_spellings(value, written)),
        }
    return texts - set(accepted)


def _other_spellings(value: Any, written: str) -> Iterator[str]:
    """Yield what a parser that forgives might take for the value."""
    yield json.dumps(written)
    if isinstance(value, bool):
        yield from (str(value), str(int(value)), f"{int(value)}.0")
    elif isinstance(value, int):
        yield from (f"{value}.0", f"{value}e0", f"+{value}", f"0{value}", str(value + 1))
    elif isinstance(value, float):
        yield from (f"{written}0", f"{value:e}", str(int(value)), f"+{written}")
    elif isinstance(value, str):
        yield from (value, json.dumps(value.swapcase()), json.dumps(value + " "), json.dumps(f" {value}"))
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in value)
        yield f'"{escaped}"'


def check_compiler(material: Material) -> Finding:
    """Check that each answer leads to one program, which holds that answer's value and differs in nothing else."""
    faults = (
        fault
        for family in material.families
        for fault in _program_faults(family, material.recipe.file(family.slot.shape_id).shape)
    )
    return find("compiler", f"{12 * len(material.families):,} programs from their answers", faults)


def _program_faults(family: Construction, shape: Shape) -> Iterator[str]:
    for form in family.forms:
        public, name = form.public, f"{family.family_id} in {form.public.ring}"
        chosen = [choice_index(candidate.answer, public.candidates) for candidate in public.candidates]
        programs = [form.programs[place] for place in chosen if place is not None]
        if len(set(programs)) != 4:
            yield f"{name} has {len(set(programs))} programs for four answers"
        elif shape.rings.text(public.ring).program is not None and not _is_one_template(programs, _values(family)):
            yield f"{name} has programs that differ by more than their answers' values"


def _values(family: Construction) -> list[str]:
    """Return what an answer puts into a program: its own value in Python, what its handle stands for in SQL."""
    public = family.form(Ring.R0).public
    if public.domain is Domain.SQL:
        return [as_operand(literal) for literal in family.literals]
    return [as_operand(repr(json.loads(candidate.answer)["choice"])) for candidate in public.candidates]


def _is_one_template(programs: list[str], values: list[str]) -> bool:
    """Return whether one text with one gap gives every program when its value fills the gap."""
    start = programs[0].find(values[0])
    while start >= 0:
        before, after = programs[0][:start], programs[0][start + len(values[0]) :]
        if all(before + value + after == program for program, value in zip(programs, values, strict=True)):
            return True
        start = programs[0].find(values[0], start + 1)
    return False
