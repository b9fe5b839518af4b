"""What a report of an audit is made of: numbers that are computed again, and the files that they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from leakscale.audit.analysis import AuditAnalysis, analyze_audit
from leakscale.audit.controls.filing import ControlAnalysis, analyze_control
from leakscale.audit.controls.pooling import PooledControls, pool_studies
from leakscale.audit.controls.registering import control_names
from leakscale.audit.controls.studied import studied
from leakscale.audit.directory import REGISTERED, AuditDirectory
from leakscale.audit.registration.amended import FetchedAmendment, fetched_amendments
from leakscale.audit.registration.amending import amendments_of, registration_of
from leakscale.audit.registration.ledger import AuditLedger
from leakscale.audit.registration.models import Amendment, Registration
from leakscale.audit.registration.origin import Fetched, fetched_of
from leakscale.audit.registration.released import Released, released_of
from leakscale.audit.registration.standing import Standing
from leakscale.audit.registration.verifying import locked_bank
from leakscale.audit.report.entered import (
    ImportedLog,
    OpenControl,
    amendment_words,
    imported_logs,
    open_controls,
    was_run,
)
from leakscale.tables import Table, TableHead

__all__ = ["AuditFindings", "read_audit_findings"]

_FILES: Final = TableHead("", "files", "Where each number comes from")
_VERBS: Final = {
    "draw.json": "new",
    "frame.jsonl": "new",
    "registration.json": "lock",
    "scores": "answer",
    "analysis": "analyze",
    "controls": "positive-control",
}
"""Verb that writes a file, or the files of a folder, where the ledger does not say another."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file that may be published with the report."""

    file: str
    """In the audit's folder."""
    sha256: str
    made_by: str


@dataclass(frozen=True, slots=True)
class AuditFindings:
    """Everything that a report shows."""

    directory: AuditDirectory
    registration: Registration
    analysis: AuditAnalysis
    """As registered."""
    amended: tuple[tuple[Amendment, AuditAnalysis], ...]
    """Amendments that were answered: shown beside, never instead."""
    amendments: tuple[Amendment, ...]
    became: Mapping[str, str]
    """What became of each amendment, by its variant."""
    controls: tuple[ControlAnalysis, ...]
    """Positive controls that were run, in the order of the ledger."""
    open_controls: tuple[OpenControl, ...]
    """Those that were registered and of which there are no numbers here."""
    imports: tuple[ImportedLog, ...]
    """Logs that scores were read from, with what was overlooked."""
    pooled: PooledControls | None
    """The controls that were run, together; None unless two of them leaked the same kind of form."""
    files: Table[FileRow]
    head: str
    """Of the ledger, before the report."""
    origin: Fetched | None
    """Where the audit was fetched from; None of one that scored its answers itself."""
    released: tuple[Released, ...]
    """The server's word on the scores of each variant that has them, the registered ones first."""
    fetched_amendments: tuple[FetchedAmendment, ...]
    """Amendments of a fetched audit, with what the server knew when each came."""

    @property
    def name(self) -> str:
        """Name of the audit."""
        return self.registration.name

    @property
    def folder(self) -> str:
        """Name of the audit's folder, by which commands take it."""
        return self.directory.root.absolute().name

    @property
    def claiming(self) -> tuple[str, ...]:
        """Models for which the registered claim rule fired."""
        return tuple(row.model for row in self.analysis.table("claims").rows if row.verdict == "advantage")


