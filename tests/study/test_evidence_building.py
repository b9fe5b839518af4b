"""A study gives a tree, whole or not at all: finished, interrupted, killed, opened, private or damaged."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale.digests import canonical_json
from leakscale.errors import ConflictError, IntegrityError
from leakscale.evidence import Status
from leakscale.evidence.building import build_tree
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.manifest import Manifest
from leakscale.evidence.verifying import Expectations, verify_tree
from leakscale.report.findings import read_findings
from leakscale.results import disclosure_from_json

from .evidence_trees import failed, listed_anew, writable
from .helpers import demo_here


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
    error = capsys.readouterr().err
    assert f"'{study / name}'" in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "tree").exists()
