"""The last thing that a study does before its report: its evidence, as a tree that nobody changes any more."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leakscale.client import Client
from leakscale.errors import PreconditionError
from leakscale.evidence.building import build_tree
from leakscale.evidence.layout import EvidenceLayout, file_name_of
from leakscale.evidence.manifest import read_manifest
from leakscale.evidence.steps import Step, read_steps
from leakscale.evidence.watching import showing_steps
from leakscale.reading import read_object
from leakscale.report import PROVENANCE_FILE
from leakscale.study.layout import StudyDirectory
from leakscale.study.watching import Watcher
from leakscale.verify.exporting import export_server
from leakscale.whole_files import write_whole

__all__ = ["Proof", "prove_study", "require_evidence"]


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence of a study, and the numbers as it has them."""

    summary: dict[str, Any]
    manifest_digest: str
    """Hex SHA-256 of the manifest."""
    steps: tuple[Step, ...]
    """What its verification found."""


def require_evidence() -> None:
    """See that evidence can be written, before hours of training show that it cannot.

    Raises:
        PreconditionError: If a package is missing.
    """
    for name in ("pyarrow", "securesystemslib"):
        if importlib.util.find_spec(name) is None:
            raise PreconditionError(f"the evidence of a study needs {name}; run `pip install 'leakscale[verify]'`")


def prove_study(
    directory: StudyDirectory, summary: dict[str, Any], *, client: Client, watcher: Watcher, background: Path | None
) -> Proof:
    """Build the tree of a study whose numbers and provenance are written, or take the one that is there.

    A run that was killed after its tree was finished goes on with the numbers of the tree: the time at which a study
    ended is one of them.
    """
    name = read_object(directory.root / "study.json", advice="choose another --out")["study"]["model"]["background"]
    if background is not None and name is not None:
        write_whole(directory.root / "background" / file_name_of(name), background.read_bytes())
    layout = EvidenceLayout(directory.evidence)
    if layout.root.exists():
        shutil.copyfile(layout.provenance, directory.root / PROVENANCE_FILE)
    else:
        with showing_steps(watcher.progress) as advance:
            build_tree(
                directory.root,
                layout.root,
                summary=summary,
                export=lambda root: export_server(client, root),
                advance=advance,
            )
    _, digest = read_manifest(layout)
    return Proof(
        read_object(layout.summary, advice="build the evidence again"), digest, read_steps(layout.verification)
    )