def read_audit_findings(
    directory: AuditDirectory, *, progress: Callable[[int, int], None] | None = None
) -> AuditFindings:
    """Compute every number of an audit again, and hold it against what was entered.

    Args:
        directory: A locked audit whose models were asked.
        progress: Called with the tables that are done and their number.

    Raises:
        PreconditionError: If the audit is not locked, or a registered model has no scores yet.
        IntegrityError: If anything was changed after it was entered.
        ConflictError: If other numbers were written before.
    """
    registration, origin = registration_of(directory), fetched_of(directory)
    analysis, _ = analyze_audit(directory, progress=progress)
    amendments, standing = amendments_of(directory), Standing(directory)
    controls = tuple(_controls(directory, standing))
    answered = [each for each in amendments if (directory.analysis / each.variant).is_dir()]
    return AuditFindings(
        directory=directory,
        registration=registration,
        analysis=analysis,
        amended=tuple((each, analyze_audit(directory, variant=each.variant)[0]) for each in answered),
        amendments=amendments,
        became={each.variant: amendment_words(standing, each) for each in amendments},
        controls=controls,
        open_controls=tuple(open_controls(directory, standing)),
        imports=imported_logs(standing),
        pooled=_pooled(directory, registration, controls),
        files=_FILES.filled(_files(directory), "SHA-256 of what may be published beside this."),
        head=str(AuditLedger(directory).head()),
        origin=origin,
        released=_released(directory, origin, amendments) if origin else (),
        fetched_amendments=fetched_amendments(directory, origin) if origin else (),
    )


def _controls(directory: AuditDirectory, standing: Standing) -> Iterator[ControlAnalysis]:
    """Yield the controls that were run to their end, whether or not somebody had looked at their numbers."""
    for name in control_names(directory):
        if was_run(directory, standing, name):
            yield analyze_control(directory, name)[0]


def _pooled(
    directory: AuditDirectory, registration: Registration, controls: Sequence[ControlAnalysis]
) -> PooledControls | None:
    if not controls:
        return None
    bank, finished = locked_bank(directory, registration), {each.control.name for each in controls}
    unfinished = [f"{name} (not finished)" for name in control_names(directory) if name not in finished]
    found = pool_studies([studied(each, bank, name=each.control.name) for each in controls], left_out=unfinished)
    return found if found.pools else None


def _released(directory: AuditDirectory, origin: Fetched, amendments: Sequence[Amendment]) -> tuple[Released, ...]:
    variants = (REGISTERED, *(each.variant for each in amendments))
    return tuple(found for each in variants if (found := released_of(directory, origin, each)) is not None)


def _files(directory: AuditDirectory) -> Iterator[FileRow]:
    root, name = directory.root, directory.root.absolute().name
    entered = {
        path.relative_to(root).as_posix(): entry.facts.get("made_by") for path, entry in Standing(directory).files()
    }
    # Readings are made by the verb that asks.
    entered = {subject: "answer" if verb == "reading" else verb for subject, verb in entered.items()}
    if fetched_of(directory) is not None:
        entered |= dict.fromkeys(("draw.json", "frame.jsonl", "registration.json"), "fetch")
    controls = control_names(directory)
    bound = {root / name for name in entered}
    for top, verb in _VERBS.items():
        for path in _below(root / top):
            if path.parent != root and path not in bound and path.name != directory.released().name:
                continue  # nobody entered it, and the report rests on nothing in it
            relative = path.relative_to(root).as_posix()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            command = f"leakscale audit {entered.get(relative) or verb} {name}{_variant(path.relative_to(root))}"
            yield FileRow(relative, digest, _of_control(path.relative_to(root), controls) or command)


def _of_control(path: PurePath, controls: Sequence[str]) -> str:
    """Return the command that made a positive control's file: its numbers, or the scores of one of its states."""
    top, *rest = path.parts
    parts = path.name.split(".")
    for name in controls:
        if (top == "controls" and rest[0] == name) or (top == "scores" and parts[1].startswith(f"{name}-")):
            return f"leakscale audit positive-control {name}.toml"
    return ""


def _variant(path: PurePath) -> str:
    """Return the option that makes an amendment's file, of others nothing."""
    is_amended = path.parts[0] in {"scores", "analysis"} and path.parts[1] != REGISTERED
    return f" --variant {path.parts[1]}" if is_amended else ""


def _below(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())


def table_files(findings: AuditFindings) -> dict[str, str]:
    """Return the CSV of each table of the registered analysis, by the table's name."""
    return {one.name: f"analysis/{REGISTERED}/{csv_name(one)}" for one in findings.analysis.tables}


def csv_name(table: Table[Any]) -> str:
    """Return the name of a table's CSV, as `Tabled.write` gives it."""
    return f"{table.file_stem}.csv"
