"""The page about study files says what the code takes: every field, no other, and its default."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from leakscale.adaptation import AdaptationConfig
from leakscale.inference.engines import ENGINES
from leakscale.study.config import Study
from leakscale.study.fields import ModelThroughput, Strict, StudyEdition, StudyExperiment, StudyModel

PAGE = (Path(__file__).parents[2] / "docs" / "study-format.md").read_text(encoding="utf-8")
SPECIAL = {("Model", "adaptation"): "the model's own"}
"""Defaults that hang on other fields."""


def documented(section: str) -> dict[str, str]:
    """Return the default of each field of a section's table, as it is written."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): row[1].strip(" `") for row in rows}


def written(default: Any) -> str:
    """Write a default as the page does."""
    if default in (None, {}):
        return "none"
    return ", ".join(default) if isinstance(default, tuple) else str(default)


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("Study", Study),
        ("Edition", StudyEdition),
        ("Model", StudyModel),
        ("Plan", ModelThroughput),
        ("Experiment", StudyExperiment),
    ],
)
def test_every_field_of_a_table_and_its_default_is_on_the_page(section: str, model: type[Strict]) -> None:
    """A field that nobody can read of is not there, and one that is gone is refused by the code."""
    defaults = {
        name: "" if field.is_required() else SPECIAL.get((section, name), written(field.default))
        for name, field in model.model_fields.items()
    }

    assert documented(section) == defaults


def test_every_setting_of_an_adaptation_and_its_default_is_on_the_page() -> None:
    """Of all but the seed, which is the study's."""
    defaults = {field.name: written(field.default) for field in dataclasses.fields(AdaptationConfig)}
    del defaults["seed"]

    assert documented("Adaptation") == defaults


def test_every_engine_is_on_the_page() -> None:
    """What a study may name."""
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `engine` ")]

    assert [name for name in ENGINES if f"`{name}`" not in row] == []
