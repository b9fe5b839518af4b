"""`client.audits`."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any

from leakscale.client.transport import Transport
from leakscale.deposits import AnswerSet, DepositedAudit, DepositKey, ReleasedScores, ScoreFile, SealedChunk
from leakscale.errors import IntegrityError
from leakscale.models import SignedStatement
from leakscale.statements import Predicate, predicate_of
from leakscale.v1 import audit_service_pb2, audit_service_pb2_grpc, resources_pb2

if TYPE_CHECKING:
    from leakscale.sealing import SealedPiece

__all__ = ["Audits"]


class Audits:
    """Audits whose private forms lie in the vault. What is sealed, and for whom, is `leakscale.audit.remote`'s."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(audit_service_pb2_grpc.AuditServiceStub)

    def deposit_key(self) -> DepositKey:
        """Return the key that deposits and answers of the caller's project are sealed to.

        Its statement is not checked here: whoever knows the server's key does it.
        """
        answer = self._transport.unary(self._stub.GetDepositKey, audit_service_pb2.GetDepositKeyRequest())
        return DepositKey(answer.public_key, _statement(answer.statement))

    def deposit(
        self, audit_id: str, *, registration: bytes, author_key: bytes, pieces: Iterable[SealedPiece]
    ) -> DepositedAudit:
        """Deposit a locked audit; the same deposit again returns the same audit.

        Args:
            audit_id: The name that the registration gives the audit.
            registration: The signed envelope.
            author_key: Raw Ed25519 key that signed it, 32 bytes.
            pieces: Forms and right answers, sealed to the deposit key.

        Raises:
            InvalidRequestError: If what is sealed is not what the registration binds; the message names bank and rule.
            ConflictError: If another registration is deposited under that id.
        """
        head = audit_service_pb2.DepositAuditRequest(
            audit_id=audit_id, registration=registration, author_key=author_key
        )
        return _audit(self._transport.upload(self._stub.DepositAudit, _deposit(head, pieces)).audit)

    def get(self, name: str) -> DepositedAudit:
        """Return one audit by its name, `audits/{audit}`."""
        return _audit(self._transport.unary(self._stub.GetAudit, audit_service_pb2.GetAuditRequest(name=name)).audit)

    def list(self) -> Iterator[DepositedAudit]:
        """Return the audits of the caller's project, newest first, without documents and answer sets."""
        request = audit_service_pb2.ListAuditsRequest()
        while True:
            page = self._transport.unary(self._stub.ListAudits, request)
            yield from map(_audit, page.audits)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def amend(self, name: str, amendment: bytes) -> DepositedAudit:
        """Add an amendment; the same one again changes nothing.

        Args:
            name: `audits/{audit}`.
            amendment: The signed entry of the author's ledger.

        Raises:
            InvalidRequestError: If it is none, another key signed it, or its number is not the next.
            ConflictError: If another amendment has its number.
        """
        request = audit_service_pb2.AmendAuditRequest(name=name, amendment=amendment)
        return _audit(self._transport.unary(self._stub.AmendAudit, request).audit)

    def forms(self, bank: str, *, holder_key: bytes) -> Iterator[SealedPiece]:
        """Return the forms of a bank without right answers, sealed to a key. The first time is entered in the ledger.

        Args:
            bank: `audits/{audit}/banks/{bank}`.
            holder_key: Public half of a `HolderKey`, 32 bytes.
        """
        from leakscale.sealing import SealedPiece  # noqa: PLC0415 - needs cryptography

        request = audit_service_pb2.FetchFormsRequest(bank=bank, holder_key=holder_key)
        for message in self._transport.download(self._stub.FetchForms, request):
            yield SealedPiece(message.sealed, message.is_last)

    def chunks(self, answer_set: str) -> dict[int, bytes]:
        """Return the digest of each chunk of an answer set that the caller has sent, by its number."""
        found: dict[int, bytes] = {}
        request = audit_service_pb2.ListFormAnswerChunksRequest(name=answer_set)
        while True:
            page = self._transport.unary(self._stub.ListFormAnswerChunks, request)
            found |= {chunk.number: chunk.digest for chunk in page.chunks}
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def submit(self, answer_set: str, chunks: Iterable[SealedChunk]) -> None:
        """Add chunks to an answer set; one that is there already, by number and digest, is left alone.

        Until the seal, another chunk takes the place of the caller's own of its number.

        Args:
            answer_set: `audits/{audit}/variants/{variant}/banks/{bank}/models/{model}`.
            chunks: Sealed to the deposit key, in any order.

        Raises:
            CaseUnknownError, CaseDuplicateError, InvalidRequestError: If an answer fits no form that is open.
            ConflictError: If a chunk of that number was replaced too often.
            AlreadyDoneError: If the answer set is sealed and lacks a chunk.
        """
        messages = (
            audit_service_pb2.SubmitFormAnswersRequest(
                answer_set=answer_set, number=chunk.number, digest=chunk.digest, sealed=chunk.sealed
            )
            for chunk in chunks
        )
        first = next(messages, None)
        if first is not None:
            self._transport.upload(self._stub.SubmitFormAnswers, itertools.chain([first], messages))

    def seal(
        self, answer_set: str, *, chunk_count: int, request_id: str = "seal", answers_digest: str = ""
    ) -> AnswerSet:
        """Close a complete answer set; the same request again returns the same receipt.

        Args:
            answer_set: `audits/{audit}/variants/{variant}/banks/{bank}/models/{model}`.
            chunk_count: Chunks that make it, numbered from 0.
            request_id: At most 128 bytes; another one is refused once the set is sealed.
            answers_digest: Of these chunks, as `leakscale.audit.remote.chunks` makes it: others are not sealed. Empty:
                whatever is there.

        Raises:
            BankIncompleteError: If a chunk or an answer is missing, or is another one.
            CaseDuplicateError: If two chunks answer one form.
            AlreadyDoneError: If somebody else, or another request, sealed it.
        """
        request = audit_service_pb2.SealFormAnswersRequest(
            name=answer_set,
            chunk_count=chunk_count,
            request_id=request_id,
            answers_digest=bytes.fromhex(answers_digest),
        )
        return _answer_set(self._transport.unary(self._stub.SealFormAnswers, request).answer_set)

    def scores(self, name: str) -> ReleasedScores:
        """Return the scores of a variant once every answer set of it is sealed; asked again, the same bytes return.

        The statement's signature is not checked here: whoever knows the server's key does it.

        Args:
            name: `audits/{audit}/variants/{variant}`.

        Raises:
            NotSealedError: If an answer set is not sealed; the message names some.
            IntegrityError: If a file is not the one that the statement names.
        """
        request = audit_service_pb2.DownloadScoresRequest(name=name)
        statement: SignedStatement | None = None
        contents: dict[int, bytearray] = {}
        for message in self._transport.download(self._stub.DownloadScores, request):
            if message.HasField("statement"):
                statement = _statement(message.statement)
            contents.setdefault(message.table, bytearray()).extend(message.chunk)
        if statement is None:
            raise IntegrityError(f"the scores of '{name}' came without a statement; ask again")
        tables = _tables(statement, name)
        return ReleasedScores(
            statement,
            tuple(_score_file(name, table, bytes(contents.get(place, b""))) for place, table in enumerate(tables)),
        )


