"""The manifest has one form only, lists every layer, and says nothing of private files but a commitment."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from leakscale.errors import IntegrityError
from leakscale.evidence.layout import EvidenceLayout, file_name_of
from leakscale.evidence.manifest import (
    FileEntry,
    Manifest,
    check_kept,
    commit_to,
    digest_files,
    keep,
    read_manifest,
    write_manifest,
)


def a_tree(root: Path) -> EvidenceLayout:
    """Two layers and a file in none."""
    for name, text in {"banks/a": "1", "audits/b": "22", "crate": "333"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return EvidenceLayout(root)


def test_a_manifest_digests_files_and_layers(tmp_path: Path) -> None:
    """A layer can be named by one digest, whatever becomes of the others."""
    layout = a_tree(tmp_path)

    fields = json.loads(Manifest("s", digest_files(layout)).to_json())

    assert set(fields["layers"]) == {"banks", "audits", "tree"}
    assert fields["layers"]["banks"]["files"] == {
        "banks/a": {"bytes": 1, "sha256": hashlib.sha256(b"1").hexdigest()},
    }
    (tmp_path / "audits" / "b").write_text("23")
    changed = json.loads(Manifest("s", digest_files(layout)).to_json())
    same = {name: fields["layers"][name]["sha256"] == changed["layers"][name]["sha256"] for name in fields["layers"]}
    assert same == {"banks": True, "audits": False, "tree": True}


def test_every_byte_of_a_manifest_counts(tmp_path: Path) -> None:
    """The two files that nothing lists check each other."""
    layout = a_tree(tmp_path)
    digest = write_manifest(layout, Manifest("s", digest_files(layout), {"holder.key": "00" * 32}))
    assert read_manifest(layout)[1] == digest

    for path in (layout.manifest, layout.manifest_digest):
        content = path.read_bytes()
        for place in range(len(content)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(IntegrityError, match=r"manifest\.json"):
                read_manifest(layout)
        path.write_bytes(content)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b'{"format":"leakscale-manifest-v1"}', b"\xff"])
def test_what_is_no_manifest_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    """Also where somebody wrote the digest of it beside it."""
    layout = EvidenceLayout(tmp_path)
    layout.manifest.write_bytes(content)
    layout.manifest_digest.write_text(f"{hashlib.sha256(content).hexdigest()}  manifest.json\n")

    with pytest.raises(IntegrityError, match=r"manifest\.json: "):
        read_manifest(layout)


def test_the_digest_beside_a_manifest_is_what_sha256sum_reads(tmp_path: Path) -> None:
    """Nobody needs this program to check it."""
    layout = a_tree(tmp_path)
    write_manifest(layout, Manifest("s", digest_files(layout)))

    found = hashlib.sha256(layout.manifest.read_bytes()).hexdigest()
    assert layout.manifest_digest.read_text() == f"{found}  manifest.json\n"


def test_two_commitments_to_one_file_have_nothing_in_common(tmp_path: Path) -> None:
    """Otherwise two trees would show that a private file is the same, and a guess could be tried."""
    (tmp_path / "holder.key").write_bytes(b"\x07" * 32)

    one, other = (commit_to(tmp_path, iter(["holder.key"])) for _ in range(2))

    assert one.public["holder.key"] != other.public["holder.key"]
    assert hashlib.sha256(b"\x07" * 32).hexdigest() not in {*one.public.values(), *other.public.values()}


def test_what_a_study_keeps_opens_its_commitments(tmp_path: Path) -> None:
    """And nobody else may read it."""
    (tmp_path / "holder.key").write_bytes(b"\x07" * 32)
    commitments = commit_to(tmp_path, iter(["holder.key"]))
    manifest = Manifest("s", {"a": FileEntry("00", 1)}, commitments.public)
    keep(tmp_path, "d" * 64, commitments)

    assert check_kept(tmp_path, "d" * 64, manifest) == 1
    assert (tmp_path / "evidence.kept" / f"{'d' * 64}.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "holder.key").write_bytes(b"\x08" * 32)
    with pytest.raises(IntegrityError, match="the private file was changed"):
        check_kept(tmp_path, "d" * 64, manifest)
    with pytest.raises(IntegrityError, match="the study keeps dddd"):
        check_kept(tmp_path, "e" * 64, manifest)


@pytest.mark.parametrize("source", ["/etc/a.toml", "../a.toml", "x/../../a.toml", "x\\..\\a.toml"])
def test_a_file_that_lies_elsewhere_is_kept_inside_of_the_tree(source: str) -> None:
    """A study file may come from somebody else."""
    name = file_name_of(source)

    assert name.startswith("outside/")
    assert ".." not in Path(name).parts
    assert file_name_of("sql/a.toml") == "sql/a.toml"
