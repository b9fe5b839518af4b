"""The manifest of a tree: SHA-256 of every file and of every layer, and nonced commitments to what stays private.

The manifest cannot list itself. Its own SHA-256 lies beside it, which finds a byte that was changed by accident. Who
changes bytes on purpose changes both, and is found by whoever kept the digest: a study prints it at its end and keeps
it outside the tree, and `leakscale verify --manifest-digest` compares.

A private file is listed by a commitment under a nonce and without its size, so the manifest can be shown to anybody.
Who has the file and the nonce can show later that it was this one.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from leakscale.digests import canonical_json, json_digest
from leakscale.errors import IntegrityError
from leakscale.evidence.layout import KEPT_FOLDER, LAYERS, EvidenceLayout
from leakscale.inference.lines import file_digest
from leakscale.reading import fault_of, parse_json
from leakscale.whole_files import write_whole

__all__ = [
    "Commitments",
    "FileEntry",
    "Manifest",
    "check_files",
    "check_kept",
    "commit_to",
    "digest_files",
    "keep",
    "read_manifest",
    "require_regular",
    "write_manifest",
]

_FORMAT: Final = "leakscale-manifest-v1"
_TOP: Final = "tree"
"""Name of the layer of files that lie in none."""
_NONCE_BYTES: Final = 32
_TYPE: Final = b"leakscale-private-file-v1\x00"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What the manifest says of a file."""

    sha256: str
    byte_count: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a tree consists of."""

    study: str
    files: Mapping[str, FileEntry]
    """By name, relative to the tree."""
    private: Mapping[str, str] = field(default_factory=dict)
    """Hex commitment to each file that is kept outside, by its name in the study directory."""

    def to_json(self) -> bytes:
        """Write it as canonical JSON."""
        layers: dict[str, Any] = {}
        for name, entry in sorted(self.files.items()):
            layer = layers.setdefault(_layer_of(name), {"files": {}})
            layer["files"][name] = {"bytes": entry.byte_count, "sha256": entry.sha256}
        for layer in layers.values():
            layer["sha256"] = json_digest(layer["files"]).hex()
        return canonical_json({"format": _FORMAT, "study": self.study, "layers": layers, "private": dict(self.private)})

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Read what `to_json` wrote.

        Raises:
            ValueError: If it is something else, even by a byte.
        """
        try:
            fields = parse_json(content)
            if fields["format"] != _FORMAT:
                raise ValueError(f"its format is {fields['format']}, not {_FORMAT}")
            files = {
                name: FileEntry(entry["sha256"], entry["bytes"])
                for layer in fields["layers"].values()
                for name, entry in layer["files"].items()
            }
            manifest = cls(fields["study"], files, fields["private"])
            if manifest.to_json() != content:
                raise ValueError("its bytes are not the ones that were written")
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is no manifest: {fault_of(error)}") from error
        return manifest


@dataclass(frozen=True, slots=True)
class Commitments:
    """What was committed to, and what opens it."""

    public: Mapping[str, str]
    """Hex commitment by name."""
    nonces: Mapping[str, str]
    """Hex nonce by name; whoever has one can try contents."""


def commit_to(root: Path, names: Iterator[str]) -> Commitments:
    """Commit to files of a directory under fresh nonces: SHA-256(type ‖ nonce ‖ SHA-256 of the file)."""
    nonces = {name: secrets.token_bytes(_NONCE_BYTES) for name in names}
    public = {name: _commitment(root / name, nonce) for name, nonce in nonces.items()}
    return Commitments(public, {name: nonce.hex() for name, nonce in nonces.items()})


def keep(study: Path, digest: str, commitments: Commitments) -> None:
    """Keep the digest of a manifest in the directory of its study, with what opens its commitments; mode 0600."""
    path = study / KEPT_FOLDER / f"{digest}.json"
    write_whole(path, canonical_json({"manifest": digest, "nonces": dict(commitments.nonces)}))
    path.chmod(0o600)


