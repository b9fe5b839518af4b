"""The tree of evidence that a study leaves: what is in it, and that no byte of it changes without being found."""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale.errors import IntegrityError
from leakscale.evidence import Status, read_steps
from leakscale.evidence.checks.regeneration import read_shapes
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.steps import STEP_NAMES
from leakscale.evidence.tree import EvidenceTree
from leakscale.evidence.verifying import Expectations, check_manifest

from .evidence_trees import flipped, listed_anew, replaced, writable


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
    with pytest.raises(IntegrityError, match=f"the study keeps .*{kept}"):
        check_manifest(copy.root, Expectations(study=finished))


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
