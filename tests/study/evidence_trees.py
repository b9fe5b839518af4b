"""Trees of evidence as somebody leaves them who changes a file and lists it anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from leakscale.evidence import Status, Step
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.manifest import Manifest, digest_files, write_manifest


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


def replaced(name: str, old: str, new: str) -> Callable[[EvidenceLayout], None]:
    """Change the first occurrence of a text in a file."""

    def change(layout: EvidenceLayout) -> None:
        path = layout.root / name
        content = path.read_text(encoding="utf-8")
        assert old in content
        path.write_text(content.replace(old, new, 1), encoding="utf-8")

    return change
