"""Make the tree of a finished study: five layers, verified, described, listed, made read-only, and there whole or not.

Files are copied: a link would let a later change of the study change its evidence. What is private (the holder's key,
the adapter's tensors, shapes of a private edition that do not ship) is committed to and stays where it is. The corpus
was in memory alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.background import load_recipe
from leakscale.digests import canonical_json
from leakscale.errors import ConflictError, IntegrityError, NotFoundError
from leakscale.evidence.answers import answers_table, write_table
from leakscale.evidence.checks.analysis import basis_bytes
from leakscale.evidence.checks.inference import read_all_answers
from leakscale.evidence.checks.outcome import Checked, UncheckedError, counted
from leakscale.evidence.checks.regeneration import grant_of, read_shapes
from leakscale.evidence.crate import crate_bytes
from leakscale.evidence.layout import EvidenceLayout, file_name_of
from leakscale.evidence.manifest import Manifest, commit_to, digest_files, keep, write_manifest
from leakscale.evidence.rebuilding import can_rebuild, rebuild_edition
from leakscale.evidence.steps import Step, steps_to_json
from leakscale.evidence.tables import analyze_tree, basis_of, table_columns
from leakscale.evidence.tree import EvidenceTree
from leakscale.evidence.verifying import Advance, Expectations, run_steps
from leakscale.inference.lines import file_digest
from leakscale.models import EditionKind
from leakscale.reading import fault_of, read_object
from leakscale.resources import catalog_folder, studies_folder
from leakscale.study.config import named_seeds
from leakscale.study.registration import plan_bytes, registered_plan
from leakscale.tabled import table_contents
from leakscale.whole_files import growing_folder, sync, write_whole

__all__ = ["BuiltTree", "ExportServer", "build_tree"]

ExportServer = Callable[[Path], object]
"""Writes what the study's server says of itself into a new directory; see `leakscale.verify.exporting`."""

_FILE_MODE: Final = 0o444
_RESTORE: Final = "restore it, or run the study again"
_PRIVATE: Final = ("holder.key", "training/adapter/adapter_config.json", "training/adapter/adapter_model.safetensors")
_BANK_FILES: Final = ("*.plan.jsonl", "*.attempts.jsonl", "*.results.jsonl", "*.binding.json")


@dataclass(frozen=True, slots=True)
class BuiltTree:
    """A finished tree."""

    root: Path
    manifest_digest: str
    """Hex SHA-256 of its manifest: whoever keeps it can tell later that nothing was exchanged."""
    steps: tuple[Step, ...]
    """What its verification found."""


def build_tree(
    study: Path, output: Path, *, summary: dict[str, Any], export: ExportServer, advance: Advance | None = None
) -> BuiltTree:
    """Make the tree of a study.

    While it is made, its files are in `<output>.partial`; killed at any moment and called again, it begins anew.
    `output` itself appears whole or not at all. A tree whose verification fails is made as well: that is evidence too.

    Args:
        study: Directory of the study, whose banks are sealed and whose numbers are disclosed.
        output: Where the tree goes; nothing is there yet.
        summary: The numbers of the study for programs, as `summary.json` has them or will have them.
        export: Fetches what the server says.
        advance: Told how far the verification is.

    Raises:
        ConflictError: If something is at `output`, or something else at `<output>.partial`; nothing is overwritten.
        NotFoundError: If the study lacks a file; the message names it.
        IntegrityError: If a file of the study cannot be read, or is not of this study.
    """
    if output.exists() or output.is_symlink():
        raise ConflictError(f"'{output}' is there, and evidence overwrites nothing; name another --output")
    with growing_folder(output) as fresh:
        maker = _Maker(study, EvidenceLayout(fresh), summary)
        try:
            maker.copy(export)
            maker.derive()
        except FileNotFoundError as error:
            raise NotFoundError(
                f"study '{study}' has no {Path(str(error.filename)).name}; finish it, then build its evidence"
            ) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise IntegrityError(
                f"study '{study}' has a damaged file ({fault_of(error)}); restore it, or run it again"
            ) from error
        steps = maker.verify(advance)
        digest = maker.seal()
        fresh.rename(output)
        sync(output.parent)
    return BuiltTree(output, digest, tuple(steps))


