"""AuditService."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from leakscale.models import SignedStatement
from leakscale.sealing import SealedPiece
from leakscale.v1 import audit_service_pb2, audit_service_pb2_grpc, resources_pb2
from leakscale_server.errors import InvalidRequest
from leakscale_server.limits import CHUNK_BYTES, PAGE_SIZE_MAX
from leakscale_server.registry.audits import Audit, AuditHead, SealedAnswers, SetKey
from leakscale_server.registry.names import parse
from leakscale_server.services.call import Call
from leakscale_server.services.codec import page, page_size, page_start
from leakscale_server.services.wire import timestamp
from leakscale_server.stages.audits import AuditDeposit, Auditing, SentChunk

__all__ = ["AuditService"]

_SET = ("audits", "variants", "banks", "models")


class AuditService(audit_service_pb2_grpc.AuditServiceServicer):
    """Audits whose private forms and right answers lie in the vault."""

    def __init__(self, auditing: Auditing, *, public_key: bytes) -> None:
        self._auditing = auditing
        self._public_key = public_key

    def GetDepositKey(  # noqa: N802
        self, request: audit_service_pb2.GetDepositKeyRequest, call: Call
    ) -> audit_service_pb2.GetDepositKeyResponse:
        """Return the key of the caller's project."""
        key = self._auditing.deposit_key(call.caller)
        statement = SignedStatement(key.payload, key.signature, self._public_key)
        return audit_service_pb2.GetDepositKeyResponse(public_key=key.public_key, statement=_statement(statement))

    def DepositAudit(  # noqa: N802
        self, request_iterator: Iterator[audit_service_pb2.DepositAuditRequest], call: Call
    ) -> audit_service_pb2.DepositAuditResponse:
        """Deposit a locked audit."""
        first = next(request_iterator, None)
        if first is None:
            raise InvalidRequest("the stream names no audit; send at least one message", subject="audit_id")
        asked = AuditDeposit(first.audit_id, first.registration, first.author_key)
        pieces = (SealedPiece(each.sealed, each.is_last) for each in itertools.chain([first], request_iterator))
        audit = self._auditing.deposit(asked, pieces, call.caller)
        return audit_service_pb2.DepositAuditResponse(audit=self._whole(audit))

    def GetAudit(  # noqa: N802
        self, request: audit_service_pb2.GetAuditRequest, call: Call
    ) -> audit_service_pb2.GetAuditResponse:
        """Return one audit."""
        (audit_id,) = parse(request.name, "audits")
        return audit_service_pb2.GetAuditResponse(audit=self._whole(self._auditing.get(audit_id, call.caller)))

    def ListAudits(  # noqa: N802
        self, request: audit_service_pb2.ListAuditsRequest, call: Call
    ) -> audit_service_pb2.ListAuditsResponse:
        """List the audits of the caller's project."""
        heads, token = page(
            self._auditing.heads(call.caller),
            key=lambda head: head.audit_id,
            after=request.page_token,
            size=page_size(request.page_size, default=100),
        )
        return audit_service_pb2.ListAuditsResponse(audits=map(_short, heads), next_page_token=token)

    def AmendAudit(  # noqa: N802
        self, request: audit_service_pb2.AmendAuditRequest, call: Call
    ) -> audit_service_pb2.AmendAuditResponse:
        """Add an amendment."""
        (audit_id,) = parse(request.name, "audits")
        audit = self._auditing.amend(audit_id, request.amendment, call.caller)
        return audit_service_pb2.AmendAuditResponse(audit=self._whole(audit))

    def FetchForms(  # noqa: N802
        self, request: audit_service_pb2.FetchFormsRequest, call: Call
    ) -> Iterator[audit_service_pb2.FetchFormsResponse]:
        """Stream the forms of a bank, sealed to the holder."""
        audit_id, bank = parse(request.bank, "audits", "banks", field="bank")
        for piece in self._auditing.forms(audit_id, bank, holder_key=request.holder_key, caller=call.caller):
            yield audit_service_pb2.FetchFormsResponse(sealed=piece.sealed, is_last=piece.is_last)

    def ListFormAnswerChunks(  # noqa: N802
        self, request: audit_service_pb2.ListFormAnswerChunksRequest, call: Call
    ) -> audit_service_pb2.ListFormAnswerChunksResponse:
        """List the chunks that the caller has sent."""
        key = self._auditing.answer_set(*_set(request.name, "name"), call.caller)
        limit, start = page_size(request.page_size, default=PAGE_SIZE_MAX), page_start(request.page_token)
        found = self._auditing.chunks(key, call.caller, start=start, limit=limit + 1)
        return audit_service_pb2.ListFormAnswerChunksResponse(
            chunks=[
                audit_service_pb2.FormAnswerChunk(
                    number=chunk.number, digest=chunk.digest, answer_count=chunk.answer_count
                )
                for chunk in found[:limit]
            ],
            next_page_token=str(found[limit].number) if len(found) > limit else "",
        )

    def SubmitFormAnswers(  # noqa: N802
        self, request_iterator: Iterator[audit_service_pb2.SubmitFormAnswersRequest], call: Call
    ) -> audit_service_pb2.SubmitFormAnswersResponse:
        """Add chunks of answers."""
        first = next(request_iterator, None)
        if first is None:
            raise InvalidRequest("the stream names no answer set; send at least one message", subject="answer_set")
        key = self._auditing.answer_set(*_set(first.answer_set, "answer_set"), call.caller)
        self._auditing.submit(key, _chunks(first, request_iterator), call.caller)
        return audit_service_pb2.SubmitFormAnswersResponse(answer_set=_answer_set(key, None))

    def SealFormAnswers(  # noqa: N802
        self, request: audit_service_pb2.SealFormAnswersRequest, call: Call
    ) -> audit_service_pb2.SealFormAnswersResponse:
        """Close a complete answer set."""
        key = self._auditing.answer_set(*_set(request.name, "name"), call.caller)
        sealed = self._auditing.seal(
            key,
            call.caller,
            chunk_count=request.chunk_count,
            request_id=request.request_id,
            answers_digest=request.answers_digest,
        )
        return audit_service_pb2.SealFormAnswersResponse(answer_set=_answer_set(key, sealed))

    def DownloadScores(  # noqa: N802
        self, request: audit_service_pb2.DownloadScoresRequest, call: Call
    ) -> Iterator[audit_service_pb2.DownloadScoresResponse]:
        """Stream the scores of a variant."""
        audit_id, variant = parse(request.name, "audits", "variants")
        statement, tables = self._auditing.scores(audit_id, variant, call.caller)
        yield audit_service_pb2.DownloadScoresResponse(statement=_statement(statement))
        for number, content in enumerate(tables):
            for start in range(0, len(content), CHUNK_BYTES):
                chunk = content[start : start + CHUNK_BYTES]
                yield audit_service_pb2.DownloadScoresResponse(table=number, chunk=chunk)

    def _whole(self, audit: Audit) -> audit_service_pb2.Audit:
        message = _short(audit.head)
        message.registration = audit.draft.registration
        message.amendments.extend(audit.amendments)
        message.amendment_receipts.extend(map(_statement, audit.amendment_receipts))
        message.answer_sets.extend(_answer_set(key, sealed) for key, sealed in self._auditing.receipts(audit))
        message.released_variants.extend(
            f"{audit.name}/variants/{variant}" for variant in self._auditing.released(audit)
        )
        return message


