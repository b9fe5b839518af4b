"""A deposited audit from its deposit to its scores: the registry knows what is public, the scorer the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from leakscale.audit.remote.limits import DOCUMENT_BYTES_MAX, PIECE_BYTES_MAX
from leakscale.models import SignedStatement
from leakscale.sealing import SealedPiece, is_holder_key
from leakscale_server.errors import InvalidRequest, NotFound, NotSealed
from leakscale_server.identity.caller import Caller
from leakscale_server.registry.audits import (
    Audit,
    AuditDraft,
    AuditHead,
    AuditRegistry,
    FormChunk,
    FormChunks,
    FormSeals,
    Scores,
    SealedAnswers,
    SetKey,
)
from leakscale_server.registry.names import check_id
from leakscale_server.scorer.audits.contract import (
    AmendmentOrder,
    AnswerSetOrder,
    AuditOrder,
    AuditScoring,
    ChunkOrder,
    DepositKeyFacts,
    DepositOrder,
    FormsOrder,
    PieceOrder,
    ReleaseOrder,
    SealedSet,
)
from leakscale_server.scorer.contract import Scoring

__all__ = ["AuditDeposit", "Auditing", "SentChunk"]

_KEY_BYTES: Final = 32
_DIGEST_BYTES: Final = 32
_SEALED_BYTES_MAX: Final = PIECE_BYTES_MAX + 48
"""Of a piece: HPKE adds a key of 32 bytes and a tag of 16."""
_PIECES_MAX: Final = 256
"""Of a deposit."""
_CHUNKS_MAX: Final = 2**16
_NAMED_MAX: Final = 3
"""Answer sets that a message names."""


@dataclass(frozen=True, slots=True)
class AuditDeposit:
    """What begins a deposit."""

    audit_id: str
    registration: bytes
    author_key: bytes


@dataclass(frozen=True, slots=True)
class SentChunk:
    """A chunk of answers as a client sends it."""

    number: int
    digest: bytes
    sealed: bytes


class Auditing:
    """Conducts deposited audits. They belong to their depositor's project; to others they do not exist."""

    def __init__(
        self, audits: AuditRegistry, chunks: FormChunks, seals: FormSeals, scores: Scores, scorer: Scoring
    ) -> None:
        self._audits = audits
        self._chunks = chunks
        self._seals = seals
        self._scores = scores
        self._scorer = scorer

    @property
    def _vault(self) -> AuditScoring:
        return self._scorer.audits

    def deposit_key(self, caller: Caller) -> DepositKeyFacts:
        """Return the key that deposits and answers of the caller's project are sealed to."""
        return self._vault.deposit_key(caller.project)

    def deposit(self, asked: AuditDeposit, pieces: Iterable[SealedPiece], caller: Caller) -> Audit:
        """Take a deposit: vault first, so that an audit that is there can be answered and scored.

        Raises:
            InvalidRequest: If registration or pieces break a rule, or are not of each other.
            DigestConflict: If another registration has the id.
        """
        check_id(asked.audit_id, field="audit_id")
        _require_document(asked.registration, field="registration")
        if len(asked.author_key) != _KEY_BYTES:
            raise InvalidRequest(
                f"author_key of {len(asked.author_key)} bytes is no Ed25519 key of {_KEY_BYTES}", subject="author_key"
            )
        order = AuditOrder(caller.project, asked.audit_id, asked.registration, asked.author_key)
        facts = self._vault.facts(order)
        draft = AuditDraft(
            project=caller.project,
            audit_id=asked.audit_id,
            depositor=caller.principal,
            title=facts.title,
            author_key=asked.author_key,
            registration=asked.registration,
            model_ids=facts.model_ids,
            banks=facts.banks,
        )
        known = self._audits.known(draft)
        if known is not None:
            return known
        self._vault.deposit(DepositOrder(order, tuple(self._kept(order, pieces))))
        return self._audits.create(draft)

    def get(self, audit_id: str, caller: Caller) -> Audit:
        """Return an audit.

        Raises:
            NotFound: If the caller's project has none of that id.
        """
        return self._audits.get(caller.project, audit_id)

    def heads(self, caller: Caller) -> list[AuditHead]:
        """Return what the audits of the caller's project are listed by, newest first."""
        return self._audits.of_project(caller.project)

    def amend(self, audit_id: str, amendment: bytes, caller: Caller) -> Audit:
        """Add an amendment; the same one again changes nothing.

        Raises:
            NotFound: If the caller's project has no such audit.
            InvalidRequest: If the amendment cannot be read, another key signed it, or its number is not the next.
            DigestConflict: If another one has its number.
        """
        audit = self.get(audit_id, caller)
        _require_document(amendment, field="amendment")
        number = self._vault.amendment(AmendmentOrder(_order(audit), amendment))
        return self._audits.amend(audit, number=number, amendment=amendment, principal=caller.principal)

    def forms(self, audit_id: str, bank: str, *, holder_key: bytes, caller: Caller) -> Iterator[SealedPiece]:
        """Return the forms of a bank without right answers, sealed to the holder; the first time is entered.

        Raises:
            NotFound: If the caller's project has no such audit, or the audit no such bank.
            InvalidRequest: If nothing can be sealed to the key.
        """
        audit = self.get(audit_id, caller)
        audit.require_bank(bank)
        if not is_holder_key(holder_key):
            raise InvalidRequest(
                f"holder_key of {len(holder_key)} bytes is no X25519 public key of 32; make one with "
                "`leakscale.sealing.HolderKey`",
                subject="holder_key",
            )
        self._audits.enter_fetch(audit, bank, principal=caller.principal)
        return self._vault.forms(FormsOrder(_order(audit), bank, holder_key))

    def answer_set(self, audit_id: str, variant: str, bank: str, model_id: str, caller: Caller) -> SetKey:
        """Return where an answer set is.

        Raises:
            NotFound: If the caller's project has no such audit, or the audit no such set.
        """
        return self.get(audit_id, caller).answer_set(variant, bank, model_id)

    def receipts(self, audit: Audit) -> Iterator[tuple[SetKey, SealedAnswers | None]]:
        """Yield every answer set of an audit, variant by variant, with its seal if it has one."""
        for variant in audit.variants:
            sealed = self._seals.of_variant(audit, variant)
            for key in audit.sets_of(variant):
                yield key, sealed.get(key)

    def released(self, audit: Audit) -> tuple[str, ...]:
        """Return the variants whose scores have left, in that order."""
        return tuple(self._scores.released(audit))

    def chunks(self, key: SetKey, caller: Caller, *, start: int, limit: int) -> list[FormChunk]:
        """List the caller's chunks of an answer set from a number on, in their order."""
        return self._chunks.listed(key, caller.principal, start=start, limit=limit)

    def submit(self, key: SetKey, chunks: Iterable[SentChunk], caller: Caller) -> None:
        """Add chunks of answers, each judged and then stored; what was stored before a failure stays.

        Raises:
            InvalidRequest, CaseUnknown, CaseDuplicate: If a chunk does not open, or does not fit the forms.
            DigestConflict: If a chunk's number was taken too often.
            AlreadyDone: If the set is sealed and a chunk is not among those that it has.
        """
        audit = self._audits.get(key.project, key.audit_id)
        which = AnswerSetOrder(_order(audit), audit.amendment(key.variant), key.bank, key.model_id)
        for chunk in chunks:
            _require_chunk(chunk)
            if self._is_there(key, chunk, caller):
                continue
            checked = self._vault.mark(ChunkOrder(which, chunk.number, chunk.digest, chunk.sealed))
            with self._audits.transaction():
                if self._is_there(key, chunk, caller):
                    continue
                self._chunks.add(
                    key,
                    caller.principal,
                    number=chunk.number,
                    digest=chunk.digest,
                    sealed=chunk.sealed,
                    places=checked.places,
                    case_count=checked.case_count,
                )

    def seal(
        self, key: SetKey, caller: Caller, *, chunk_count: int, request_id: str, answers_digest: bytes = b""
    ) -> SealedAnswers:
        """Close a complete answer set; see `FormSeals.seal`."""
        audit = self._audits.get(key.project, key.audit_id)
        return self._seals.seal(
            audit,
            key,
            caller.principal,
            chunk_count=chunk_count,
            request_id=request_id,
            answers_digest=answers_digest,
        )

    def scores(self, audit_id: str, variant: str, caller: Caller) -> tuple[SignedStatement, Iterator[bytes]]:
        """Return the scores of a variant whose answer sets are all sealed; asked again, the same bytes return.

        Raises:
            NotFound: If the caller's project has no such audit, or the audit no such variant.
            NotSealed: If an answer set is open; the message names some.
        """
        audit = self.get(audit_id, caller)
        order = self._release_order(audit, variant)
        stored = self._scores.statement(audit, variant)
        if stored is None:
            statement, *tables = self._vault.release(order)
            contents = [table.content for table in tables]
            self._scores.keep(audit, variant, payload=statement.content, signature=statement.signature, tables=contents)
            stored = self._scores.statement(audit, variant)
            assert stored is not None  # noqa: S101 - written above
        return stored, self._scores.tables(audit, variant)

    def _is_there(self, key: SetKey, chunk: SentChunk, caller: Caller) -> bool:
        """Tell whether a chunk is stored; one that is not may still come, or is refused."""
        with self._audits.transaction():
            is_there = self._chunks.has(key, caller.principal, number=chunk.number, digest=chunk.digest)
            if not is_there:
                self._seals.require_open(key)
            return is_there

    def _kept(self, order: AuditOrder, pieces: Iterable[SealedPiece]) -> Iterator[str]:
        """Keep the pieces of a deposit, and yield their handles."""
        has_ended = False
        for index, piece in enumerate(pieces):
            if has_ended:
                raise InvalidRequest("the deposit goes on after its last piece; send it again", subject="is_last")
            if index == _PIECES_MAX:
                raise InvalidRequest(
                    f"the deposit has more than {_PIECES_MAX} pieces, which is the most", subject="sealed"
                )
            _require_sealed(piece.sealed)
            yield self._vault.keep(PieceOrder(order, index, piece.is_last, piece.sealed))
            has_ended = piece.is_last
        if not has_ended:
            raise InvalidRequest("the deposit was cut off before its last piece; send it again", subject="is_last")

    def _release_order(self, audit: Audit, variant: str) -> ReleaseOrder:
        amendment = audit.amendment(variant)
        sealed = self._seals.of_variant(audit, variant)
        missing = [key.name for key in audit.sets_of(variant) if key not in sealed]
        if missing:
            named = ", ".join(missing[:_NAMED_MAX]) + (" and others" if len(missing) > _NAMED_MAX else "")
            raise NotSealed(
                f"variant {audit.name}/variants/{variant} has {len(missing)} answer sets that are not sealed: {named}; "
                "scores leave together, once every one is",
                subject=missing[0],
            )
        if not sealed:
            name = f"{audit.name}/variants/{variant}"
            raise NotFound(f"variant {name!r} has no scores of its own; it takes the registered ones", subject=name)
        last = max(each.ledger_index for each in sealed.values())
        principals = {each.principal for each in sealed.values()}
        return ReleaseOrder(
            audit=_order(audit),
            amendment=amendment,
            sets=tuple(SealedSet(key.bank, key.model_id, self._digests(sealed[key])) for key in audit.sets_of(variant)),
            assurance_level="L2" if principals.isdisjoint(audit.authors) else "L1",
            released_before=tuple(each for each, index in self._scores.released(audit).items() if index < last),
        )

    def _digests(self, sealed: SealedAnswers) -> tuple[bytes, ...]:
        chunks = self._chunks.listed(sealed.key, sealed.principal, start=0, limit=sealed.chunk_count)
        return tuple(chunk.digest for chunk in chunks)


