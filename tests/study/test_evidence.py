"""The tree of evidence that a study leaves: whole or not there, never changed, and found out where somebody did."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale.digests import canonical_json
from leakscale.errors import ConflictError, IntegrityError
from leakscale.evidence import Status, Step, read_steps
from leakscale.evidence.building import build_tree
from leakscale.evidence.checks.regeneration import read_shapes
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.manifest import Manifest, digest_files, write_manifest
from leakscale.evidence.steps import STEP_NAMES
from leakscale.evidence.tree import EvidenceTree
from leakscale.evidence.verifying import Expectations, check_manifest, verify_tree
from leakscale.report.findings import read_findings
from leakscale.results import disclosure_from_json

from .helpers import demo_here


@pytest.fixture(scope="module")
def tree(finished: Path) -> Path:
    """The tree of the finished study. Tests look at it and change nothing."""
    return finished / "evidence"


@pytest.fixture
def copy(tree: Path, tmp_path: Path) -> EvidenceLayout:
    """A copy that may be changed."""
    return EvidenceLayout(writable(tree, tmp_path / "evidence"))


def writable(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def listed_anew(layout: EvidenceLayout) -> EvidenceLayout:
    """Write the manifest again, as somebody does who changed a file on purpose."""
    manifest = Manifest.from_json(layout.manifest.read_bytes())
    write_manifest(layout, Manifest(manifest.study, digest_files(layout), manifest.private))
    return layout


def failed(steps: list[Step]) -> dict[str, str]:
    return {step.name: step.message for step in steps if step.status is Status.FAILS}


def test_a_finished_study_has_evidence_that_holds(
    finished: Path, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nine steps in the papers' order, each with what it looked at; exit code 0."""
    code = run(["verify", str(finished), "--json"])

    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["verdict"] == "holds"
    assert tuple(step["name"] for step in found["steps"]) == STEP_NAMES
    assert all(step["checked"] > 0 for step in found["steps"])
    assert [(step.name, step.status) for step in read_steps(tree / "audits" / "verification.json")] == [
        (name, Status.HOLDS) for name in STEP_NAMES
    ]


def test_shapes_are_built_in_the_order_of_the_study(tree: Path) -> None:
    """Decoys are of the first shapes: in another order the corpus would be another one."""
    sources = [shape.source for shape in read_shapes(EvidenceTree(tree))]

    assert sources == ["sql/threshold.toml", "python/prefix.toml"]
    assert sources != sorted(sources)


def test_a_tree_is_read_only_and_has_no_links(tree: Path) -> None:
    """Nobody changes it by mistake, and it is whole wherever it is copied to."""
    files = [path for path in tree.rglob("*") if not path.is_dir()]

    assert {stat.S_IMODE(path.lstat().st_mode) for path in files} == {0o444}
    assert not any(path.is_symlink() for path in files)
    assert {path.parent.name for path in tree.glob("*/*")} >= {"source", "training", "banks", "analysis", "audits"}