def check_kept(study: Path, digest: str, manifest: Manifest) -> int:
    """Compare a manifest with the digests that its study keeps, and open the commitments to the files at hand.

    Returns:
        How many were opened.

    Raises:
        IntegrityError: If the study keeps digests and not this one, or a private file is another than it was.
    """
    kept = sorted(path.stem for path in (study / KEPT_FOLDER).glob("*.json"))
    if not kept:
        return 0
    if digest not in kept:
        raise IntegrityError(f"manifest.json: its SHA-256 is {digest}, and the study keeps {', '.join(kept)}")
    nonces = parse_json((study / KEPT_FOLDER / f"{digest}.json").read_bytes())["nonces"]
    opened = 0
    for name, commitment in manifest.private.items():
        path = study / name
        if not path.is_file():
            continue
        found = _commitment(path, bytes.fromhex(nonces[name]))
        if found != commitment:
            raise IntegrityError(
                f"{name}: it opens to commitment {found}, the manifest has {commitment}; the private file was changed"
            )
        opened += 1
    return opened


def require_regular(layout: EvidenceLayout) -> None:
    """See that a tree holds files and nothing else.

    Raises:
        IntegrityError: At the first link, pipe, socket or device.
    """
    own = (layout.manifest.name, layout.manifest_digest.name)
    for name in (*own, *layout.files()):
        path = layout.root / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise IntegrityError(f"{name}: it is no regular file, and a tree has nothing else; remove it")


def digest_files(
    layout: EvidenceLayout, *, advance: Callable[[int], None] = lambda count: None
) -> dict[str, FileEntry]:
    """Digest every file of a tree that a manifest lists.

    Args:
        advance: Called with the bytes that are done, at the end of each file.

    Raises:
        IntegrityError: If something in the tree is no regular file.
    """
    require_regular(layout)
    names = layout.files()
    found: dict[str, FileEntry] = {}
    done = 0
    # SHA-256 lets other threads run.
    with ThreadPoolExecutor(2) as threads:
        for name, entry in zip(names, threads.map(lambda name: _entry(layout.root / name), names), strict=True):
            found[name] = entry
            done += entry.byte_count
            advance(done)
    return found


def write_manifest(layout: EvidenceLayout, manifest: Manifest) -> str:
    """Write the manifest and its digest; return the digest in hex."""
    content = manifest.to_json()
    digest = hashlib.sha256(content).hexdigest()
    layout.manifest.write_bytes(content)
    layout.manifest_digest.write_bytes(_digest_line(digest))
    return digest


def read_manifest(layout: EvidenceLayout, *, digest: str | None = None) -> tuple[Manifest, str]:
    """Read the manifest of a tree and compare it with its digest, and with the one that somebody kept.

    Returns:
        The manifest, and its digest in hex.

    Raises:
        IntegrityError: If they differ, or either is not as it was written.
        FileNotFoundError: If one of the two is missing.
    """
    content = layout.manifest.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if digest is not None and digest != found:
        raise IntegrityError(f"manifest.json: its SHA-256 is {found}, and the digest that was kept is {digest}")
    beside = layout.manifest_digest.read_bytes()
    if beside != _digest_line(found):
        raise IntegrityError(
            f"manifest.json: its SHA-256 is {found}, and manifest.sha256 says {_shown(beside)}; one of the two was "
            "changed"
        )
    try:
        return Manifest.from_json(content), found
    except ValueError as error:
        raise IntegrityError(f"manifest.json: {error}") from error


def check_files(manifest: Manifest, found: Mapping[str, FileEntry]) -> None:
    """Hold the files of a tree against its manifest.

    Raises:
        IntegrityError: At the first that is missing, unlisted or another one.
    """
    for name in sorted(manifest.files.keys() | found.keys()):
        if name not in found:
            raise IntegrityError(f"{name}: it is missing, SHA-256 {manifest.files[name].sha256} is expected")
        if name not in manifest.files:
            raise IntegrityError(f"{name}: the manifest does not list it; nothing is added to a finished tree")
        expected, own = manifest.files[name], found[name]
        if expected != own:
            raise IntegrityError(
                f"{name}: its SHA-256 is {own.sha256} ({own.byte_count:,} bytes), expected {expected.sha256} "
                f"({expected.byte_count:,} bytes)"
            )


def _layer_of(name: str) -> str:
    first = name.partition("/")[0]
    return first if first in LAYERS and "/" in name else _TOP


def _entry(path: Path) -> FileEntry:
    return FileEntry(file_digest(path), path.stat().st_size)


def _commitment(path: Path, nonce: bytes) -> str:
    return hashlib.sha256(_TYPE + nonce + bytes.fromhex(file_digest(path))).hexdigest()


def _digest_line(digest: str) -> bytes:
    return f"{digest}  manifest.json\n".encode()


def _shown(line: bytes) -> str:
    return line[:80].decode(errors="replace").strip()
