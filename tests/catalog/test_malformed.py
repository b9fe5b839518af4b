"""Author files that must not pass, each rejected for the reason that it was written for.

A file's first line is `# expect: WHERE WORDS`. WHERE is `file` (it cannot be read), `format` (it breaks a rule of the
format), `invariant` (what it builds breaks one, and certification refuses it before a program runs) or `rejection` (it
takes a run to see). WORDS begin with the name of the invariant, the reason or both, with a colon behind each; the rest
stands in what the author is told.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from leakscale_server.catalog_audit.invariants import CONSTRUCTION_INVARIANTS
from leakscale_server.catalog_audit.material import Recipe, build_material, practice_recipe
from leakscale_server.catalog_audit.proving import prove_all
from leakscale_server.catalog_check.check import AuthorFileError, read_author_file
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.core.shapes import ShapeError
from leakscale_server.sandbox_pool import SandboxPool

FOLDER = Path(__file__).parent / "malformed"
FILES = sorted(FOLDER.glob("*.toml"))


class Expectation(NamedTuple):
    where: str
    words: str


def expectation(path: Path) -> Expectation:
    first = path.read_bytes().split(b"\n", 1)[0].decode()
    where, _, words = first.removeprefix("# expect: ").partition(" ")
    return Expectation(where, words)


def those(*where: str) -> list[Path]:
    return [path for path in FILES if expectation(path).where in where]


def each(*where: str) -> pytest.MarkDecorator:
    paths = those(*where)
    return pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


def the_recipe(path: Path) -> Recipe:
    return practice_recipe([read_author_file(path)], families_per_cell=4)


def the_rejection(recipe: Recipe, pool: SandboxPool) -> Rejection:
    with closing(prove_all(recipe, pool)) as proofs:
        return next(proof.verdict for proof in proofs if isinstance(proof.verdict, Rejection))


def test_every_kind_of_fault_is_tried() -> None:
    """A file whose first line is misspelt would be tried by no test."""
    counts = Counter(expectation(path).where for path in FILES)

    assert set(counts) == {"file", "format", "invariant", "rejection"}
    assert counts["format"] >= 30
    assert counts["rejection"] >= 25
    assert min(counts.values()) >= 2


@each("file", "format")
def test_a_file_that_breaks_the_format_is_refused(path: Path) -> None:
    """Before anything is built, with the file, the line, the field, the rule and the value."""
    with pytest.raises((ShapeError, AuthorFileError)) as caught:
        read_author_file(path)

    where, words = expectation(path)
    assert isinstance(caught.value, ShapeError) is (where == "format")
    assert str(caught.value).startswith(f"{path}:")
    assert words in str(caught.value)


@each("invariant")
def test_a_file_that_breaks_an_invariant_is_found_and_rejected(path: Path, pool: SandboxPool) -> None:
    """By one rule: what an audit finds and a server certifies would make certificates worth less than audits."""
    recipe = the_recipe(path)
    material = build_material(recipe)
    findings = {one.invariant: one.fault for one in (check(material) for check in CONSTRUCTION_INVARIANTS) if one.fault}
    verdict = the_rejection(recipe, pool)

    name, reason, words = expectation(path).words.split(": ", 2)
    assert list(findings) == [name]
    assert verdict.reason == reason
    assert words in findings[name]
    assert words in verdict.message


@each("rejection")
def test_a_file_whose_families_break_the_rule_is_rejected(path: Path, pool: SandboxPool) -> None:
    """Format and bytes say nothing here: only running the programs shows it."""
    verdict = the_rejection(the_recipe(path), pool)

    reason, _, words = expectation(path).words.partition(": ")
    assert verdict.reason == reason
    assert words in verdict.message
