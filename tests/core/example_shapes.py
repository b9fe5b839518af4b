"""One shape of each domain that breaks no rule, for tests to break one."""

from __future__ import annotations

SQL = '''\
format = 1
id = "sql-example"
domain = "sql"
title = "An example"

[candidates]
type = "integer"
range = { low = 0, high = 50, step = 1, distance = 5 }

[vocabulary]
orders = ["orders", "sales"]
amount = ["amount", "price"]

[[tables]]
name = "people"
rows = [4, 6]

[[tables.columns]]
name = "id"
generator = "serial"

[[tables]]
name = "orders"
rows = [8, 12]

[[tables.columns]]
name = "person_id"
generator = "reference"
table = "people"
column = "id"

[[tables.columns]]
name = "amount"
generator = "integer"
low = 0
high = 50
near_candidates = 0.5

[[tables.columns]]
name = "color"
generator = "choice"
values = ["red", "blue"]
null_share = 0.25

[rings.R0]
task = "List {{amount}} of {{orders}} of at least the policy value, in order."
program = """
SELECT t.{{amount}} AS {{amount}}
FROM {{orders}} AS t
WHERE t.{{amount}} >= {{policy}}
ORDER BY t.{{amount}}
"""

[result]
columns = ["amount"]
order = "ordered"

[rings.R1]
task = "Which {{amount}} of {{orders}} reach the policy value? Give them in order."
program = """
SELECT t.{{amount}} AS {{amount}}
FROM {{orders}} AS t
WHERE NOT t.{{amount}} < {{policy}}
ORDER BY 1
"""
'''

PYTHON = """\
format = 1
id = "python-example"
domain = "python"
title = "An example"

[candidates]
type = "string"
pool = ["ab", "cd", "ef", "gh", "ij"]

[records]
rows = [4, 8]

[[records.fields]]
name = "code"
generator = "text"
alphabet = "abcdefghij"
length = [2, 3]
near_candidates = 0.5

[rings.R0]
task = "Return each code that starts with the policy value."
program = '''
def transform(records):
    return [record["code"] for record in records if record["code"].startswith({{policy}})]
'''

[rings.R1]
task = "Which codes begin with the policy value?"
program = '''
def transform(records):
    return [each["code"] for each in records if each["code"].find({{policy}}) == 0]
'''

[[records.fields]]
name = "size"
generator = "serial"

[vocabulary]
size = ["size", "width"]
"""
