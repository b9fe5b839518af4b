"""`leakscale audit show`: verify an audit directory, and say what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.shell import shell_of
from leakscale.plain_text import one_line

if TYPE_CHECKING:
    from leakscale.audit.directory import AuditDirectory
    from leakscale.audit.registration import Registration
    from leakscale.audit.registration.ledger import LedgerEntry
    from leakscale.audit.registration.models import DrawRecord
    from leakscale.audit.registration.origin import Fetched

__all__ = ["show"]


def show(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Audit directory.")],
    head: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT:ROOT:KEY", help="Head that was published earlier; the ledger has to go on from it."
        ),
    ] = None,
) -> None:
    """Verify an audit, and show what was registered; exit code 1 where something is missing or was changed.

    Held against the ledger: registration, draw and frame, every file that was entered, and the banks where they are.

    For example:

    ```
    leakscale audit show gsm8k
    ```
    """
    # Imports stay here: they keep --help quick, as in the others.
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415
    from leakscale.audit.registration.facts import clock_notes  # noqa: PLC0415
    from leakscale.audit.registration.ledger import AuditLedger, EntryKind, Head  # noqa: PLC0415
    from leakscale.audit.registration.opening import read_draw, require_frame  # noqa: PLC0415
    from leakscale.audit.registration.origin import fetched_of  # noqa: PLC0415
    from leakscale.audit.registration.standing import Standing  # noqa: PLC0415

    directory = AuditDirectory.existing(root)
    ledger = AuditLedger(directory)
    entries, draw = ledger.entries(), read_draw(directory)
    if head is not None:
        ledger.require_extends(Head.parse(head))
    origin = fetched_of(directory)
    is_locked = origin is not None or any(entry.kind is EntryKind.LOCK for entry in entries)
    require_frame(directory, draw)
    registration = _verified(directory) if is_locked else None
    standing = Standing(directory)
    standing.require_whole()
    entered = [path.relative_to(root).as_posix() for path, _ in standing.files()]
    facts: dict[str, Any] = {
        "directory": str(root),
        "is_locked": is_locked,
        "assurance_level": registration.assurance_level if registration else None,
        "fetched": origin and origin.to_json(),
        "draw": draw.to_json(),
        "registration": registration and registration.to_json(),
        "ledger": [_entry(entry) for entry in entries],
        "notes": clock_notes(entries),
        "head": str(ledger.head()),
        "files": [path.relative_to(root).as_posix() for path in directory.asked()],
        "entered_files": entered,
    }
    lines = [
        f"{draw.sample_size:,} of {draw.population_size:,} parents, {draw.fresh_count} fresh forms, seed {draw.seed}",
        *([f"strata     {', '.join(_strata(draw))}"] if draw.strata else []),
        *(_registered(registration) if registration else ["not locked; see `leakscale audit check`"]),
        *(_fetched(directory, origin) if origin else []),
        *([f"files      {len(entered)} that the ledger names, all there and unchanged"] if entered else []),
        *(line for entry in entries for line in _entry_lines(entry)),
        *(f"note       {note}" for note in clock_notes(entries)),
        f"head       {ledger.head()}",
    ]
    shell_of(context).console.result(facts, text="\n".join(lines))


def _verified(directory: AuditDirectory) -> Registration:
    from leakscale.audit.directory import BankRole  # noqa: PLC0415
    from leakscale.audit.registration.amending import registration_of  # noqa: PLC0415
    from leakscale.audit.registration.verifying import (  # noqa: PLC0415
        locked_bank,
        require_locked_reading,
    )

    registration = registration_of(directory)
    if directory.private.exists():  # a published audit leaves its private forms out
        locked_bank(directory, registration)
        require_locked_reading(directory, registration)
        if registration.control is not None:
            locked_bank(directory, registration, BankRole.CONTROL)
    return registration


def _strata(draw: DrawRecord) -> Iterator[str]:
    for name, size in dict(draw.size).items() if not isinstance(draw.size, int) else ():
        yield f"{name} {size:,} of {draw.strata[name]:,}"


def _registered(registration: Registration) -> list[str]:
    settings, gates = registration.plan.inference, registration.gates
    models = ", ".join(model.id for model in registration.plan.models)
    control = registration.control
    return [
        f"locked at {registration.locked_at}, verified"
        + ("; answers of a log are older" if registration.is_retrospective else ""),
        f"assurance  {registration.assurance_level}",
        f"models     {models}",
        f"control    {f'{control.parent_count} parents' if control else 'none: no claim can fire'}",
        f"interval   {settings.component} with {settings.bound}, alpha {settings.alpha:g} ({settings.combine})",
        f"radius     {settings.rho:g} of {', '.join(f'{rho:g}' for rho in settings.rho_grid)}",
        *(f"gate       {gate.id}: half-width {gate.half_width:.3f}, tolerance {gate.tolerance:g}" for gate in gates),
    ]


def _fetched(directory: AuditDirectory, origin: Fetched) -> Iterator[str]:
    from leakscale.audit.directory import REGISTERED  # noqa: PLC0415
    from leakscale.audit.registration.amended import fetched_amendments  # noqa: PLC0415
    from leakscale.audit.registration.amending import (  # noqa: PLC0415
        amendments_of,
        registration_of,
        scored_variant,
    )
    from leakscale.audit.registration.released import released_of, require_released  # noqa: PLC0415

    yield f"fetched    {origin.audit} from {origin.server}, without golds"
    yield f"server     {origin.server_key.hex()}"
    yield from map(str, fetched_amendments(directory, origin))
    for variant in (REGISTERED, *(each.variant for each in amendments_of(directory))):
        if scored_variant(directory, registration_of(directory, variant)) != variant:
            yield f"scores     {variant}: takes the registered ones; see `leakscale audit analyze --variant`"
            continue
        released = released_of(directory, origin, variant)
        if released is None:
            yield f"scores     {variant}: not released yet; see `leakscale audit submit`"
            continue
        require_released(directory, variant)
        earlier = ", ".join(released.released_before)
        after = f"; those of {earlier} had left before" if earlier else ""
        yield f"scores     {variant}: released, verified, {released.assurance_level}{after}"


def _entry_lines(entry: LedgerEntry) -> Iterator[str]:
    yield f"{entry.number:>3}  {entry.at}  {entry.kind:<10} {entry.subject}"
    if entry.kind == "amendment":
        changes = ", ".join(f"{field} = {value!r}" for field, value in entry.facts["changes"].items())
        yield f"     {one_line(f'{changes}: ' + entry.facts['reason'])}"


def _entry(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "kind": str(entry.kind),
        "subject": entry.subject,
        "digest": entry.digest,
        "at": entry.at,
        "facts": dict(entry.facts),
    }