class _Maker:
    """Fills one tree, layer by layer."""

    def __init__(self, study: Path, layout: EvidenceLayout, summary: dict[str, Any]) -> None:
        self._study, self._layout, self._summary = study, layout, summary
        self._tree = EvidenceTree(layout.root)
        self._private_shapes: list[str] = []

    def copy(self, export: ExportServer) -> None:
        """Copy what others wrote."""
        layout, study = self._layout, self._study
        marker = read_object(study / "study.json", advice=_RESTORE)
        if "study" not in marker:
            raise IntegrityError(f"'{study / 'study.json'}' lacks the study; {_RESTORE}")
        write_whole(layout.study, canonical_json(marker["study"]))
        _copy(study / "certificates.jsonl", layout.certificates)
        export(layout.server.root)
        self._copy_shapes()
        _copy(study / "training" / "adapter" / "completion.json", layout.completion)
        losses = study / "training" / "adapter" / layout.losses.name
        if losses.is_file():
            _copy(losses, layout.losses)
        self._copy_background()
        for pattern in _BANK_FILES:
            for path in sorted((study / "banks").glob(pattern)):
                _copy(path, layout.banks / path.name)
        for path in sorted((study / "banks").glob("*.receipt.json")):
            write_whole(layout.banks / path.name, canonical_json(read_object(path, advice=_RESTORE)))
        _copy(study / "provenance.json", layout.provenance)
        _copy(study / "analysis" / "disclosure.json", layout.disclosure)
        # In the order in which the study tells it, which a reader follows.
        write_whole(layout.summary, (json.dumps(self._summary, indent=2, ensure_ascii=False) + "\n").encode())

    def derive(self) -> None:
        """Write what follows from the copies: plan, seeds, answers, results and tables."""
        layout, tree = self._layout, self._tree
        write_whole(layout.plan, plan_bytes(registered_plan(tree.study, model_label=tree.disclosure_model)))
        write_whole(layout.seeds, canonical_json(named_seeds(tree.study)))
        if tree.study.edition.kind is EditionKind.PRACTICE or tree.openings is not None:
            self._copy_results()
        answers = answers_table(read_all_answers(tree), model=tree.disclosure_model, shapes=tree.shape_of)
        write_table(answers, layout.answers)
        self._rebuild()
        basis = basis_of(tree)
        write_whole(layout.basis, basis_bytes(basis))
        analysis = analyze_tree(tree, basis)
        for name, text in table_contents(analysis.tables, facts=analysis.to_dict()).items():
            (layout.analysis / name).write_text(text, encoding="utf-8")
        for table in analysis.tables:
            write_table(table_columns(table), layout.analysis / f"{table.file_stem}.parquet")

    def verify(self, advance: Advance | None) -> list[Step]:
        """Verify the tree as it is, and write down what was found."""
        expected = Expectations(study=self._study)
        steps = run_steps(
            self._layout.root, expected, manifest=self._digested, advance=advance, rebuilt=self._tree.rebuilt
        )
        write_whole(self._layout.verification, canonical_json(steps_to_json(steps)))
        return steps

    def seal(self) -> str:
        """Describe and list everything, and make it read-only; return the digest of the manifest."""
        layout, study = self._layout, self._tree.study
        crate = crate_bytes(
            digest_files(layout),
            study=study.name,
            finding=str(self._summary["finding"]),
            finished_at=str(self._summary["finished_at"]),
        )
        write_whole(layout.crate, crate)
        commitments = commit_to(self._study, self._private_files())
        digest = write_manifest(layout, Manifest(study.name, digest_files(layout), commitments.public))
        keep(self._study, digest, commitments)
        for path in layout.root.rglob("*"):
            if path.is_file():
                path.chmod(_FILE_MODE)
                sync(path)
        return digest

    def _copy_shapes(self) -> None:
        """Copy the shape files that anybody may have; remember the others."""
        study = self._tree.study
        for source, digest in self._tree.study_fields["shapes"].items():
            name = file_name_of(source)
            own, shipped = self._study / "shapes" / name, catalog_folder() / source
            is_public = study.edition.kind is EditionKind.PRACTICE or _has_digest(shipped, digest)
            if not is_public:
                self._private_shapes.append(f"shapes/{name}")
                continue
            path = own if own.is_file() else shipped
            if not _has_digest(path, digest):
                raise NotFoundError(
                    f"shape file '{source}' is neither in '{self._study / 'shapes'}' nor in the catalog with SHA-256 "
                    f"{digest}; put it there"
                )
            _copy(path, self._layout.shapes / name)

    def _copy_background(self) -> None:
        """Copy the recipe of the study, where it names one; its own files of chats stay where they are."""
        name = self._tree.study.model.background
        if name is None:
            return
        own = self._study / "background" / file_name_of(name)
        path = next((each for each in (own, studies_folder() / name) if each.is_file()), None)
        if path is None:
            raise NotFoundError(f"background recipe '{name}' is not at '{own}'; put it there")
        load_recipe(path)
        _copy(path, self._layout.background / file_name_of(name))

    def _copy_results(self) -> None:
        for name in ("results.parquet", "results.jsonl"):
            path = self._study / "analysis" / name
            if path.is_file():
                _copy(path, self._layout.banks / name)
                return

    def _rebuild(self) -> None:
        """Build the edition again, where its seeds and the server's package are there; the tables gain by it."""
        tree = self._tree
        if not can_rebuild():
            return
        try:
            shapes = read_shapes(tree, beside=self._study / "shapes")
            tree.rebuilt = rebuild_edition(tree.study, shapes, grant_id=grant_of(tree))
        except (UncheckedError, IntegrityError):
            return  # the verification says what is wrong with them

    def _private_files(self) -> Iterator[str]:
        names = [*_PRIVATE, *self._private_shapes]
        return (name for name in names if (self._study / name).is_file())

    def _digested(self) -> Checked:
        files = digest_files(self._layout)
        return Checked(len(files), f"{counted(len(files), 'file', 'files')} digested as the tree was made")


def _has_digest(path: Path, digest: str) -> bool:
    return path.is_file() and file_digest(path) == digest


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
