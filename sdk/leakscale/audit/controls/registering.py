"""Register a positive control in the audit's ledger before anything is trained, and hold it to that.

A control that may be repeated until it works is none: assignment, mixtures, seeds and rules are bound here, and the
same name with anything else is refused. So no seed can be dropped and none can be added once one was seen.

Source: CleanScore 7.12 (a failed manipulation is reported and not retried), 7.16 (every seed is reported).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.planting import Planted
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.standing import Standing
from leakscale.errors import ConflictError, NotFoundError
from leakscale.reading import parse_json
from leakscale.whole_files import write_whole

__all__ = [
    "ControlRun",
    "control_names",
    "differing_fields",
    "register_control",
    "register_record",
    "registered_control",
    "runs_of",
]

_FORMAT: Final = "leakscale-audit-control-v1"


@dataclass(frozen=True, slots=True)
class ControlRun:
    """One training run of a control."""

    state: str
    """State of the model after it, as its scores are filed."""
    seed: int
    is_null: bool

    @property
    def label(self) -> str:
        """What tables call it."""
        return "null run" if self.is_null else f"seed {self.seed}"


def runs_of(control: ControlPlan) -> tuple[ControlRun, ...]:
    """Return every run that was planned, the registered seed first, the null run last."""
    seeds = [ControlRun(f"{control.name}-seed-{seed}", seed, is_null=False) for seed in control.training.seeds]
    if not control.training.null_run:
        return tuple(seeds)
    return (*seeds, ControlRun(f"{control.name}-null", control.training.seeds[0], is_null=True))


def register_control(
    directory: AuditDirectory, registration: Registration, control: ControlPlan, planted: Planted
) -> None:
    """Write what was decided and enter it, once. Hold the directory meanwhile; raises as `register_record`."""
    register_record(
        directory,
        registration,
        control.name,
        {
            "control": control.to_json(),
            "exposed": list(planted.exposed),
            "leaked": [str(name) for name in planted.names],
            "mixtures": planted.digests(),
        },
        facts={"seeds": list(control.training.seeds), "exposed_count": len(planted.exposed)},
    )


def register_record(
    directory: AuditDirectory,
    registration: Registration,
    name: str,
    decided: Mapping[str, Any],
    *,
    facts: Mapping[str, Any],
) -> None:
    """Write everything that was decided of a control and enter it, once. Hold the directory meanwhile.

    Args:
        directory: The locked audit.
        registration: Of the audit.
        name: Of the control.
        decided: JSON-ready values that decide its numbers.
        facts: What the ledger's entry shows of it.

    Raises:
        ConflictError: If a control of that name was registered otherwise; the message names what differs.
        IntegrityError: If the record is not the one that was entered.
    """
    record = {
        "format": _FORMAT,
        "audit": registration.name,
        "registration_digest": hashlib.sha256(directory.registration.read_bytes()).hexdigest(),
        **decided,
    }
    if Standing(directory).entry(directory.control_record(name)) is not None:
        _require_same(registered_control(directory, name), record, name)
        return
    path, content = directory.control_record(name), json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n"
    write_whole(path, content)
    AuditLedger(directory).append_once(
        EntryKind.CONTROL,
        subject=path.relative_to(directory.root).as_posix(),
        digest=hashlib.sha256(content).digest(),
        facts={"control": name, **facts},
    )


def registered_control(directory: AuditDirectory, name: str) -> dict[str, Any]:
    """Return what was registered of a control.

    Raises:
        NotFoundError: If there is none of that name.
        IntegrityError: If it was changed since.
    """
    path, standing = directory.control_record(name), Standing(directory)
    if standing.entry(path) is None:
        raise NotFoundError(
            f"audit '{directory.root}' has no control '{name}'; run `leakscale audit positive-control` first"
        )
    standing.require_entered(path)
    found: dict[str, Any] = parse_json(path.read_bytes())
    return found


def control_names(directory: AuditDirectory) -> list[str]:
    """Return the positive controls that were registered, in the order of the ledger; a validation study is none.

    Raises:
        IntegrityError: If one was changed since.
    """
    names = [entry.facts["control"] for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.CONTROL]
    return [name for name in names if "control" in registered_control(directory, name)]


def _require_same(found: dict[str, Any], wanted: dict[str, Any], name: str) -> None:
    if differing := differing_fields(found, parse_json(json.dumps(wanted))):
        raise ConflictError(
            f"control '{name}' was registered with another {', '.join(differing)}; a control is run as it was "
            "registered, every seed of it: give a changed one another name"
        )


def differing_fields(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Name the fields in which two records, or two plans of a control, differ: `training.seeds`, ..."""
    return sorted(_differences(dict(first), dict(second), ""))


def _differences(found: Any, wanted: Any, path: str) -> set[str]:
    """Name the fields in which two records differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return {
            name
            for key in found.keys() | wanted.keys()
            for name in _differences(found.get(key), wanted.get(key), f"{path}.{key}" if path else key)
        }
    return set() if found == wanted else {path.removeprefix("control.")}
