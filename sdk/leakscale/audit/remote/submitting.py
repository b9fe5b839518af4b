"""Submit the answers of a fetched audit, sealed to the server's scorer, and take the scores once all are there.

An answer set is what one model answered to one bank under one variant. Each is submitted in chunks that are cut alike
every time, so an upload that broke goes on; and sealed, after which nobody can change it. The server tells no score
before every set of the variant is sealed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscale.audit.answering.answers import FormAnswer, scored_keys
from leakscale.audit.answering.running import kept_answers
from leakscale.audit.directory import REGISTERED, AuditDirectory, BankRole
from leakscale.audit.registration.amending import registration_of, require_asked_anew
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.origin import Fetched, fetched_of
from leakscale.audit.registration.released import Released
from leakscale.audit.registration.verifying import locked_bank
from leakscale.audit.remote.chunks import AnswerChunk, answer_chunks, answers_digest
from leakscale.audit.remote.keys import deposit_key_of, opened, salt_of, server_key_of
from leakscale.audit.remote.names import answer_set_name, answers_subject
from leakscale.audit.remote.scores import take_scores
from leakscale.envelopes import Opened
from leakscale.errors import ConflictError, IntegrityError, PreconditionError
from leakscale.statements import Predicate

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.deposits import AnswerSet, SealedChunk

__all__ = ["Submitted", "submit_answers"]


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a submission did, and what is missing still."""

    origin: Fetched
    variant: str
    newly_sealed: tuple[str, ...]
    """Answer sets, `audits/{audit}/variants/{variant}/banks/{bank}/models/{model}`."""
    unanswered: tuple[str, ...]
    """Sets that nobody has sealed and that are not whole in this directory."""
    released: Released | None
    """The scores, once every set is sealed; their tables then lie in the directory."""


def submit_answers(
    client: Client,
    directory: AuditDirectory,
    *,
    server: str,
    variant: str = REGISTERED,
    progress: Callable[[str, int, int], None] | None = None,
) -> Submitted:
    """Submit and seal every answer set that is whole, and take the scores if none is missing any more.

    Interrupted, the same call goes on; repeated, it changes nothing.

    Args:
        client: Of the server, with a token that may answer.
        directory: Of a fetched audit, answered in whole or in part.
        server: Address, for messages.
        variant: `registered`, or an amendment.
        progress: Called with an answer set, the chunks of it that are there, and their number.

    Raises:
        PreconditionError: If the directory was not fetched, for then its scores are in it; or the variant changes the
            inference alone, and takes the registered scores.
        AlreadyDoneError: If somebody else sealed an answer set meanwhile.
        IntegrityError: If the server is another one, a signature does not hold, or anything was changed.
        ConflictError: If other answers of this token's principal, or other scores, are there already; or if a set that
            is answered here was sealed with the answers of another directory.
    """
    with directory.held():
        origin = _origin(directory)
        key = server_key_of(client, expected=origin.server_key, server=server)
        registration = registration_of(directory, variant)
        require_asked_anew(directory, registration)
        run = _Submission(client, directory, registration, origin, key, server)
        sealed = {each.name: each for each in client.audits.get(origin.audit).answer_sets if each.is_sealed}
        newly, unanswered = [], []
        for role, model_id in run.places():
            name, answers = run.name(role, model_id), run.answers(role, model_id)
            if name in sealed:
                run.recognize(sealed[name], answers)
            elif answers is None:
                unanswered.append(name)
            else:
                run.submit(name, answers, progress)
                newly.append(name)
        released = None if unanswered else take_scores(client, directory, run.registration, origin, server=server)
    return Submitted(origin, variant, tuple(newly), tuple(unanswered), released)


def _origin(directory: AuditDirectory) -> Fetched:
    origin = fetched_of(directory)
    if origin is None:
        raise PreconditionError(
            f"audit '{directory.root}' was drawn here, and scores its answers itself; run `leakscale audit analyze`, "
            "or fetch the deposited audit into another folder and answer it there"
        )
    return origin


