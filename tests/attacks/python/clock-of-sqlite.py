# kind: clock
# aim: ask another clock of the worker: SQLite's, from Python
# proof: SQLite answered, and told each of the two lanes another year
# expect: returned
# lanes: differ
# machine: x86_64

import sqlite3


def transform(records):
    return sqlite3.connect(":memory:").execute("SELECT strftime('%Y', 'now')").fetchone()[0]
