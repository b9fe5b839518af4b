"""The 32 Python shapes: each another structure, each certifiable at the first draw, each asked alike in three rings."""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from leakscale.models import Condition, Ring
from leakscale.prompts import choice_prompt
from leakscale_sandbox.canonical import encode_value
from leakscale_sandbox.preloaded import MODULE_NAMES
from leakscale_server.core.building.construction import Construction, FamilySlot, RingForm, construct
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.shapes import Shape, parse_shape

FILES = sorted((Path(__file__).parents[2] / "catalogs" / "python").glob("*.toml"))
SHAPES = [parse_shape(path.read_text(), source=path.name) for path in FILES]
WRITTEN_RINGS = (Ring.R0, Ring.R1)
PUBLIC = b"public seed, 16+"
PRIVATE = b"private seed of thirty-two bytes"

Outputs: TypeAlias = list[list[bytes]]
"""Canonical bytes as `[program][fixture]`."""

each_shape = pytest.mark.parametrize("shape", SHAPES, ids=[shape.id for shape in SHAPES])


def a_family(shape: Shape, condition: Condition = Condition.C0, ordinal: int = 0) -> Construction:
    slot = FamilySlot(shape.id, condition, ordinal)
    return construct(shape, slot, families_per_cell=16, public_seed=PUBLIC, private_seed=PRIVATE)


def families(shape: Shape) -> Iterator[Construction]:
    """Build two groups of four families, so that every truth rank occurs in both conditions."""
    return (a_family(shape, condition, ordinal) for condition, ordinal in itertools.product(Condition, range(4)))


def programs(shape: Shape) -> dict[Ring, str]:
    """Return the masked program of each written ring."""
    return {ring: shape.rings.text(ring).templates[0] for ring in WRITTEN_RINGS}


def normalized(program: str) -> str:
    """Return a program's syntax tree without names, constants, attributes and the kind of its operators."""
    tree = ast.parse(PLACEHOLDER.sub("(0)", program))
    for node in ast.walk(tree):
        for field in ("id", "arg", "name", "attr", "asname", "module"):
            if getattr(node, field, None) is not None:
                setattr(node, field, "_")
        match node:
            case ast.Constant():
                node.value = 0
            case ast.Compare():
                node.ops = [ast.Eq() for _ in node.ops]
            case ast.BinOp() | ast.AugAssign():
                node.op = ast.Add()
    return ast.dump(tree)


def load(program: str) -> Callable[[object], object]:
    """Return what a program defines, which this process may run: the program is ours."""
    names: dict[str, Any] = {}
    exec(compile(program, "candidate", "exec", dont_inherit=True), names)
    return names["transform"]  # type: ignore[no-any-return]


def canonical(value: object) -> bytes:
    return encode_value(value, byte_count_max=1 << 16)


def run(form: RingForm) -> Outputs:
    """Run every program of a ring on its fixtures."""
    transforms = map(load, form.programs)
    return [[canonical(transform(json.loads(fixture))) for fixture in form.fixtures] for transform in transforms]


def agreements(outputs: Outputs) -> list[int]:
    """Count, for each pair of programs, the fixtures on which they return the same."""
    return [sum(map(bytes.__eq__, one, other)) for one, other in itertools.combinations(outputs, 2)]


def imported(tree: ast.Module) -> set[str]:
    """Return the modules that a program imports."""
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return modules | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w.-]*\w", text.lower()))


def test_the_domain_has_32_shapes_of_32_structures() -> None:
    """Two shapes of one structure under two names would be one shape with twice the weight."""
    structures = {normalized(programs(shape)[Ring.R0]) for shape in SHAPES}

    assert len({shape.id for shape in SHAPES}) == len(structures) == 32


def test_a_reworded_program_is_of_no_other_structure_in_the_catalog() -> None:
    """R1 asks whether knowledge reaches another form: a renamed copy of R0 would be no other form."""
    structures = [normalized(program) for shape in SHAPES for program in programs(shape).values()]

    assert len(set(structures)) == len(structures) == 64


