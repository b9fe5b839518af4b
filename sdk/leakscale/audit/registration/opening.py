"""Open an audit: draw its sample, record the draw, and lay out what is to be written next."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

from leakscale.audit.checks.answers import require_readable_golds
from leakscale.audit.directory import AuditDirectory, BankRole, creating_directory
from leakscale.audit.forms import Draw, FormBank, Parent, draw_sample, read_bank, write_bank
from leakscale.audit.registration.fields import STRATIFIED_BOUND
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import DrawRecord
from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.reading import parse_json
from leakscale.whole_files import write_whole

__all__ = [
    "begin_ledger",
    "draw_again",
    "drawn_from",
    "open_audit",
    "read_draw",
    "read_frame",
    "require_frame",
]


def open_audit(
    root: Path,
    *,
    frame: Path,
    size: int | Mapping[str, int],
    seed: int,
    fresh_count: int = 2,
    deep_count: int = 0,
    rewrites: Path | None = None,
    control: Path | None = None,
    now: datetime | None = None,
) -> tuple[AuditDirectory, DrawRecord]:
    """Make an audit directory with a drawn sample, a plan to fill in, a key and a ledger.

    Args:
        root: New folder.
        frame: `.jsonl` or `.parquet` with every parent of the benchmark; rewrites in it are left out.
        size: Parents to draw; with a mapping, so many of each stratum.
        seed: Of the draw, in [0, 2**53).
        fresh_count: K, places for fresh forms a parent.
        deep_count: Places for deep paraphrases.
        rewrites: A bank that has the rewrites of the drawn parents already; it decides both counts.
        control: The control bank, if it is written.

    Raises:
        ConflictError: If the folder holds something already.
        InvalidRequestError: If a file is malformed, a number is out of range, or the bank of rewrites has another
            original than the frame; messages name the parent.
        NotFoundError: If a file does not exist.
    """
    parents = read_frame(frame)
    require_readable_golds(parents, source=str(frame))
    written = read_bank(rewrites, absent=_absent("bank of rewrites", rewrites)) if rewrites else None
    if written is not None:
        fresh_count = written.fresh_count
        deep_count = max(len(parent.deep) for parent in written.parents)
    drawn = draw_sample(parents, size=size, seed=seed, fresh_count=fresh_count, deep_count=deep_count)
    bank = drawn.bank if written is None else _with_rewrites(drawn.bank, written)
    controls = read_bank(control, absent=_absent("control bank", control)) if control else None
    record = _record(drawn, parents, size, fresh_count=fresh_count, deep_count=deep_count)
    with creating_directory(root) as directory:
        write_bank(parents, directory.frame)
        write_bank(bank, directory.bank(BankRole.AUDIT))
        if controls is not None:
            write_bank(controls, directory.bank(BankRole.CONTROL))
        template = _plan_template(
            root.absolute().name, has_control=controls is not None, is_stratified=bool(record.strata)
        )
        write_whole(directory.plan, template)
        begin_ledger(directory, record, EntryKind.DRAW, facts=_draw_facts(record), now=now)
    return directory, record


def read_frame(path: Path) -> FormBank:
    """Read every parent of a benchmark; rewrites that stand beside them are left out.

    Raises:
        NotFoundError, InvalidRequestError: As `read_bank`.
    """
    return FormBank(tuple(_bare(parent) for parent in read_bank(path, absent=_absent("frame", path)).parents))


def read_draw(directory: AuditDirectory) -> DrawRecord:
    """Read how the sample was drawn, and hold it against the ledger.

    Raises:
        IntegrityError: If the file is not the one that the ledger's first entry is about.
    """
    content = directory.draw.read_bytes()
    first = AuditLedger(directory).entries()[0]
    if hashlib.sha256(content).hexdigest() != first.digest:
        raise IntegrityError(f"draw '{directory.draw}' was changed after the draw; restore the file from a copy")
    return DrawRecord.from_json(parse_json(content))


def draw_again(directory: AuditDirectory, record: DrawRecord) -> FormBank:
    """Draw the sample again from the frame, and return its parents with empty places.

    Raises:
        IntegrityError: If the frame is missing, or not the one that was drawn from.
    """
    if not directory.frame.is_file():
        raise IntegrityError(
            f"frame '{directory.frame}' is missing, and the sample was drawn from it; restore the file"
        )
    frame = read_bank(directory.frame)
    if frame.content_digest != record.frame_digest:
        raise IntegrityError(f"frame '{directory.frame}' was changed after the draw; restore the file from a copy")
    return drawn_from(frame, record)


def require_frame(directory: AuditDirectory, record: DrawRecord) -> None:
    """Refuse a frame that is not the one that was drawn from; a fetched audit may have none.

    Raises:
        IntegrityError: If it was changed, or is missing where the sample was drawn.
    """
    is_drawn_here = AuditLedger(directory).entries()[0].kind is EntryKind.DRAW
    if is_drawn_here or directory.frame.is_file():
        draw_again(directory, record)


def drawn_from(frame: FormBank, record: DrawRecord) -> FormBank:
    """Return the parents that a record draws from a frame, with empty places."""
    return draw_sample(
        frame,
        size=record.size,
        seed=record.seed,
        fresh_count=record.fresh_count,
        deep_count=record.deep_count,
    ).bank


def _record(
    drawn: Draw, frame: FormBank, size: int | Mapping[str, int], *, fresh_count: int, deep_count: int
) -> DrawRecord:
    return DrawRecord(
        frame_digest=drawn.frame_digest,
        population_size=len(frame.parents),
        strata=frame.strata() if isinstance(size, Mapping) else {},
        size=size,
        seed=drawn.seed,
        fresh_count=fresh_count,
        deep_count=deep_count,
    )


def begin_ledger(
    directory: AuditDirectory,
    record: DrawRecord,
    kind: EntryKind,
    *,
    facts: Mapping[str, Any],
    now: datetime | None = None,
) -> None:
    """Write how the sample was drawn, and make a key and a ledger that begins with it, also over a broken attempt."""
    content = json.dumps(record.to_json(), indent=2, ensure_ascii=False).encode() + b"\n"
    write_whole(directory.draw, content)
    directory.ledger.unlink(missing_ok=True)  # of an attempt that broke off
    digest = hashlib.sha256(content).digest()
    AuditLedger(directory).append(kind, subject=directory.draw.name, digest=digest, facts=facts, at=now)


def _draw_facts(record: DrawRecord) -> dict[str, Any]:
    return {"frame_digest": record.frame_digest, "seed": record.seed, "parent_count": record.sample_size}


def _absent(subject: str, path: Path) -> str:
    return f"{subject} '{path}' does not exist; pass a .jsonl or .parquet file"


def _bare(parent: Parent) -> Parent:
    return replace(parent, fresh=(), deep=())


def _with_rewrites(drawn: FormBank, written: FormBank) -> FormBank:
    """Fill the places of the drawn parents from a bank that has their rewrites."""
    known = {parent.parent_id: parent for parent in written.parents}
    if not any(parent.parent_id in known for parent in drawn.parents):
        raise InvalidRequestError(
            f"bank of rewrites: none of the {len(drawn.parents)} drawn parents is in it (it has "
            f"'{written.parents[0].parent_id}', drawn was '{drawn.parents[0].parent_id}'); give its parents the ids of "
            "the frame"
        )
    parents = []
    for parent in drawn.parents:
        found = known.get(parent.parent_id)
        if found is None:
            parents.append(parent)
            continue
        if _bare(found) != _bare(parent):
            raise InvalidRequestError(
                f"parent '{parent.parent_id}': its original in the bank of rewrites is not the frame's; rewrite the "
                "frame's original"
            )
        parents.append(replace(found, fresh=found.fresh + parent.fresh[len(found.fresh) :]))
    return FormBank(tuple(parents))


def _plan_template(name: str, *, has_control: bool, is_stratified: bool) -> bytes:
    template = resources.files("leakscale.audit.registration").joinpath("audit.toml").read_text(encoding="utf-8")
    identifier = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-") or "audit"
    if has_control:
        template = template.replace("# [control]", "[control]").replace("# private =", "private =")
        template = template.replace("# provenance =", "provenance =")
    if is_stratified:
        template = template.replace('bound = "betting"  ', f'bound = "{STRATIFIED_BOUND}"')
    return template.replace("{name}", identifier).encode()
