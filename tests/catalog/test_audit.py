"""Each invariant holds for the catalog that ships, and names what breaks it when something does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from leakscale.base_model import base_model_folder
from leakscale.models import Candidate, Condition
from leakscale.prompts import choice_prompt, compact_answer
from leakscale.scoring import choice_index
from leakscale_server.catalog_audit.answers import check_answers, check_compiler, near_misses
from leakscale_server.catalog_audit.balance import check_balance
from leakscale_server.catalog_audit.candidates import check_candidates, check_names
from leakscale_server.catalog_audit.findings import Finding
from leakscale_server.catalog_audit.invariants import CONSTRUCTION_INVARIANTS
from leakscale_server.catalog_audit.material import Material, Recipe, build_material, practice_recipe
from leakscale_server.catalog_audit.prompts import check_prompts
from leakscale_server.catalog_audit.regeneration import check_regeneration
from leakscale_server.catalog_audit.secrecy import check_separation
from leakscale_server.catalog_audit.structures import check_structures
from leakscale_server.core.building.construction import Construction, FamilySlot
from leakscale_server.core.checks.prompt_length import count_tokens

from .builders import CATALOGS, an_author_file, spoilt, the_material, with_form

SOME = ("sql/threshold", "python/nested-update")


@pytest.mark.parametrize("check", CONSTRUCTION_INVARIANTS)
def test_the_catalog_that_ships_keeps_every_invariant(check: Callable[[Material], Finding]) -> None:
    """All 64 shapes together: keys and structures must differ across the whole of it."""
    finding = check(the_material())

    assert finding.fault == ""
    assert finding.checked


def another_truth(family: Construction) -> Construction:
    return dataclasses.replace(family, truth=(family.truth + 1) % 4)


def equal_candidates(family: Construction) -> Construction:
    first, second, third, _ = family.literals
    return dataclasses.replace(family, literals=(first, second, third, first))


def another_type(family: Construction) -> Construction:
    first, second, third, _ = family.literals
    return dataclasses.replace(family, literals=(first, second, third, "'many'"))


def a_value_as_handle(family: Construction) -> Construction:
    candidates = family.forms[0].public.candidates
    shown = Candidate(family.literals[0], compact_answer(family.literals[0]))
    for at in range(3):
        family = with_form(family, at, public={"candidates": (shown, *candidates[1:])})
    return family


def another_key_in_r2(family: Construction) -> Construction:
    return with_form(family, 2, public={"key": "K-00000000"})


def a_short_key(family: Construction) -> Construction:
    return with_form(family, 0, public={"key": "K-12"})


def a_task_with_a_handle(family: Construction) -> Construction:
    return with_form(family, 1, public={"task": "Take h_12ab as the policy value."})


def a_long_task(family: Construction) -> Construction:
    return with_form(family, 1, public={"task": "word " * 300})


def another_program(family: Construction) -> Construction:
    first, second, third, fourth = family.forms[1].programs
    return with_form(family, 1, programs=(first, second, third, fourth + " -- and more"))


def two_equal_programs(family: Construction) -> Construction:
    first, second, third, _ = family.forms[0].programs
    return with_form(family, 0, programs=(first, second, third, first))


@pytest.mark.parametrize(
    ("spoil", "check", "words"),
    [
        (another_truth, check_balance, "sql-threshold/C0 has its truths on positions"),
        (equal_candidates, check_candidates, "which are not four"),
        (another_type, check_candidates, "has the candidate 'many', which is no "),
        (a_value_as_handle, check_candidates, "shows the candidate"),
        (another_key_in_r2, check_candidates, "another key in another ring"),
        (a_short_key, check_names, "has the key K-12"),
        (a_task_with_a_handle, check_names, "R1: the text names h_12ab"),
        (a_long_task, check_prompts, "R1: the prompt has"),
        (another_program, check_compiler, "in R1 has programs that differ by more than their answers' values"),
        (two_equal_programs, check_compiler, "in R0 has 3 programs for four answers"),
        (a_short_key, check_separation, "in R0 is another one with another private seed"),
    ],
)
def test_what_breaks_an_invariant_is_named(
    spoil: Callable[[Construction], Construction], check: Callable[[Material], Finding], words: str
) -> None:
    """An audit that only says that something is wrong sends its reader to search 2,048 families."""
    material = the_material(*SOME)
    spoiled = spoilt(material, spoil)

    assert check(material).fault == ""
    assert words in check(spoiled).fault


def test_families_that_share_a_key_are_named() -> None:
    """Whoever learnt one of them would know the other."""
    material = the_material(*SOME)
    key = material.families[0].forms[0].public.key
    spoiled = spoilt(material, lambda family: with_form(family, 0, public={"key": key}), at=5)

    assert f"two families share '{key}'" in check_names(spoiled).fault


def test_other_bytes_in_another_process_are_found() -> None:
    material = the_material(*SOME)
    spoiled = dataclasses.replace(material, digests=(b"\0" * 32, *material.digests[1:]))

    assert material.families[0].family_id in check_regeneration(spoiled).fault


class SeedlessRecipe(Recipe):
    """Draws the truths of one cell from its public seed."""

    def build(self, slot: FamilySlot, *, attempt: int = 0) -> Construction:
        built = super().build(slot, attempt=attempt)
        if slot.shape_id != "sql-threshold" or slot.condition is not Condition.C2:
            return built
        return dataclasses.replace(built, truth=slot.ordinal)


def test_a_cell_whose_truths_hang_on_no_private_seed_is_named() -> None:
    """Truth that does not hang on the private seed hangs on something public; other cells do not hide it."""
    recipe = the_material(*SOME).recipe
    spoiled = build_material(SeedlessRecipe(*(getattr(recipe, each.name) for each in dataclasses.fields(recipe))))

    assert check_separation(spoiled).fault == "no truth of sql-threshold/C2 changes under 8 other private seeds"


@pytest.mark.parametrize("seed", [413, 486])
def test_a_seed_that_leaves_truths_as_they_are_by_chance_is_no_fault(seed: int) -> None:
    """With four families a cell, one private seed in 576 keeps every truth of a shape that another one has."""
    recipe = practice_recipe(the_material("sql/threshold").recipe.files, families_per_cell=4, seed=seed)
    inverted = bytes(byte ^ 0xFF for byte in recipe.private_seed)
    other = dataclasses.replace(recipe, private_seed=inverted)
    assert all(other.build(slot).truth == recipe.build(slot).truth for slot in recipe.slots())

    finding = check_separation(build_material(recipe))

    assert finding.holds
    assert not finding.checked.endswith(" 0 of 8 families")


def test_one_structure_under_other_names_is_found() -> None:
    """By the tree, not by the id: other words, other values, another title."""
    material = the_material(*SOME)
    file = an_author_file(CATALOGS / "sql" / "threshold.toml")
    twin = dataclasses.replace(file, shape=file.shape.model_copy(update={"id": "sql-twin"}))
    recipe = dataclasses.replace(material.recipe, files=(*material.recipe.files, twin))

    finding = check_structures(dataclasses.replace(material, recipe=recipe))
    assert finding.faults == (
        "sql-threshold and sql-twin have one structure; keep one of them, or write its programs another way",
    )
    assert finding.shape_ids == ("sql-threshold", "sql-twin")


def test_shapes_of_one_structure_are_all_named_and_once() -> None:
    """Of 300 files, the first pair alone would take 299 checks to find the rest."""
    material = the_material(*SOME)
    files = [
        dataclasses.replace(file, shape=file.shape.model_copy(update={"id": f"{file.shape.id}-{number}"}))
        for number in range(3)
        for file in material.recipe.files
    ]
    recipe = dataclasses.replace(material.recipe, files=tuple(files))
    finding = check_structures(dataclasses.replace(material, recipe=recipe, families=()))

    assert len(finding.faults) == 2
    assert sorted(finding.shape_ids) == sorted(file.shape.id for file in files)
    assert all(finding.faults[number % 2].count(file.shape.id) == 1 for number, file in enumerate(files))


def test_near_misses_hold_what_a_forgiving_parser_would_take() -> None:
    """A bool for an int, a float for an int, a text for a number, another field, another space."""
    family = the_material("python/nested-update").families[0].forms[0].public
    values = (1, 2.5, "red", None)
    one, two, three, four = (Candidate(str(value), compact_answer(value)) for value in values)
    answers = (one, two, three, four)
    misses = near_misses(dataclasses.replace(family, candidates=answers))

    assert misses >= {
        '{"choice":true}',
        '{"choice":1.0}',
        '{"choice":"1"}',
        '{"choice": 1}',
        '{"choice":1,"why":""}',
        '{"choice":1,"choice":1}',
        '{"choice":2.50}',
        '{"choice":2}',
        '{"choice":"Red"}'.replace("Red", "RED"),
        '{"choice":red}',
        '{"choice":"\\u0072\\u0065\\u0064"}',
        '{"choice":"null"}',
        '{"choice":""}',
        '[{"choice":1}]',
    }
    assert not misses & {candidate.answer for candidate in answers}
    assert {choice_index(miss, answers) for miss in misses} == {None}


def test_an_answer_that_is_not_its_own_is_found() -> None:
    """Were the two swapped, a right answer would be scored as a wrong one."""

    def spoil(family: Construction) -> Construction:
        _, second, third, fourth = family.forms[0].public.candidates
        return with_form(family, 0, public={"candidates": (Candidate("x", '{"pick":"x"}'), second, third, fourth)})

    material = the_material(*SOME)
    assert "does not take its own answer" in check_answers(spoilt(material, spoil)).fault


def test_the_rule_for_tokens_allows_for_a_real_tokenizer() -> None:
    """The budget is kept without a model only if the rule never counts less than the model of the demo."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(Path(base_model_folder()) / "tokenizer.json"))
    texts = ["\n".join(each.content for each in choice_prompt(public)) for _, public in the_material().forms()]

    assert max(len(tokenizer.encode(text).ids) / count_tokens(text) for text in texts) <= 1