def test_candidates_cover_every_type() -> None:
    """What holds of strings only is no finding about memory."""
    values = {json.loads(text) for shape in SHAPES if shape.candidates.type == "json" for text in shape.candidates.pool}

    assert {shape.candidates.type for shape in SHAPES} == {"integer", "decimal", "string", "date", "json"}
    assert {type(value) for value in values} == {type(None), bool, int, float, str}


@each_shape
def test_every_slot_has_words_to_choose_from(shape: Shape) -> None:
    """R2 takes a word that R0 does not have; with three or more it cannot be foreseen."""
    assert min(map(len, shape.vocabulary.values())) >= 3


@each_shape
def test_a_task_is_short_and_shows_no_candidate(shape: Shape) -> None:
    """A candidate in the task would be a hint; small models read little."""
    for family in families(shape):
        for ring in Ring:
            public = family.form(ring).public
            shown = {str(json.loads(candidate.answer)["choice"]).lower() for candidate in public.candidates}

            assert "policy value" in public.task
            assert shown.isdisjoint(words(public.task)), public.task
            assert len(public.task.split()) <= 30
            assert len(choice_prompt(public)[1].content) <= 480


@each_shape
def test_programs_import_only_what_the_sandbox_holds(shape: Shape) -> None:
    """Its filter refuses to open files, so any other import would fail there and nowhere else."""
    for program in programs(shape).values():
        assert imported(ast.parse(PLACEHOLDER.sub("(0)", program))) <= set(MODULE_NAMES)


@each_shape
def test_any_truth_is_accepted_at_the_first_draw(shape: Shape) -> None:
    """Whichever candidate is right, each other one differs on a quarter of the fixtures, and no output is constant."""
    for family in families(shape):
        outputs = run(family.form(Ring.R0))

        assert max(agreements(outputs)) <= 12, family.slot
        assert all(len(set(program)) > 1 for program in outputs), family.slot


@each_shape
def test_a_reworded_program_returns_the_same_bytes(shape: Shape) -> None:
    """One expected output serves R0 and R1, types included: 1 is neither 1.0 nor true."""
    for family in families(shape):
        assert run(family.form(Ring.R1)) == run(family.form(Ring.R0)), family.slot


@each_shape
def test_renaming_changes_no_agreement(shape: Shape) -> None:
    """A program that leaned on a name would behave otherwise under another one."""
    for family in families(shape):
        assert agreements(run(family.form(Ring.R2))) == agreements(run(family.form(Ring.R0))), family.slot


@each_shape
def test_no_program_changes_its_input(shape: Shape) -> None:
    """A program that did could not be called twice with one argument."""
    family = a_family(shape)
    exact, reworded = (family.form(ring) for ring in WRITTEN_RINGS)
    for program, fixture in itertools.product((*exact.programs, *reworded.programs), exact.fixtures):
        records = json.loads(fixture)
        load(program)(records)

        assert canonical(records) == canonical(json.loads(fixture))


_DIGEST = """
import hashlib, json, sys
digest = hashlib.sha256()
for program, fixtures in json.load(sys.stdin):
    names = {}
    exec(program, names)
    for fixture in fixtures:
        digest.update(repr(names["transform"](json.loads(fixture))).encode())
print(digest.hexdigest())
"""


def digest(jobs: Sequence[tuple[str, list[str]]], *, hash_seed: str) -> str:
    """Run programs in another interpreter and return a digest of all that they return, order included."""
    done = subprocess.run(
        [sys.executable, "-c", _DIGEST],
        input=json.dumps(jobs),
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_no_result_depends_on_the_hash_seed() -> None:
    """Even the order of a dictionary, which the canonical form would forgive, stays the same."""
    forms = [a_family(shape).form(ring) for shape in SHAPES for ring in WRITTEN_RINGS]
    jobs = [(program, [fixture.decode() for fixture in form.fixtures]) for form in forms for program in form.programs]
    digests = {digest(jobs, hash_seed=seed) for seed in ("0", "1", "2")}

    assert len(digests) == 1
    assert digests != {hashlib.sha256().hexdigest() + "\n"}
