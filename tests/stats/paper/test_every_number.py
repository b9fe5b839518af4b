"""Every published figure that can be reproduced has a test that is named by its id.

`paper_numbers.json` lists the figures of both papers with a tag that says what reproducing them takes. A figure that
follows from a formula, from other figures or from recovered inputs must have a test; so must one that the paper
contradicts itself on, where the test holds the right value.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
TESTED_TAGS = {"formula", "identity", "exact-recovered", "contradicted"}


def the_list() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((HERE / "paper_numbers.json").read_text(encoding="utf-8"))
    return content


def ids_named_by_tests() -> set[str]:
    """Read the names of the test functions beside this file, without importing them."""
    names = [
        node.name
        for path in HERE.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    return {found.upper() for name in names for found in re.findall(r"(?i)(?<=_)(?:cs|ls)\d{3}(?=_|$)", name)}


NUMBERS = the_list()["numbers"]


@pytest.mark.parametrize("number", [pytest.param(one, id=one["id"]) for one in NUMBERS if one["tag"] in TESTED_TAGS])
def test_reproducible_number_has_a_test(number: dict[str, Any]) -> None:
    """A figure that nothing recomputes is a figure that nobody has checked."""
    assert number["id"] in ids_named_by_tests(), f"{number['name']} ({number['location']})"


def test_no_test_is_named_by_an_unknown_number() -> None:
    """A misspelt id would pass for a checked figure."""
    assert ids_named_by_tests() <= {number["id"] for number in NUMBERS}


def test_list_holds_every_id_once_with_a_known_tag() -> None:
    """A lost row would take its test with it."""
    expected = [f"CS{number:03}" for number in range(1, 94)] + [f"LS{number:03}" for number in range(94, 105)]

    assert [number["id"] for number in NUMBERS] == expected
    assert {number["tag"] for number in NUMBERS} == set(the_list()["tags"])
