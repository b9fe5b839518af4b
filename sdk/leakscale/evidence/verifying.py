"""Verify a tree in the order of the papers' argument, each step resting on those before it.

    manifest → regeneration → balance → leakage → adapter activity → inference chain → completion → signatures →
    analysis

Every step runs, whatever became of those before it: one changed byte should not hide another. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import LeakScaleError
from leakscale.evidence.checks.activity import check_activity
from leakscale.evidence.checks.analysis import check_analysis
from leakscale.evidence.checks.balance import check_balance
from leakscale.evidence.checks.completion import check_completion
from leakscale.evidence.checks.inference import check_inference
from leakscale.evidence.checks.leakage import check_leakage
from leakscale.evidence.checks.outcome import Checked, UncheckedError, counted
from leakscale.evidence.checks.regeneration import check_regeneration
from leakscale.evidence.checks.signatures import check_signatures
from leakscale.evidence.layout import EvidenceLayout
from leakscale.evidence.manifest import check_files, check_kept, digest_files, read_manifest
from leakscale.evidence.rebuilding import RebuiltEdition
from leakscale.evidence.steps import Status, Step
from leakscale.evidence.tree import EvidenceTree

__all__ = ["Advance", "Expectations", "check_manifest", "run_steps", "verify_tree"]

_BY_A_FILE: Final = (
    LeakScaleError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    StopIteration,
    OSError,
)

Advance = Callable[[str, int], None]
"""Told the name of a step, and how far it is."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """What whoever verifies brings from elsewhere; nothing of it can be taken from the tree."""

    manifest_digest: str | None = None
    """Hex SHA-256 of the manifest, as the study printed it."""
    public_key: bytes | None = None
    """Raw Ed25519 key of the server."""
    study: Path | None = None
    """Directory of the study, whose private files the manifest commits to."""


def verify_tree(root: Path, expectations: Expectations | None = None, *, advance: Advance | None = None) -> list[Step]:
    """Verify a finished tree.

    Args:
        root: What `leakscale evidence build` wrote.
        expectations: What is known from elsewhere.
        advance: Told how far each step is.
    """
    expected = expectations or Expectations()
    return run_steps(
        root, expected, manifest=lambda: check_manifest(root, expected, advance or _nobody), advance=advance
    )


def run_steps(
    root: Path,
    expected: Expectations,
    *,
    manifest: Callable[[], Checked],
    advance: Advance | None = None,
    rebuilt: RebuiltEdition | None = None,
) -> list[Step]:
    """Run every step, the one about the manifest as it is given, and on an edition that was just built again if any."""
    tree, told = EvidenceTree(root), advance or _nobody
    shapes = None if expected.study is None else expected.study / "shapes"
    checks: Mapping[str, Callable[[], Checked]] = {
        "manifest": manifest,
        "regeneration": lambda: check_regeneration(tree, shapes_beside=shapes, rebuilt=rebuilt),
        "balance": lambda: check_balance(tree),
        "leakage": lambda: check_leakage(tree),
        "adapter activity": lambda: check_activity(tree),
        "inference chain": lambda: check_inference(tree, advance=lambda count: told("inference chain", count)),
        "completion": lambda: check_completion(tree),
        "signatures": lambda: check_signatures(tree, public_key=expected.public_key),
        "analysis": lambda: check_analysis(tree),
    }
    steps = []
    for name, check in checks.items():
        told(name, 0)
        steps.append(_step(name, check, root))
    return steps


def _nobody(name: str, count: int) -> None:
    """Tell nobody."""


def _step(name: str, check: Callable[[], Checked], root: Path) -> Step:
    try:
        done = check()
    except UncheckedError as error:
        return Step(name, Status.UNCHECKED, error.count, error.what, str(error))
    except ModuleNotFoundError as error:
        return Step(
            name, Status.UNCHECKED, 0, "nothing", f"it needs {error.name}; run `pip install 'leakscale[verify]'`"
        )
    except FileNotFoundError as error:
        return _failed(name, f"{_below(root, error.filename)}: the file is missing")
    except KeyError as error:
        return _failed(name, f"a file lacks {error}")
    # Whatever a damaged file makes a reader raise: it is the file's fault, and no reason to end without a word.
    except _BY_A_FILE as error:
        return _failed(name, " ".join(str(error).split()) or type(error).__name__)
    return Step(name, Status.HOLDS, done.count, done.what, done.message)


def _below(root: Path, filename: object) -> str:
    path = Path(str(filename))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _failed(name: str, message: str) -> Step:
    return Step(name, Status.FAILS, 0, "stopped at its first fault", message)


def check_manifest(root: Path, expected: Expectations, told: Advance = _nobody) -> Checked:
    """Hold every file of a tree against its manifest, and the manifest against whatever digest is known.

    Raises:
        IntegrityError: At the first file that is missing, unlisted or another one.
    """
    layout = EvidenceLayout(root)
    manifest, digest = read_manifest(layout, digest=expected.manifest_digest)
    files = digest_files(layout, advance=lambda count: told("manifest", count))
    check_files(manifest, files)
    opened = 0 if expected.study is None else check_kept(expected.study, digest, manifest)
    is_known = expected.manifest_digest is not None or opened > 0
    size = sum(entry.byte_count for entry in files.values())
    private = counted(len(manifest.private), "private file", "private files")
    return Checked(
        len(files),
        f"{counted(len(files), 'file', 'files')}, {size:,} bytes; {opened} of {private} opened; manifest {digest}",
        "" if is_known else "nobody kept the manifest's digest here; --manifest-digest compares it with one",
    )