def test_a_flipped_byte_in_any_file_is_found_and_the_file_named(copy: EvidenceLayout) -> None:
    """Also in the two files that the manifest cannot list: itself, and its own digest."""
    names = [*copy.files(), "manifest.json", "manifest.sha256"]
    assert len(names) > 70
    check_manifest(copy.root, Expectations())

    for name in names:
        path = copy.root / name
        content = path.read_bytes()
        for place in {0, len(content) // 2, len(content) - 1}:
            path.write_bytes(flipped(content, place))
            with pytest.raises(IntegrityError) as caught:
                check_manifest(copy.root, Expectations())
            assert name in str(caught.value), f"byte {place} of {name}"
        path.write_bytes(content)
    check_manifest(copy.root, Expectations())


def test_a_file_more_or_less_is_found(copy: EvidenceLayout) -> None:
    """A tree is what its manifest lists, no less and no more."""
    (copy.banks / "more.txt").write_text("more")
    with pytest.raises(IntegrityError, match=r"banks/more\.txt: the manifest does not list it"):
        check_manifest(copy.root, Expectations())
    (copy.banks / "more.txt").unlink()

    copy.seeds.unlink()
    with pytest.raises(IntegrityError, match=r"audits/seeds\.json: it is missing, SHA-256 [0-9a-f]{64} is expected"):
        check_manifest(copy.root, Expectations())

    copy.seeds.symlink_to(copy.study)
    with pytest.raises(IntegrityError, match=r"audits/seeds\.json: it is no regular file"):
        check_manifest(copy.root, Expectations())


def test_whoever_lists_a_changed_file_anew_is_found_by_the_digest_that_was_kept(
    copy: EvidenceLayout, finished: Path, tree: Path
) -> None:
    """The manifest and the digest beside it agree with the change; what was printed and kept does not."""
    kept = hashlib.sha256((tree / "manifest.json").read_bytes()).hexdigest()
    copy.crate.write_bytes(copy.crate.read_bytes().replace(b"Evidence of", b"Evidence  of"))
    listed_anew(copy)

    check_manifest(copy.root, Expectations())
    with pytest.raises(IntegrityError, match=f"the digest that was kept is {kept}"):
        check_manifest(copy.root, Expectations(manifest_digest=kept))
    with pytest.raises(IntegrityError, match=f"the study keeps {kept}"):
        check_manifest(copy.root, Expectations(study=finished))


def replaced(name: str, old: str, new: str) -> Callable[[EvidenceLayout], None]:
    """Change the first occurrence of a text in a file."""

    def change(layout: EvidenceLayout) -> None:
        path = layout.root / name
        content = path.read_text(encoding="utf-8")
        assert old in content
        path.write_text(content.replace(old, new, 1), encoding="utf-8")

    return change


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


def test_what_a_study_says_beside_its_tree_is_compared(finished: Path, tmp_path: Path) -> None:
    """The report prints the study's copies, and the evidence's word for them."""
    study = tmp_path / "study"
    shutil.copytree(finished, study)
    path = study / "provenance.json"
    path.write_text(path.read_text().replace('"certified_count": 16', '"certified_count": 17'))

    steps = verify_tree(study / "evidence", Expectations(study=study))
    with pytest.raises(IntegrityError, match="is not what the study's evidence has"):
        read_findings(study)

    assert failed(steps)["manifest"].startswith("provenance.json of the study: it is not what the tree has")


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


def test_a_private_file_is_held_against_its_commitment_where_it_is_at_hand(finished: Path, tmp_path: Path) -> None:
    """A tree shows neither tensors nor key; the study that has them can show that they are the ones."""
    study = writable(finished, tmp_path / "study")
    content = (study / "evidence" / "manifest.json").read_text()
    assert hashlib.sha256((study / "holder.key").read_bytes()).hexdigest() not in content
    assert "3 of 3 private files opened" in check_manifest(study / "evidence", Expectations(study=study)).what

    (study / "holder.key").write_bytes(bytes(32))

    with pytest.raises(IntegrityError, match=r"holder\.key: it opens to commitment .* the private file was changed"):
        check_manifest(study / "evidence", Expectations(study=study))


def test_what_could_not_be_checked_is_said_and_ends_with_2(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the server's package nothing is built again, and the tables that rest on it are not computed."""
    monkeypatch.setitem(sys.modules, "sqlglot", None)

    code = run(["verify", str(tree), "--json"])

    steps = {step["name"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert code == 2
    assert {name for name, step in steps.items() if step["status"] == "unchecked"} == {"regeneration", "analysis"}
    assert "pip install 'leakscale[server]'" in steps["regeneration"]["message"]


def test_evidence_that_fails_ends_with_1(copy: EvidenceLayout, capsys: pytest.CaptureFixture[str]) -> None:
    """A script tells wrong from incomplete by the exit code alone."""
    replaced("analysis/summary.json", '"seed": 7', '"seed": 8')(copy)

    code = run(["verify", str(copy.root)])

    assert code == 1
    assert "✗ manifest: stopped at its first fault\n  analysis/summary.json: its SHA-256 is" in capsys.readouterr().out


def test_a_key_of_somebody_else_is_told_apart(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tree made up from nothing, with a server of its own, holds together; the key says whose it is not."""
    code = run(["verify", str(tree), "--public-key", "0" * 64, "--json"])

    steps = {step["name"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert code == 1
    assert steps["signatures"]["status"] == "fails"
    assert "not of 000000" in steps["signatures"]["message"]


def test_nothing_is_overwritten(finished: Path, tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second tree needs another name, and says the same."""
    export = str(tree / "source" / "server")

    refused = run(["evidence", "build", str(finished), "--export", export])
    error = capsys.readouterr().err
    built = run(["evidence", "build", str(finished), "--export", export, "--output", str(tmp_path / "again")])

    assert refused == 4
    assert "evidence overwrites nothing; name another --output" in error
    assert built == 0
    again, first = (Manifest.from_json((each / "manifest.json").read_bytes()) for each in (tmp_path / "again", tree))
    differing = {name for name in first.files if first.files[name] != again.files.get(name)}
    assert differing <= {"ro-crate-metadata.json", "audits/verification.json"}
    assert first.private != again.private


def test_a_tree_that_was_interrupted_is_not_there_and_made_anew(
    finished: Path, tree: Path, tmp_path: Path, summary: dict[str, Any]
) -> None:
    """Ctrl-C at any moment leaves a whole tree or none."""
    output = tmp_path / "tree"

    def interrupted(root: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_tree(finished, output, summary=summary, export=interrupted)
    assert not output.exists()
    assert (tmp_path / "tree.partial").is_dir()

    built = build_tree(
        finished, output, summary=summary, export=lambda root: shutil.copytree(tree / "source" / "server", root)
    )

    assert failed(list(built.steps)) == {}
    assert not (tmp_path / "tree.partial").exists()
    with pytest.raises(ConflictError, match="overwrites nothing"):
        build_tree(finished, output, summary=summary, export=interrupted)


def test_a_tree_deletes_nothing_that_lies_where_it_is_made(
    finished: Path, tmp_path: Path, summary: dict[str, Any]
) -> None:
    """`tree.partial` may be somebody's own."""
    (tmp_path / "tree.partial").mkdir()
    (tmp_path / "tree.partial" / "notes").write_bytes(b"mine")

    with pytest.raises(ConflictError, match=r"tree\.partial' is needed for unfinished work"):
        build_tree(finished, tmp_path / "tree", summary=summary, export=lambda root: None)

    assert (tmp_path / "tree.partial" / "notes").read_bytes() == b"mine"


def test_a_study_killed_after_its_tree_goes_on_with_the_numbers_of_the_tree(
    finished: Path, small_study: Path, tmp_path: Path
) -> None:
    """The time at which it ended is one of them: a second tree would be another one."""
    study = tmp_path / "run"
    shutil.copytree(finished, study)
    (study / "summary.json").unlink()

    assert demo_here("--study", str(small_study), "--out", str(study)) == 0

    for name in ("manifest.json", "manifest.sha256"):
        assert (study / "evidence" / name).read_bytes() == (finished / "evidence" / name).read_bytes()
    assert json.loads((study / "summary.json").read_text()) == json.loads((finished / "summary.json").read_text())
    assert (study / "provenance.json").read_bytes() == (finished / "provenance.json").read_bytes()


def test_pandas_and_duckdb_open_the_answers_directly(tree: Path) -> None:
    """Whoever looks at the answers needs nothing of ours."""
    import importlib

    pandas, duckdb = importlib.import_module("pandas"), importlib.import_module("duckdb")
    frame = pandas.read_parquet(tree / "banks" / "answers.parquet")
    by_sql = duckdb.sql(
        f"SELECT bank, count(*), count(choice) FROM '{tree}/banks/answers.parquet' GROUP BY bank ORDER BY bank"
    ).fetchall()
    lines = duckdb.sql(f"SELECT count(*) FROM '{tree}/banks/*.results.jsonl' WHERE family_id IS NOT NULL").fetchall()

    assert len(frame) == 128
    assert set(frame["state"]) == {"base", "adapted"}
    assert by_sql == [(bank, 32, 32) for bank in ("python-adapted", "python-base", "sql-adapted", "sql-base")]
    assert lines == [(128,)]
    for path in (tree / "analysis").glob("*.parquet"):
        assert len(pandas.read_parquet(path).columns) >= 1


def test_the_tree_is_an_ro_crate(tree: Path) -> None:
    """RO-Crate 1.1: a descriptor, a root with name, description, date and license, and every file once."""
    crate = json.loads((tree / "ro-crate-metadata.json").read_bytes())
    entities = {entity["@id"]: entity for entity in crate["@graph"]}

    assert len(entities) == len(crate["@graph"])
    assert crate["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert (descriptor["@type"], descriptor["about"]) == ("CreativeWork", {"@id": "./"})
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert root["@type"] == "Dataset"
    assert all(root[name] for name in ("name", "description", "datePublished", "license"))
    files = {name for name, entity in entities.items() if entity["@type"] == "File"}
    on_disk = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert files == on_disk - {"ro-crate-metadata.json"}
    assert set(parts(entities, "./")) == {*files, "source/", "training/", "banks/", "analysis/", "audits/"}


def parts(entities: dict[str, Any], name: str) -> Iterator[str]:
    for part in entities[name].get("hasPart", ()):
        yield part["@id"]
        yield from parts(entities, part["@id"])


def test_an_opened_study_is_proved_from_its_results_by_family(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its edition is retired: the openings are in the tree, and every answer is scored again with them."""
    study = tmp_path / "study"
    shutil.copytree(finished, study)

    assert run(["study", "open", str(study), "--backend", "bubblewrap"]) == 0
    output = tmp_path / "opened"
    assert run(["evidence", "build", str(study), "--output", str(output), "--backend", "bubblewrap"]) == 0

    layout = EvidenceLayout(output)
    assert json.loads(layout.basis.read_bytes()) == {"basis": "results"}
    assert layout.server.openings("small").is_file()
    changed = EvidenceLayout(writable(output, tmp_path / "changed"))
    another_result(changed)
    listed_anew(changed)
    assert "banks/results.parquet row" in failed(verify_tree(changed.root))["analysis"]


def another_result(layout: EvidenceLayout) -> None:
    """Move a right answer from one family to another of its cell: no total changes."""
    import pyarrow as arrow
    from pyarrow import parquet

    path = layout.results()
    assert path is not None
    table = parquet.read_table(path)
    cells = list(zip(*(table[name].to_pylist() for name in ("domain", "condition", "state", "draw")), strict=True))
    families, correct = table["family"].to_pylist(), table["correct"].to_pylist()
    one, other = next(
        (one, other)
        for one in range(len(cells))
        for other in range(len(cells))
        if cells[one] == cells[other] and families[one] != families[other] and (correct[one], correct[other]) == (1, 0)
    )
    correct[one], correct[other] = 0, 1
    at = table.column_names.index("correct")
    parquet.write_table(table.set_column(at, "correct", arrow.array(correct, arrow.int64())), path)


def test_of_a_private_edition_the_tree_says_what_stays_sealed(
    finished: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its truth was drawn by the server; shapes that do not ship are committed to and stay with the study."""
    monkeypatch.setattr(
        "leakscale.evidence.tree.disclosure_from_json",
        lambda text: dataclasses.replace(disclosure_from_json(text), edition_kind="private"),
    )
    study = tmp_path / "study"
    shutil.copytree(finished, study)
    shape = study / "shapes" / "sql" / "threshold.toml"
    shape.write_text(shape.read_text() + "# my own\n")
    marker = json.loads((study / "study.json").read_text())
    marker["study"]["edition"]["kind"] = "private"
    marker["study"]["shapes"]["sql/threshold.toml"] = hashlib.sha256(shape.read_bytes()).hexdigest()
    (study / "study.json").write_text(json.dumps(marker))

    built = build_tree(
        study,
        study / "again",
        summary=json.loads((study / "summary.json").read_text()),
        export=lambda root: shutil.copytree(tree / "source" / "server", root),
    )

    steps = {step.name: step for step in built.steps}
    assert not (built.root / "source" / "shapes" / "sql").exists()
    assert (built.root / "source" / "shapes" / "python" / "prefix.toml").is_file()
    assert "shapes/sql/threshold.toml" in Manifest.from_json((built.root / "manifest.json").read_bytes()).private
    assert steps["regeneration"].status is Status.HOLDS
    assert "commitments are opened when the edition is retired" in steps["regeneration"].message
    assert "shown when the edition is retired" in steps["balance"].message
    assert "in memory alone" in steps["leakage"].message
    assert steps["inference chain"].status is Status.HOLDS
    alone = {step.name: step for step in verify_tree(built.root)}
    assert alone["regeneration"].status is Status.UNCHECKED
    assert "shape file 'sql/threshold.toml' is private" in alone["regeneration"].message
    assert canonical_json({"basis": "released"}) == EvidenceLayout(built.root).basis.read_bytes()


def test_a_recipe_that_is_not_there_leaves_the_corpus_unchecked(copy: EvidenceLayout) -> None:
    """It would otherwise be enough to name one, and no corpus would be written again."""
    replaced("source/study.json", '"background":null', '"background":"none.toml"')(copy)
    listed_anew(copy)

    (leakage,) = (step for step in verify_tree(copy.root) if step.name == "leakage")

    assert leakage.status is Status.UNCHECKED
    assert "'none.toml'" in leakage.message


@pytest.mark.parametrize(("name", "content"), [("summary.json", "{"), ("summary.json", "[]"), ("study.json", "{}")])
def test_a_damaged_study_gives_no_tree_and_one_line(
    finished: Path, tmp_path: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the study's name, and no word of a fault in this program."""
    study = tmp_path / "study"
    shutil.copytree(finished, study)
    (study / name).write_text(content)
    export = study / "evidence" / "source" / "server"

    code = run(["evidence", "build", str(study), "--output", str(tmp_path / "tree"), "--export", str(export)])

    assert code == 1
    assert "damaged" in capsys.readouterr().err
    assert not (tmp_path / "tree").exists()
