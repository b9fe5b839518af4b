"""The author's page is an artifact: its example must work and its tables must name what the code has."""

from __future__ import annotations

import re
import sqlite3
import tomllib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from leakscale.models import Condition
from leakscale.prompts import choice_prompt
from leakscale_sandbox.canonical import (
    DEPTH_MAX,
    INTEGER_BITS_MAX,
    NODE_COUNT_MAX,
    RefusedValueError,
    encode_rows,
    encode_value,
)
from leakscale_server.core.building.cell_types import annotation
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.building.given import ROWS_MAX, read_given
from leakscale_server.core.checks.prompt_length import TOKEN_COUNT_MAX
from leakscale_server.core.checks.sizes import FIXTURE_BYTES_MAX
from leakscale_server.core.format.columns import Column
from leakscale_server.core.format.schema import FIXTURE_COUNTS, GivenFixture, Shape, Table
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.judging.rejections import RejectionReason
from leakscale_server.core.shapes import FILE_BYTES_MAX, LINE_CHARACTERS_MAX, ShapeError, parse_shape

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


def the_section(title: str) -> str:
    return PAGE.partition(f"### {title}\n")[2].partition("\n### ")[0]


RETURNED = the_section("What a program may return")
KINDS = {each.__name__: each for each in (Counter, OrderedDict, Decimal, Fraction, date)}


def encoded(written: str) -> bytes:
    return encode_value(eval(written, dict(KINDS)), byte_count_max=4096)


def first_column() -> list[str]:
    rows = re.findall(r"^\| (`.*?) \|", RETURNED, re.MULTILINE)
    return [written for row in rows for written in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("written", first_column())
def test_what_the_page_says_may_be_returned_has_a_canonical_form(written: str) -> None:
    """An author reads here what to return; the sandbox decides."""
    assert encoded(written)


def test_each_type_of_python_that_may_be_returned_is_on_the_page() -> None:
    kinds = {type(eval(written)) for written in first_column()}

    assert kinds == {type(None), bool, int, float, str, list, tuple, dict}


def refused() -> list[str]:
    passage = RETURNED.partition("These are refused")[2].partition("Convert them")[0]
    return re.findall(r"`([^`]+)`", passage)


@pytest.mark.parametrize("written", refused())
def test_what_the_page_says_is_refused_has_none(written: str) -> None:
    assert len(refused()) == 11
    with pytest.raises(RefusedValueError):
        encoded(written)


def test_results_are_told_apart_as_the_page_says() -> None:
    assert len({encoded(written) for written in ("True", "1", "1.0")}) == 3
    assert len({encoded(written) for written in ("0.0", "-0.0")}) == 2
    assert len({encoded(written) for written in ("[1, 2]", "(1, 2)")}) == 2
    assert len({encoded(written) for written in ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}")}) == 1


def test_the_limits_of_a_result_are_those_of_the_sandbox() -> None:
    assert f"lists and dictionaries up to {DEPTH_MAX} deep" in RETURNED
    assert f"more than {NODE_COUNT_MAX:,} values" in RETURNED
    assert f"more than {len(str(2**INTEGER_BITS_MAX)):,} digits" in RETURNED.replace("\n", " ")


def test_rows_hold_what_the_page_says() -> None:
    """An infinite real among them; what would be no number is NULL before it is a cell."""
    cells = re.search(r"reals, texts and blobs: (.*?)\. ", RETURNED)
    assert cells is not None
    written = re.findall(r"`([^`]+)`", cells[1])
    [row] = sqlite3.connect(":memory:").execute(f"SELECT {', '.join(written)}, 9e999 - 9e999").fetchall()

    assert [type(cell) for cell in row] == [type(None), int, float, str, bytes, float, type(None)]
    assert encode_rows([f"c{place}" for place in range(len(row))], [row], ordered=True, byte_count_max=4096)
    assert len({encode_rows(["c"], [(cell,)], ordered=True, byte_count_max=99) for cell in (1, 1.0, "1")}) == 3


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


LIMITS = the_section("Limits")
SCHEMA = Shape.model_json_schema()


def properties(schema: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every field of the format with what the schema says of it."""
    if isinstance(schema, dict):
        for name, each in schema.get("properties", {}).items():
            yield name, each
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else ():
        yield from properties(each)


def numbers(schema: object) -> Iterator[float]:
    """Yield the bounds of texts, arrays and numbers in a schema, however deep they stand."""
    if isinstance(schema, dict):
        bounds = ("minLength", "maxLength", "minItems", "maxItems", "maxProperties", "maximum")
        yield from (schema[bound] for bound in bounds if isinstance(schema.get(bound), int | float))
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else ():
        yield from numbers(each)


def test_every_field_of_the_format_is_on_the_page() -> None:
    names = {name for name, _ in properties(SCHEMA)} - {"files"}  # the client writes it, see `shape_files`

    assert [name for name in sorted(names) if not re.search(rf"`[^`\n]*\b{name}\b", PAGE)] == []


@pytest.mark.parametrize("limit", sorted({*numbers(SCHEMA), FILE_BYTES_MAX >> 10, LINE_CHARACTERS_MAX}))
def test_every_limit_of_the_format_is_on_the_page(limit: float) -> None:
    """An author who meets one for the first time in an error has written for nothing."""
    powers = {10**9: "10\u2079", 10**12: "10\u00b9\u00b2"}
    written = powers.get(int(limit), f"{int(limit):,}")

    assert re.search(rf"(?<![\d,]){written}(?![\d,])", LIMITS)


def test_other_limits_are_those_of_the_code() -> None:
    assert f"{TOKEN_COUNT_MAX} tokens" in LIMITS
    assert f"{FIXTURE_BYTES_MAX >> 10} KiB" in LIMITS
    assert f"{ROWS_MAX} rows" in LIMITS
    assert [f"{count} in {domain}" in LIMITS for count, domain in ((8, "SQL"), (16, "Python"))] == [True, True]
    assert {domain.value: count for domain, count in FIXTURE_COUNTS.items()} == {"sql": 8, "python": 16}


def test_every_invariant_is_explained() -> None:
    """A line that only its programmer can read helps no author."""
    page = PAGE.partition("| invariant | what is looked at |")[2].partition("Then certification")[0]
    explained = re.findall(r"^\| `([a-z ]+)` \|", page, re.MULTILINE)

    # As `catalog audit` names them; that these are all of them is what its own test says.
    assert explained == [
        *("structures", "candidates", "names", "balance", "answers", "compiler", "prompts", "regeneration"),
        *("separation", "secrecy", "overlap", "references", "one right", "renaming", "purity"),
    ]
