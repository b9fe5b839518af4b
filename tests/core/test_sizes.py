"""What a shape may draw fits a job: a family that does not fit would end the whole stream, not itself."""

from __future__ import annotations

import itertools
import json

import pytest

from leakscale.models import Condition
from leakscale_sandbox.wire import JOB_BYTES_MAX, DomainCode, encode_job
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.checks.sizes import fixture_bytes_max
from leakscale_server.core.shapes import Shape, ShapeError, parse_shape
from leakscale_server.sandbox_pool import Limits

PROGRAMS = {
    "sql": "SELECT c.{{f0}} AS a FROM c WHERE c.{{f0}} > {{policy}} ORDER BY c.{{f0}}",
    "python": "def transform(records):\n    return [record['{{f0}}'] > {{policy}} for record in records]",
}
HEADERS = {
    "sql": '[result]\ncolumns = ["a"]\norder = "ordered"\n[[tables]]\nname = "c"\n',
    "python": "[records]\n",
}
COLUMNS = {
    "wide text": 'generator = "text"\nalphabet = "\U0001f600\U0001f601"\nlength = [64, 64]\nnear_candidates = 1',
    "escaped text": 'generator = "text"\nalphabet = \'"\\\'\nlength = [64, 64]\nnear_candidates = 1',
    "choice": f'generator = "choice"\nvalues = ["{"x" * 300}"]\nduplicate_share = 0.5',
    "number": 'generator = "serial"\nstart = 1000000000000',
    "tokens": 'generator = "tokens"\nwords = ["\U0001f600"]\nlength = [64, 64]\nnear_candidates = 1',
}
NESTED = {
    "json": f'generator = "json"\nvalues = [\'["{"x" * 50}"]\']',
    "list": 'generator = "list"\nlength = [64, 64]\nitem = { generator = "serial", start = 1000000000000 }',
    "record": f'generator = "record"\nfields = [{{ name = "{"x" * 24}", generator = "boolean" }}]',
    "list of records": (
        'generator = "list"\nlength = [20, 20]\nitem = { generator = "record", fields = '
        '[{ name = "x", generator = "serial" }, { name = "y", generator = "text", alphabet = "\U0001f600", '
        "length = [9, 9], near_candidates = 1 }] }"
    ),
}
"""Python only."""


def a_shape(domain: str, column: str, *, row_count: int, field_count: int) -> str:
    kind = "tables.columns" if domain == "sql" else "records.fields"
    columns = COLUMNS | NESTED
    fields = "".join(f'[[{kind}]]\nname = "f{number}"\n{columns[column]}\n' for number in range(field_count))
    reworded = PROGRAMS[domain].replace("> {{policy}}", ">= {{policy}}")
    pool = ", ".join(f'"{letter * 32}"' for letter in "\U0001f600\U0001f601\U0001f602\U0001f603")
    return (
        f'format = 1\nid = "{domain}-large"\ndomain = "{domain}"\ntitle = "Large"\n'
        f'[candidates]\ntype = "string"\npool = [{pool}]\n'
        f'[vocabulary]\nf0 = ["f0", "{"g" * 24}"]\n'
        f'[rings.R0]\ntask = "the policy value"\nprogram = """{PROGRAMS[domain]}"""\n'
        f'[rings.R1]\ntask = "policy value, the"\nprogram = """{reworded}"""\n'
        f"{HEADERS[domain]}rows = [{row_count}, {row_count}]\n{fields}"
    )


def largest(domain: str, column: str) -> Shape:
    """Return the shape with the most rows that is still read."""
    for row_count in range(200, 0, -1):
        try:
            return parse_shape(a_shape(domain, column, row_count=row_count, field_count=12), source="x.toml")
        except ShapeError as error:
            assert "bytes" in error.rule
    raise AssertionError("no shape is small enough")


def a_family(shape: Shape) -> Construction:
    slot = FamilySlot(shape.id, Condition.C0, 0)
    return construct(shape, slot, families_per_cell=4, public_seed=b"p" * 16, private_seed=b"s" * 32)


@pytest.mark.parametrize(
    ("domain", "column"), [*itertools.product(PROGRAMS, COLUMNS), *(("python", each) for each in NESTED)]
)
def test_the_largest_shape_that_is_read_fits_a_job(domain: str, column: str) -> None:
    """Its frame is what the sandbox takes; SQLite's pages are larger than the values in them."""
    shape = largest(domain, column)
    exact, reworded, _ = a_family(shape).forms

    frame = encode_job(
        exact.fixtures,
        [program.encode() for program in exact.programs + reworded.programs],
        sequence=1,
        domain=DomainCode.SQL if domain == "sql" else DomainCode.PYTHON,
        is_ordered=True,
        limits=Limits(),
    )

    assert len(frame) < JOB_BYTES_MAX


@pytest.mark.parametrize("column", COLUMNS | NESTED)
def test_no_fixture_is_larger_than_foreseen(column: str) -> None:
    """An estimate that is too low would let a stream end in the middle."""
    shape = largest("python", column)

    foreseen = fixture_bytes_max(shape)

    assert all(
        len(fixture) <= foreseen and json.loads(fixture) for form in a_family(shape).forms for fixture in form.fixtures
    )


@pytest.mark.parametrize(("domain", "field"), [("sql", "tables"), ("python", "records.rows")])
def test_a_shape_too_large_for_a_job_is_refused_by_field(domain: str, field: str) -> None:
    """Found at certification it was a fault of the server, without a line."""
    text = a_shape(domain, "wide text", row_count=200, field_count=12)

    with pytest.raises(ShapeError) as caught:
        parse_shape(text, source="x.toml")

    assert caught.value.field == field
    assert "fixture at most 491520 bytes" in caught.value.rule
