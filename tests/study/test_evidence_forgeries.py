"""What was changed in a tree and listed anew is found by the step that it is about, and no file ends a verification."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from leakscale.evidence import Status
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.steps import STEP_NAMES
from leakscale.evidence.verifying import verify_tree

from .evidence_trees import failed, listed_anew, replaced


def another_answer(layout: EvidenceLayout) -> None:
    """Exchange the texts of two results that differ."""
    path = layout.bank("sql-base").results
    lines = path.read_bytes().splitlines(keepends=True)
    texts = [json.loads(line).get("text") for line in lines]
    place = next(at for at in range(2, len(lines)) if texts[at] != texts[1] and at <= 4)
    swapped = [{**json.loads(lines[at]), "text": texts[1 + place - at]} for at in (1, place)]
    for at, fields in zip((1, place), swapped, strict=True):
        lines[at] = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(b"".join(lines))


def another_choice(layout: EvidenceLayout) -> None:
    """Say of one answer in the table that it chose another candidate."""
    import pyarrow as arrow
    from pyarrow import parquet

    table = parquet.read_table(layout.answers)
    choices = table["choice"].to_pylist()
    choices[5] = (choices[5] + 1) % 4
    at = table.column_names.index("choice")
    parquet.write_table(table.set_column(at, "choice", arrow.array(choices, arrow.int8())), layout.answers)


def another_total(layout: EvidenceLayout) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    path = layout.analysis / "11-integer-totals.parquet"
    table = parquet.read_table(path)
    correct = [value + 1 for value in table["correct"].to_pylist()]
    at = table.column_names.index("correct")
    parquet.write_table(table.set_column(at, "correct", arrow.array(correct)), path)


def two_certificates_swapped(layout: EvidenceLayout) -> None:
    lines = layout.certificates.read_bytes().splitlines(keepends=True)
    layout.certificates.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))


def another_public_byte(layout: EvidenceLayout) -> None:
    """Change the task of a family in the frozen edition."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(layout.server.edition("small"))) as connection, connection:
        connection.execute("UPDATE forms SET public = replace(public, 'task\":\"', 'task\":\"x') WHERE ring = 'R0'")


FORGERIES: dict[str, tuple[Callable[[EvidenceLayout], None], str, str]] = {
    "a shape": (replaced("source/shapes/sql/threshold.toml", "\n", "\n\n"), "regeneration", "SHA-256"),
    "a seed": (replaced("audits/seeds.json", '"study":7', '"study":8'), "regeneration", "audits/seeds.json"),
    "a task": (another_public_byte, "regeneration", "source/server/editions/small.sqlite: SHA-256 of f-"),
    "a canary": (
        replaced("analysis/tables.txt", "Table", f"lsk-canary-{'0' * 32}"),
        "leakage",
        "analysis/tables.txt line 1: a canary",
    ),
    "an occurrence": (
        replaced("training/completion.json", '"occurrence_count": 0', '"occurrence_count": 1'),
        "leakage",
        "corpus.controls.occurrence_count is 1, expected 0",
    ),
    "a corpus": (replaced("training/completion.json", '"corpus": "', '"corpus": "0'), "leakage", "identity.corpus"),
    "an idle adapter": (
        replaced("training/completion.json", '"activity": 0.', '"activity": 0.00000000'),
        "adapter activity",
        "diagnostics.activity is",
    ),
    "a loss": (
        replaced("training/losses.jsonl", '"step": 4, "loss": ', '"step": 4, "loss": 1'),
        "adapter activity",
        "losses.jsonl: mean of",
    ),
    "an answer": (another_answer, "inference chain", "'banks/sql-base.results.jsonl' line 2 has a result of case 0"),
    "a choice": (another_choice, "inference chain", "banks/answers.parquet row 5: choice is"),
    "a receipt": (
        replaced("banks/sql-base.receipt.json", '"case_count":32', '"case_count":31'),
        "completion",
        "banks/sql-base.receipt.json: case_count is 31, expected 32",
    ),
    "a ledger entry": (
        replaced("source/server/ledger.jsonl", "bank-sealed", "bank-opened"),
        "signatures",
        "source/server/ledger.jsonl: each entry has its leaf and its place: line",
    ),
    "a plan": (
        replaced("source/plan.json", '"resample_count":200', '"resample_count":201'),
        "signatures",
        "source/plan.json: SHA-256, by the ledger,",
    ),
    "certificates": (two_certificates_swapped, "signatures", "source/certificates.jsonl line 1: it is not"),
    "a disclosure": (replaced("audits/disclosure.json", "practice", "private"), "signatures", "not the signed ones"),
    "a number of a table": (
        replaced("analysis/11-integer-totals.csv", ",16,", ",17,"),
        "analysis",
        "analysis/11-integer-totals.csv line 2 is",
    ),
    "a number of a table's columns": (
        another_total,
        "analysis",
        "analysis/11-integer-totals.parquet row 0: correct is",
    ),
    "a number of the summary": (
        replaced("analysis/summary.json", '"valid_answers": 128', '"valid_answers": 127'),
        "analysis",
        "analysis/summary.json: counts.valid_answers is 127, expected 128",
    ),
    "a field of the summary that is there twice": (
        replaced("analysis/summary.json", '{\n  "format": 1', '{\n  "study": "other",\n  "format": 1'),
        "analysis",
        "analysis/summary.json: field 'study' is there twice",
    ),
    "how often the study repeats": (
        replaced("source/study.json", '"repeat_count":2', '"repeat_count":200'),
        "adapter activity",
        "training/completion.json: config.repeat_count is 2, expected 200",
    ),
    "the floor that was registered": (
        replaced("source/study.json", '"families_min":512', '"families_min":128'),
        "signatures",
        "source/plan.json: content is",
    ),
    "practice, told as private": (
        replaced("source/study.json", '"kind":"practice"', '"kind":"private"'),
        "regeneration",
        "source/study.json: edition.kind is",
    ),
    "a number of the provenance": (
        replaced("analysis/provenance.json", '"certified_count": 16', '"certified_count": 17'),
        "analysis",
        "analysis/provenance.json: certified_count is 17, expected 16",
    ),
}
"""What somebody changes who lists it anew, the step that finds it, and what it says."""


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_was_changed_and_listed_anew_is_found_by_the_step_that_it_is_about(
    copy: EvidenceLayout, forgery: str
) -> None:
    """The manifest holds then; what follows from other files does not follow any more."""
    change, step, words = FORGERIES[forgery]
    change(copy)
    listed_anew(copy)

    found = failed(verify_tree(copy.root))

    assert "manifest" not in found
    assert words in found.get(step, ""), found
    if step not in {"leakage", "signatures"} and "twice" not in words:
        assert "expected" in found[step]


