"""Take the scores that a server released: held against its signature, the registration and what was sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscale.audit.answering.filing import enter_file, file_table
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amended import amendment_digest
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.origin import Fetched
from leakscale.audit.registration.released import Released, released_in
from leakscale.audit.remote.keys import envelope_of
from leakscale.audit.remote.names import answer_set_name, scores_name
from leakscale.audit.scores import ScoreTable
from leakscale.errors import IntegrityError, LeakScaleError
from leakscale.whole_files import write_whole

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.deposits import ReleasedScores

__all__ = ["take_scores"]


def take_scores(
    client: Client, directory: AuditDirectory, registration: Registration, origin: Fetched, *, server: str
) -> Released:
    """Fetch the scores of a variant, check all that can be checked, and file them. Hold the directory meanwhile.

    Args:
        client: Of the server.
        directory: That was fetched from it.
        registration: With the variant's changes.
        origin: What was fetched, and the server's key.
        server: Address, for messages.

    Raises:
        NotSealedError: If an answer set of the variant is not sealed yet.
        IntegrityError: If the server's key did not sign them, or they are not of this audit, its banks, its models, or
            the answers that were sealed from here.
        ConflictError: If other scores were entered before.
    """
    name = scores_name(registration.name, registration.variant)
    source = f"the scores of '{name}' on '{server}'"
    scores = client.audits.scores(name)
    envelope = envelope_of(scores.statement)
    amendment = amendment_digest(directory, origin, registration.variant)
    released = released_in(envelope, origin, variant=registration.variant, amendment=amendment, source=source)
    files = list(_files(directory, registration, released, scores, source))
    for each in files:
        facts = {"made_by": "submit", "answers": each.answers}
        path = directory.scores(each.table.model, bank=each.role, kind=each.table.kind, variant=registration.variant)
        file_table(directory, path, each.table, facts)
    path = directory.released(registration.variant)
    write_whole(path, envelope)
    enter_file(directory, path, hashlib.sha256(envelope).digest(), {"made_by": "submit"})
    return released


@dataclass(frozen=True, slots=True)
class _File:
    """A table that was checked."""

    role: BankRole
    table: ScoreTable
    answers: str


def _files(
    directory: AuditDirectory, registration: Registration, released: Released, scores: ReleasedScores, source: str
) -> Iterator[_File]:
    """Yield every table of the variant, each held against what it has to be of."""
    banks = {BankRole.AUDIT: registration.bank} | (
        {BankRole.CONTROL: registration.control} if registration.control else {}
    )
    wanted = {(role, model.id) for role in banks for model in registration.plan.models}
    contents = {(BankRole(each.bank), each.model_id): each.content for each in scores.files}
    if released.tables.keys() != wanted or contents.keys() != wanted:
        raise IntegrityError(f"{source} are not those of every registered model and bank; submit again")
    sealed = _sealed_here(directory)
    for place in sorted(wanted):
        role, model_id = place
        stated = released.tables[place]
        where = f"{source}, model '{model_id}' on the {role} bank"
        if hashlib.sha256(contents[place]).hexdigest() != stated.sha256:
            raise IntegrityError(f"{where}: not the file that the server signed; submit again")
        answer_set = answer_set_name(registration.name, registration.variant, role, model_id)
        if sealed.get(answer_set, stated.answers) != stated.answers:
            raise IntegrityError(f"{where}: over other answers than were sealed from here; ask who runs the server")
        table = _table(contents[place], where)
        found = (table.model, table.state, table.bank_digest, table.kind.is_signal, len(table.parent_ids))
        facts = banks[role]
        if found != (model_id, "base", facts.digest, False, facts.parent_count):
            raise IntegrityError(f"{where}: a table of another model, bank or kind; ask who runs the server")
        yield _File(role, table, stated.answers)


def _table(content: bytes, source: str) -> ScoreTable:
    try:
        return ScoreTable.from_bytes(content, source=source)
    except LeakScaleError as error:
        raise IntegrityError(f"{source}: no table of scores ({error}); ask who runs the server") from error


def _sealed_here(directory: AuditDirectory) -> dict[str, str]:
    """Return what was sealed from this directory, by answer set."""
    entries = AuditLedger(directory).entries()
    return {entry.subject: str(entry.facts["answers"]) for entry in entries if entry.kind is EntryKind.SEAL}
