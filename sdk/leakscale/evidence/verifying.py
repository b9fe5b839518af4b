"""Verify a tree in the order of the papers' argument, each step resting on those before it.

    manifest → regeneration → balance → leakage → adapter activity → inference chain → completion → signatures →
    analysis

Every step runs, whatever became of those before it: one changed byte should not hide another. Nothing is written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import IntegrityError, LeakScaleError
from leakscale.evidence.checks.activity import check_activity
from leakscale.evidence.checks.analysis import check_analysis
from leakscale.evidence.checks.balance import check_balance
from leakscale.evidence.checks.completion import check_completion
from leakscale.evidence.checks.inference import check_inference
from leakscale.evidence.checks.leakage import check_leakage
from leakscale.evidence.checks.outcome import Checked, UncheckedError, counted, require_same
from leakscale.evidence.checks.regeneration import check_regeneration
from leakscale.evidence.checks.signatures import check_signatures
from leakscale.evidence.copies import differing_copy
from leakscale.evidence.crate import crate_bytes
from leakscale.evidence.layout import EvidenceLayout, file_name_of
from leakscale.evidence.manifest import check_files, check_kept, digest_files, read_manifest, require_regular
from leakscale.evidence.rebuilding import RebuiltEdition
from leakscale.evidence.steps import STEP_NAMES, Status, Step, read_steps, verdict_of
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
    RecursionError,
    MemoryError,
)
_BANK_FILE: Final = re.compile(r"banks/[a-z0-9-]+\.(?:(?:plan|attempts|results)\.jsonl|(?:binding|receipt)\.json)")
_KNOWN: Final = re.compile(
    r"ro-crate-metadata\.json|source/(?:study|plan)\.json|source/certificates\.jsonl|source/server/.+"
    r"|training/(?:completion\.json|losses\.jsonl|background/.+)|banks/(?:answers\.parquet|results\.(?:parquet|jsonl))"
    r"|analysis/[^/]+|audits/(?:disclosure|seeds|verification)\.json"
)
"""What the steps look at; `source/server` and `analysis` refuse strangers themselves."""

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
    try:
        require_regular(EvidenceLayout(root))
    except IntegrityError as error:
        # Who reads a pipe or a device may read for ever.
        unread = "the tree holds something else than files, and nothing of it was read"
        rest = [Step(name, Status.UNCHECKED, 0, "nothing", unread) for name in STEP_NAMES[1:]]
        return [_failed(STEP_NAMES[0], str(error)), *rest]
    steps = run_steps(
        root, expected, manifest=lambda: check_manifest(root, expected, advance or _nobody), advance=advance
    )
    return _with_own_words(root, steps)


def _with_own_words(root: Path, steps: list[Step]) -> list[Step]:
    """Hold what a tree says of itself, its verification and its description, against what was found now.

    Last, and of a tree without a fault: either would only repeat one.
    """
    if verdict_of(steps) is Status.FAILS:
        return steps
    words = _step(steps[0].name, lambda: _check_own_words(EvidenceTree(root), steps), root)
    return steps if words.status is Status.HOLDS else [words, *steps[1:]]


def _check_own_words(tree: EvidenceTree, steps: list[Step]) -> Checked:
    layout = tree.layout
    name = layout.relative(layout.verification)
    if not layout.verification.is_file():
        raise IntegrityError(f"{name}: the file is missing")
    told = {step.name: step for step in read_steps(layout.verification)}
    require_same(name, "steps", tuple(told), STEP_NAMES)
    for step in steps[1:]:
        if step.status is told[step.name].status is Status.HOLDS:
            require_same(f"{name}: {step.name}", "checked", told[step.name].checked, step.checked)
    # The first step held the manifest against every file, so nothing is digested again.
    listed = read_manifest(layout)[0].files
    files = {name: entry for name, entry in listed.items() if name != layout.relative(layout.crate)}
    summary = tree.summary
    described = crate_bytes(
        files, study=tree.study.name, finding=str(summary["finding"]), finished_at=str(summary["finished_at"])
    )
    if layout.crate.read_bytes() != described:
        raise IntegrityError(
            f"{layout.relative(layout.crate)}: it does not describe this tree, expected SHA-256 "
            f"{hashlib.sha256(described).hexdigest()}"
        )
    return Checked(2, "what the tree says of itself")


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


def _require_known(layout: EvidenceLayout, names: Iterable[str]) -> None:
    """See that no file lies in a tree that nothing else looks at: it would pass for evidence."""
    shapes = {f"source/shapes/{file_name_of(source)}" for source in EvidenceTree(layout.root).study_fields["shapes"]}
    for name in names:
        bank = _BANK_FILE.fullmatch(name)
        is_shape = name.startswith("source/shapes/")
        is_second = name == "banks/results.jsonl" and "banks/results.parquet" in names
        if (name in shapes) if is_shape else (bank or _KNOWN.fullmatch(name)) and not is_second:
            continue
        raise IntegrityError(f"{name}: no step checks such a file, expected none; a tree holds evidence alone")


def check_manifest(root: Path, expected: Expectations, told: Advance = _nobody) -> Checked:
    """Hold every file of a tree against its manifest, and the manifest against whatever digest is known.

    Raises:
        IntegrityError: At the first file that is missing, unlisted or another one.
    """
    layout = EvidenceLayout(root)
    manifest, digest = read_manifest(layout, digest=expected.manifest_digest)
    files = digest_files(layout, advance=lambda count: told("manifest", count))
    check_files(manifest, files)
    _require_known(layout, files)
    opened = 0 if expected.study is None else check_kept(expected.study, digest, manifest)
    if expected.study is not None and (name := differing_copy(expected.study, root)):
        raise IntegrityError(f"{name} of the study: it is not what the tree has, which the study was told from")
    is_known = expected.manifest_digest is not None or opened > 0
    size = sum(entry.byte_count for entry in files.values())
    private = counted(len(manifest.private), "private file", "private files")
    return Checked(
        len(files),
        f"{counted(len(files), 'file', 'files')}, {size:,} bytes; {opened} of {private} opened; manifest {digest}",
        "" if is_known else "nobody kept the manifest's digest here; --manifest-digest compares it with one",
    )
