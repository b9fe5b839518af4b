"""Sketched families against real ones, over every shape that ships."""

from __future__ import annotations

import pytest

from leakscale.errors import InvalidRequestError
from leakscale.models import Condition, Domain, Ring, ShapeFile
from leakscale.prompts import choice_prompt
from leakscale.resources import catalog_folder
from leakscale.study.config import read_shape_file
from leakscale.study.plan.sketches import sketch_family
from leakscale_server.core.building.construction import FamilySlot, public_families
from leakscale_server.core.shapes import parse_shape

SHAPES = [
    read_shape_file(path, source=path.relative_to(catalog_folder()).as_posix(), folder=catalog_folder())
    for path in sorted(catalog_folder().rglob("*.toml"))
]


def real_length(file: ShapeFile, ring: Ring) -> float:
    """Mean characters of the prompts of eight real families."""
    shape = parse_shape(file.toml, source=file.source)
    slots = [FamilySlot(shape.id, Condition.C0, ordinal) for ordinal in range(8)]
    families = [public_families(shape, slot, families_per_cell=8, public_seed=b"p" * 32) for slot in slots]
    return sum(len(choice_prompt(rings[list(Ring).index(ring)])[1].content) for rings in families) / len(families)


def sketched_length(file: ShapeFile, ring: Ring) -> int:
    return len(choice_prompt(sketch_family(file, ring=ring))[1].content)


@pytest.mark.parametrize("ring", Ring)
def test_sketched_prompts_are_as_long_as_real_ones(ring: Ring) -> None:
    """A plan's tokens are as good as its prompts: within 1 % over the catalog, within a tenth for each shape."""
    pairs = {file.source: (sketched_length(file, ring), real_length(file, ring)) for file in SHAPES}

    sketched, real = (sum(pair[side] for pair in pairs.values()) for side in (0, 1))
    assert len(pairs) == 64
    assert sketched == pytest.approx(real, rel=0.01)
    assert {source for source, pair in pairs.items() if pair[0] != pytest.approx(pair[1], rel=0.1)} == set()


@pytest.mark.parametrize("domain", Domain)
def test_a_sketch_shows_what_its_domain_shows(domain: Domain) -> None:
    """Handles in SQL, literals in Python, four different answers in both."""
    for file in SHAPES:
        family = sketch_family(file)
        if family.domain is domain:
            assert len({candidate.answer for candidate in family.candidates}) == 4
            assert family.candidates[0].text.startswith("h_") == (domain is Domain.SQL)
            assert "{{" not in family.task


@pytest.mark.parametrize("toml", ["", "id = 3", "not toml", 'domain = "sql"\n[rings.R0]\ntask = "{{gone}}"'])
def test_a_file_that_is_no_shape_is_refused_by_name(toml: str) -> None:
    """The plan reads author files before the server does."""
    with pytest.raises(InvalidRequestError, match=r"mine\.toml: no plan can be made of it"):
        sketch_family(ShapeFile("mine.toml", toml))
