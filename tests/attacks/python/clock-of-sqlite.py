# kind: clock
# aim: ask another clock of the worker: SQLite's, from Python
# proof: SQLite answered, and told the stopped day
# expect: returned true
# machine: x86_64

import sqlite3, time


def transform(records):
    told = sqlite3.connect(":memory:").execute("SELECT strftime('%Y-%m-%d %H', 'now')").fetchone()[0]
    return told == time.strftime("%Y-%m-%d %H")