@dataclass(frozen=True, slots=True)
class _Submission:
    """One directory on its way to one server."""

    client: Client
    directory: AuditDirectory
    registration: Registration
    origin: Fetched
    server_key: bytes
    server: str

    def places(self) -> Iterator[tuple[BankRole, str]]:
        """Yield bank and model of each answer set of the variant."""
        roles = [BankRole.AUDIT] if self.registration.control is None else list(BankRole)
        for model in self.registration.plan.models:
            for role in roles:
                yield role, model.id

    def name(self, role: BankRole, model_id: str) -> str:
        """Return the name of an answer set."""
        return answer_set_name(self.registration.name, self.registration.variant, role, model_id)

    def answers(self, role: BankRole, model_id: str) -> list[FormAnswer] | None:
        """Return the answers of a set in the order of its questions; None if one is missing."""
        variant = self.registration.variant
        if not self.directory.answers(model_id, bank=role, variant=variant).is_file():
            return None
        kept = kept_answers(self.directory, model_id, role=role, variant=variant)
        found = {(answer.form, answer.number): answer for answer in kept if not answer.is_rerun}
        bank = locked_bank(self.directory, self.registration, role)
        keys = list(scored_keys(bank, answer_count=self.registration.plan.decoding.answer_count))
        return [found[key] for key in keys] if all(key in found for key in keys) else None

    def submit(self, name: str, answers: list[FormAnswer], progress: Callable[[str, int, int], None] | None) -> None:
        """Send the chunks of a set that the server does not have, seal the set, and enter its receipt."""
        chunks = list(answer_chunks(answers, salt=salt_of(self.directory, name)))
        there = self.client.audits.chunks(name)
        missing = [chunk for chunk in chunks if there.get(chunk.number) != chunk.digest]
        key = deposit_key_of(self.client, server_key=self.server_key, server=self.server) if missing else b""
        self.client.audits.submit(name, self._sealed(name, missing, key, len(chunks), progress))
        digest = answers_digest(chunk.digest for chunk in chunks)
        answer_set = self.client.audits.seal(name, chunk_count=len(chunks), answers_digest=digest)
        receipt = self._receipt(answer_set)
        if receipt.facts.get("answers") != digest:
            raise IntegrityError(f"the receipt of '{name}' is of other answers than were sent; ask who runs the server")
        self._enter(answer_set, digest)

    def recognize(self, answer_set: AnswerSet, answers: list[FormAnswer] | None) -> None:
        """Enter the receipt of a set that was sealed from here; refuse one of other answers beside those that are here.

        Their scores would stand beside the confidences of these.
        """
        receipt = self._receipt(answer_set)
        if answers is None:
            return
        chunks = answer_chunks(answers, salt=salt_of(self.directory, answer_set.name))
        digest = answers_digest(chunk.digest for chunk in chunks)
        if receipt.facts.get("answers") != digest:
            who = receipt.facts.get("by")
            raise ConflictError(
                f"'{answer_set.name}' was sealed by '{who}' from another directory, and this one has answers of its "
                "own; fetch into a new folder, and submit there to take the scores"
            )
        self._enter(answer_set, digest)

    def _sealed(
        self,
        name: str,
        missing: list[AnswerChunk],
        key: bytes,
        total: int,
        progress: Callable[[str, int, int], None] | None,
    ) -> Iterator[SealedChunk]:
        from leakscale.deposits import SealedChunk  # noqa: PLC0415
        from leakscale.sealing import seal_pieces  # noqa: PLC0415 - needs cryptography

        for count, chunk in enumerate(missing, start=1 + total - len(missing)):
            subject = answers_subject(name, chunk.number)
            (piece,) = seal_pieces([chunk.content], public_key=key, subject=subject)
            yield SealedChunk(chunk.number, chunk.digest, piece.sealed)
            if progress is not None:
                progress(name, count, total)

    def _receipt(self, answer_set: AnswerSet) -> Opened:
        """Return what the server says of a sealed set."""
        source = f"the receipt of '{answer_set.name}'"
        if answer_set.receipt is None:
            raise IntegrityError(f"{source} did not come, though the set is sealed; submit again")
        receipt = opened(answer_set.receipt, Predicate.FORM_ANSWERS, server_key=self.server_key, source=source)
        if receipt.subject != answer_set.name:
            raise IntegrityError(f"{source} is of '{receipt.subject}'; ask who runs the server")
        return receipt

    def _enter(self, answer_set: AnswerSet, digest: str) -> None:
        """Enter the receipt of a set that was sealed from here, once."""
        payload = answer_set.receipt.payload if answer_set.receipt else b""
        AuditLedger(self.directory).append_once(
            EntryKind.SEAL, subject=answer_set.name, digest=hashlib.sha256(payload).digest(), facts={"answers": digest}
        )