def _short(head: AuditHead) -> audit_service_pb2.Audit:
    return audit_service_pb2.Audit(
        name=head.name,
        title=head.title,
        depositor=head.depositor,
        create_time=timestamp(head.create_time),
        author_key=head.author_key,
    )


def _answer_set(key: SetKey, sealed: SealedAnswers | None) -> audit_service_pb2.AnswerSet:
    receipt = None if sealed is None else _statement(sealed.receipt)
    return audit_service_pb2.AnswerSet(name=key.name, receipt=receipt)


def _statement(statement: SignedStatement) -> resources_pb2.Statement:
    return resources_pb2.Statement(
        payload=statement.payload, signature=statement.signature, public_key=statement.public_key
    )


def _set(name: str, field: str) -> tuple[str, str, str, str]:
    audit_id, variant, bank, model_id = parse(name, *_SET, field=field)
    return audit_id, variant, bank, model_id


def _chunks(
    first: audit_service_pb2.SubmitFormAnswersRequest, rest: Iterator[audit_service_pb2.SubmitFormAnswersRequest]
) -> Iterator[SentChunk]:
    for request in itertools.chain([first], rest):
        if request.answer_set != first.answer_set:
            raise InvalidRequest(
                f"a stream fills one answer set; it began with {first.answer_set!r} and now names "
                f"{request.answer_set[:200]!r}",
                subject="answer_set",
            )
        yield SentChunk(request.number, request.digest, request.sealed)