def without_verification(layout: EvidenceLayout) -> None:
    layout.verification.unlink()


def strange(name: str) -> Callable[[EvidenceLayout], None]:
    def change(layout: EvidenceLayout) -> None:
        (layout.root / name).write_text("{}")

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_verification, "audits/verification.json: the file is missing"),
        (replaced("audits/verification.json", '"checked":16', '"checked":1000000'), "checked is 1000000, expected 16"),
        (replaced("ro-crate-metadata.json", "Dataset", "Dataset!"), "it does not describe this tree"),
        (strange("banks/extra.csv"), "banks/extra.csv: no step checks such a file"),
        (strange("audits/effects.json"), "audits/effects.json: no step checks such a file"),
        (strange("source/shapes/sql/more.toml"), "source/shapes/sql/more.toml: no step checks such a file"),
    ],
    ids=["no verification", "verification", "crate", "a bank's", "an audit", "a shape"],
)
def test_what_a_tree_says_of_itself_is_checked_too(
    copy: EvidenceLayout, change: Callable[[EvidenceLayout], None], words: str
) -> None:
    """The report's list of checks is drawn from it, and a file that nobody checks would pass for evidence."""
    change(copy)
    listed_anew(copy)

    assert words in failed(verify_tree(copy.root))["manifest"]


def test_a_tree_with_a_pipe_or_a_device_is_not_read(copy: EvidenceLayout) -> None:
    """Reading either would never end."""
    os.mkfifo(copy.root / "audits" / "pipe")
    (copy.root / "audits" / "zero").symlink_to("/dev/zero")

    steps = verify_tree(copy.root)

    assert failed(steps) == {
        "manifest": "audits/pipe: it is no regular file, and a tree has nothing else; remove it",
    }
    assert {step.status for step in steps[1:]} == {Status.UNCHECKED}


def test_a_file_nested_without_end_fails_its_step(copy: EvidenceLayout) -> None:
    """As any damaged file; the others are read."""
    copy.summary.write_text('{"a":' * 200_000)
    listed_anew(copy)

    found = failed(verify_tree(copy.root))

    assert found["analysis"] == "analysis/summary.json: it is nested too deep"
    assert "signatures" not in found


DAMAGED = [
    "source/study.json",
    "source/plan.json",
    "source/certificates.jsonl",
    "source/server/head.json",
    "source/server/ledger.jsonl",
    "source/server/editions/small.sqlite",
    "source/server/disclosures/small.json",
    "training/completion.json",
    "training/losses.jsonl",
    "banks/sql-base.plan.jsonl",
    "banks/sql-base.attempts.jsonl",
    "banks/sql-base.results.jsonl",
    "banks/sql-base.binding.json",
    "banks/sql-base.receipt.json",
    "banks/answers.parquet",
    "analysis/basis.json",
    "analysis/analysis.json",
    "analysis/11-integer-totals.parquet",
    "audits/disclosure.json",
    "audits/seeds.json",
]


@pytest.mark.parametrize(
    ("name", "content"), [*((name, b'{"\xff') for name in DAMAGED), ("banks/sql-base.plan.jsonl", b"")]
)
def test_a_damaged_file_fails_by_its_name_and_ends_nothing_early(
    copy: EvidenceLayout, name: str, content: bytes
) -> None:
    """All nine steps are told whatever a reader makes of the file; one of them names it."""
    (copy.root / name).write_bytes(content)
    listed_anew(copy)

    steps = verify_tree(copy.root)

    assert tuple(step.name for step in steps) == STEP_NAMES
    found = failed(steps)
    assert any(name in message or Path(name).name in message for message in found.values()), found


def test_a_recipe_that_is_not_there_leaves_the_corpus_unchecked(copy: EvidenceLayout) -> None:
    """It would otherwise be enough to name one, and no corpus would be written again."""
    replaced("source/study.json", '"background":null', '"background":"none.toml"')(copy)
    listed_anew(copy)

    (leakage,) = (step for step in verify_tree(copy.root) if step.name == "leakage")

    assert leakage.status is Status.UNCHECKED
    assert "'none.toml'" in leakage.message