def _deposit(
    head: audit_service_pb2.DepositAuditRequest, pieces: Iterable[SealedPiece]
) -> Iterator[audit_service_pb2.DepositAuditRequest]:
    for piece in pieces:
        yield audit_service_pb2.DepositAuditRequest(
            audit_id=head.audit_id,
            registration=head.registration,
            author_key=head.author_key,
            sealed=piece.sealed,
            is_last=piece.is_last,
        )
        head = audit_service_pb2.DepositAuditRequest()


def _tables(statement: SignedStatement, name: str) -> list[Mapping[str, Any]]:
    try:
        tables: list[Mapping[str, Any]] = predicate_of(statement.payload, Predicate.AUDIT_SCORES)["tables"]
    except (KeyError, ValueError) as error:
        raise IntegrityError(f"the scores of '{name}' came with a statement of something else; ask again") from error
    return tables


def _score_file(name: str, table: Mapping[str, Any], content: bytes) -> ScoreFile:
    if hashlib.sha256(content).hexdigest() != table["sha256"]:
        raise IntegrityError(
            f"the scores of '{name}' by model '{table['model']}' on bank '{table['bank']}' are not the file that their "
            "statement names; ask again"
        )
    return ScoreFile(table["bank"], table["model"], table["answers"], content)


def _audit(message: audit_service_pb2.Audit) -> DepositedAudit:
    return DepositedAudit(
        name=message.name,
        title=message.title,
        depositor=message.depositor,
        create_time=message.create_time.ToDatetime(UTC),
        author_key=message.author_key,
        registration=message.registration,
        amendments=tuple(message.amendments),
        amendment_receipts=tuple(map(_statement, message.amendment_receipts)),
        answer_sets=tuple(map(_answer_set, message.answer_sets)),
        released_variants=tuple(message.released_variants),
    )


def _answer_set(message: audit_service_pb2.AnswerSet) -> AnswerSet:
    return AnswerSet(message.name, _statement(message.receipt) if message.HasField("receipt") else None)


def _statement(message: resources_pb2.Statement) -> SignedStatement:
    return SignedStatement(message.payload, message.signature, message.public_key)
