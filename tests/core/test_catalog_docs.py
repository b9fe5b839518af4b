"""The author's page is an artifact: its example must work and its tables must name what the code has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from leakscale.models import Condition
from leakscale.prompts import choice_prompt
from leakscale_server.core.building.cell_types import annotation
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.building.given import read_given
from leakscale_server.core.format.columns import Column
from leakscale_server.core.format.schema import GivenFixture, Table
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.judging.rejections import RejectionReason
from leakscale_server.core.shapes import ShapeError, parse_shape

PAGE = (Path(__file__).parents[2] / "docs" / "catalog-format.md").read_text()


def example() -> str:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


def test_the_worked_example_is_certified(score: Callable[[Construction], Scoring]) -> None:
    shape = parse_shape(example(), source="example.toml")
    families = [
        construct(
            shape,
            FamilySlot(shape.id, Condition.C0, ordinal),
            families_per_cell=4,
            public_seed=b"public seed, 16+",
            private_seed=b"private seed of thirty-two bytes",
        )
        for ordinal in range(4)
    ]

    assert all(isinstance(assess(scoring, scoring), Accepted) for scoring in map(score, families))


def test_the_prompt_on_the_page_has_the_form_of_a_real_one() -> None:
    shape = parse_shape(example(), source="example.toml")
    family = (
        construct(
            shape,
            FamilySlot(shape.id, Condition.C0, 0),
            families_per_cell=4,
            public_seed=b"public seed, 16+",
            private_seed=b"private seed of thirty-two bytes",
        )
        .forms[0]
        .public
    )
    [shown] = re.findall(r"```text\n(Task: .*?)\n```", PAGE, re.DOTALL)
    real = choice_prompt(family)[-1].content

    def form(text: str) -> str:
        words = "|".join(word for words in shape.vocabulary.values() for word in words)
        return re.sub(rf"h_[0-9a-f]{{4}}|K-[0-9a-f]{{8}}|\b({words})\b", "_", text)

    assert form(shown) == form(real)


def test_the_error_on_the_page_is_the_error_one_gets() -> None:
    [shown] = re.findall(r"```text\n(catalogs/\S+): (tables.*?)\n```", PAGE, re.DOTALL)
    try:
        parse_shape(example().replace("high = 100", "high = -3"), source="catalogs/sql/large-orders.toml")
    except ShapeError as error:
        assert str(error) == ": ".join(shown)
    else:
        raise AssertionError("the example with a backward range was taken")


def test_every_generator_and_every_reason_is_described() -> None:
    union, *_ = get_args(Column)
    generators = {get_args(each.model_fields["generator"].annotation)[0] for each in get_args(union)}

    assert generators <= set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert {reason.value for reason in RejectionReason} <= set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE))


def parts() -> list[str]:
    """Pieces of shape files on the page."""
    return re.findall(r"```toml-part\n(.*?)```", PAGE, re.DOTALL)


def test_the_nested_field_on_the_page_is_one() -> None:
    """It shows what a model sees of it, too."""
    [field] = tomllib.loads(parts()[0], parse_float=Decimal)["records"]["fields"]
    column = TypeAdapter(Column).validate_python(_tuples(field))

    assert f"records: {{{column.name}: {annotation(column, {})}}}" in PAGE


def test_the_fixtures_on_the_page_are_four_ways_to_write_one() -> None:
    data = tomllib.loads(parts()[1], parse_float=Decimal)
    script = data["fixtures"][0]["sql"]
    files = {data["fixtures"][3]["sql"]: script}
    shape = parse_shape(example(), source="a").model_copy(
        update={"tables": tuple(Table.model_validate(_tuples(each)) for each in data["tables"]), "files": files}
    )
    read = [read_given(shape, GivenFixture.model_validate(_tuples(each))) for each in data["fixtures"]]

    assert read == [{"orders": [(1, 12.5), (2, None)]}] * 4


def _tuples(value: object) -> Any:
    match value:
        case dict():
            return {key: _tuples(item) for key, item in value.items()}
        case list():
            return tuple(map(_tuples, value))
        case _:
            return value