def _order(audit: Audit) -> AuditOrder:
    draft = audit.draft
    return AuditOrder(draft.project, draft.audit_id, draft.registration, draft.author_key)


def _require_document(content: bytes, *, field: str) -> None:
    if not 1 <= len(content) <= DOCUMENT_BYTES_MAX:
        raise InvalidRequest(
            f"{field} has {len(content):,} bytes, and it has 1 to {DOCUMENT_BYTES_MAX:,}", subject=field
        )


def _require_sealed(sealed: bytes) -> None:
    if len(sealed) > _SEALED_BYTES_MAX:
        raise InvalidRequest(
            f"sealed has {len(sealed):,} bytes, and at most {_SEALED_BYTES_MAX:,} are taken; send smaller pieces",
            subject="sealed",
        )


def _require_chunk(chunk: SentChunk) -> None:
    if not 0 <= chunk.number < _CHUNKS_MAX:
        raise InvalidRequest(f"number {chunk.number} is not in 0 to {_CHUNKS_MAX - 1}", subject="number")
    if len(chunk.digest) != _DIGEST_BYTES:
        raise InvalidRequest(f"digest has {len(chunk.digest)} bytes, and SHA-256 has {_DIGEST_BYTES}", subject="digest")
    _require_sealed(chunk.sealed)
