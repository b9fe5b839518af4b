"""Shapes whose tables are given, in every form in which they may be."""

from __future__ import annotations

import json

from leakscale.models import Condition
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.shapes import parse_shape

SQL_ROWS = [[(number, f"o'{number}", number * 1.5 + shift) for number in range(6)] for shift in range(8)]


PYTHON_ROWS = [[{"size": number, "tags": ["a", {"size": shift}]} for number in range(8)] for shift in range(16)]


def sql_fixture(index: int, kind: str = "sql") -> str:
    """One fixture of the SQL shape in one of its forms."""
    rows = SQL_ROWS[index]
    if kind == "sql":
        values = ", ".join(f"({id_}, '{label.replace(chr(39), 2 * chr(39))}', {amount})" for id_, label, amount in rows)
        return f'sql = """INSERT INTO orders VALUES {values};"""'
    if kind == "csv":
        lines = "".join(f"{amount},{id_},{label}\\n" for id_, label, amount in rows)
        return f'csv = {{ orders = "amount,id,label\\n{lines}" }}'
    rows_by_column = [{"id": id_, "label": label, "amount": amount} for id_, label, amount in rows]
    return f"json = {json.dumps(json.dumps({'orders': rows_by_column}))}"


def sql_shape(kind: str = "sql", *, outputs: bool = False, **changes: str) -> str:
    """An SQL shape with eight explicit fixtures."""
    bounds = (1, 3, 6, 8)

    def output(index: int) -> str:
        kept = [[[id_] for id_, _, amount in SQL_ROWS[index] if amount >= bound] for bound in bounds]
        return f"outputs = {json.dumps([json.dumps(rows) for rows in kept])}\n" if outputs else ""

    fixtures = "".join(f"[[fixtures]]\n{sql_fixture(index, kind)}\n{output(index)}\n" for index in range(8))
    text = f"""\
format = 1
id = "sql-given"
domain = "sql"
title = "Given"

[candidates]
type = "integer"
pool = [1, 3, 6, 8]

[vocabulary]
orders = ["orders", "sales"]
amount = ["amount", "price"]

[[tables]]
name = "orders"
columns = [
    {{ name = "id", generator = "given", type = "integer" }},
    {{ name = "label", generator = "given", type = "text", nullable = true }},
    {{ name = "amount", generator = "given", type = "decimal" }},
]

{fixtures}
[rings.R0]
task = "List id of {{{{orders}}}} of {{{{amount}}}} at least the policy value, in order."
program = "SELECT t.id AS id FROM {{{{orders}}}} AS t WHERE t.{{{{amount}}}} >= {{{{policy}}}} ORDER BY t.id"

[rings.R1]
task = "Which ids of {{{{orders}}}} reach the policy value? In order, please."
program = "SELECT t.id AS id FROM {{{{orders}}}} AS t WHERE NOT t.{{{{amount}}}} < {{{{policy}}}} ORDER BY 1"

[result]
columns = ["id"]
order = "ordered"
"""
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def python_shape(*, outputs: bool = False) -> str:
    """A Python shape with sixteen explicit fixtures and four whole programs."""

    def fixture(index: int) -> str:
        stated = [json.dumps([{"size": bound, "shift": index}]) for bound in range(4)]
        lines = f"outputs = {json.dumps(stated)}\n" if outputs else ""
        return f"[[fixtures]]\njson = {json.dumps(json.dumps(PYTHON_ROWS[index]))}\n{lines}\n"

    body = (
        "def transform(records):\\n    tags = records[0]['tags']\\n"
        '    return [{"{{{{size}}}}": {bound}, "shift": tags[1]["{{{{size}}}}"]}]'
    )
    programs = json.dumps([body.replace("{bound}", str(bound)) for bound in range(4)]).replace("\\\\n", "\\n")
    programs = programs.replace("{{{{", "{{").replace("}}}}", "}}")
    reworded = programs.replace("return [", "return [][:] + [")
    return f"""\
format = 1
id = "python-given"
domain = "python"
title = "Given"

[candidates]
type = "json"
pool = ["null", "0", "false", "\\"x\\""]

[vocabulary]
size = ["size", "width"]

[records]
fields = [
    {{ name = "size", generator = "given", type = "integer" }},
    {{ name = "tags", generator = "given", type = "json" }},
]

{"".join(fixture(index) for index in range(16))}
[rings.R0]
task = "Return what the policy value says."
programs = {programs}

[rings.R1]
task = "The policy value says what comes back."
programs = {reworded}
"""


def a_family(text: str, ordinal: int = 0, *, attempt: int = 0) -> Construction:
    shape = parse_shape(text, source="shape.toml")
    return construct(
        shape,
        FamilySlot(shape.id, Condition.C0, ordinal),
        families_per_cell=16,
        public_seed=b"p" * 16,
        private_seed=b"s" * 32,
        attempt=attempt,
    )
