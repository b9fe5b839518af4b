"""The seal of an answer set: once, by one principal, with a signed receipt that does not depend on any right answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from leakscale.models import SignedStatement
from leakscale.statements import Predicate, statement, subject_of
from leakscale_server.errors import AlreadyDone, BankIncomplete, InvalidRequest
from leakscale_server.registry.audits.audit import Audit, SealedAnswers, SetKey
from leakscale_server.registry.audits.chunks import FormChunk, FormChunks
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.signing import Signer

__all__ = ["FormSeals"]

_REQUEST_ID_BYTES_MAX: Final = 128
_CHUNKS_MAX: Final = 2**16
_DIGEST_BYTES: Final = 32
_OF_VARIANT: Final = "SELECT * FROM form_seals WHERE project = ? AND audit_id = ? AND variant = ?"


class FormSeals:
    """Seals of one registry.

    Args:
        registry: Where they are kept.
        ledger: Where each is entered.
        signer: Signs receipts.
        chunks: Of the same registry.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        signer: Signer,
        chunks: FormChunks,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._signer = signer
        self._chunks = chunks
        self._now = now

    def find(self, key: SetKey) -> SealedAnswers | None:
        """Return the seal of an answer set, if it has one."""
        query = f"{_OF_VARIANT} AND bank = ? AND model_id = ?"
        row = self._registry.row(query, (key.project, key.audit_id, key.variant, key.bank, key.model_id))
        return None if row is None else self._sealed(row)

    def of_variant(self, audit: Audit, variant: str) -> dict[SetKey, SealedAnswers]:
        """Return the seals of a variant."""
        rows = self._registry.rows(_OF_VARIANT, (audit.draft.project, audit.draft.audit_id, variant))
        return {sealed.key: sealed for sealed in map(self._sealed, rows)}

    def require_open(self, key: SetKey) -> None:
        """Refuse further answers to a set that is sealed.

        Raises:
            AlreadyDone: If it is.
        """
        if self.find(key) is not None:
            raise AlreadyDone(f"answer set {key.name!r} is sealed, so it takes no more answers", subject=key.name)

    def seal(
        self,
        audit: Audit,
        key: SetKey,
        principal: str,
        *,
        chunk_count: int,
        request_id: str,
        answers_digest: bytes = b"",
    ) -> SealedAnswers:
        """Close a complete answer set; the same request again returns the same receipt.

        Args:
            audit: Whose it is.
            key: Where it is.
            principal: Whose chunks make it.
            chunk_count: How many.
            request_id: By which it is known again.
            answers_digest: SHA-256 over the digests of these chunks; empty for whatever is there.

        Raises:
            InvalidRequest: If the request id is too long, or there cannot be so many chunks.
            BankIncomplete: If a chunk or an answer is missing, or is another one.
            CaseDuplicate: If two chunks answer one form.
            AlreadyDone: If another principal or request sealed it.
        """
        if len(request_id.encode()) > _REQUEST_ID_BYTES_MAX:
            raise InvalidRequest(f"request_id is longer than {_REQUEST_ID_BYTES_MAX} bytes", subject="request_id")
        if not 1 <= chunk_count <= _CHUNKS_MAX:
            raise InvalidRequest(f"chunk_count {chunk_count} is not in 1 to {_CHUNKS_MAX}", subject="chunk_count")
        if len(answers_digest) not in (0, _DIGEST_BYTES):
            raise InvalidRequest(
                f"answers_digest has {len(answers_digest)} bytes, and SHA-256 has {_DIGEST_BYTES}",
                subject="answers_digest",
            )
        with self._registry.transaction():
            sealed = self.find(key)
            if sealed is None:
                chunks = self._chunks.whole(key, principal, chunk_count=chunk_count)
                _require_these(chunks, answers_digest, key)
                self._close(audit, key, principal, chunks, request_id=request_id)
                sealed = self.find(key)
                assert sealed is not None  # noqa: S101 - written above
        _, digest = subject_of(sealed.receipt.payload)
        asked = (principal, request_id, chunk_count, answers_digest or digest)
        if (sealed.principal, sealed.request_id, sealed.chunk_count, digest) != asked:
            raise AlreadyDone(
                f"answer set {key.name!r} was sealed by another principal or request, or with other answers; a set is "
                "sealed once, and its receipt returns to the request that did it",
                subject=key.name,
            )
        return sealed

    def _close(self, audit: Audit, key: SetKey, principal: str, chunks: list[FormChunk], *, request_id: str) -> None:
        digest = _digest_of(chunks)
        body = {
            "audit": key.audit_id,
            "variant": key.variant,
            "bank": key.bank,
            "model": key.model_id,
            "answers": digest.hex(),
            "by": principal,
        }
        index = self._ledger.append("audit-answers-sealed", body, project=key.project)
        facts = {**body, **_facts(audit, key, chunks), "ledger_index": index, "seal_time": self._time()}
        payload = statement(Predicate.FORM_ANSWERS, subject=key.name, digest=digest, predicate=facts)
        row: Row = {
            "project": key.project,
            "audit_id": key.audit_id,
            "variant": key.variant,
            "bank": key.bank,
            "model_id": key.model_id,
            "principal": principal,
            "request_id": request_id,
            "chunk_count": len(chunks),
            "ledger_index": index,
            "payload": payload,
            "signature": self._signer.sign_statement(payload),
        }
        self._registry.add("form_seals", [row])

    def _time(self) -> str:
        return self._now().isoformat(timespec="seconds")

    def _sealed(self, row: Row) -> SealedAnswers:
        key = SetKey(*(row[name] for name in ("project", "audit_id", "variant", "bank", "model_id")))
        return SealedAnswers(
            key=key,
            principal=row["principal"],
            request_id=row["request_id"],
            chunk_count=row["chunk_count"],
            ledger_index=row["ledger_index"],
            receipt=SignedStatement(row["payload"], row["signature"], self._signer.public_key),
        )


def _digest_of(chunks: list[FormChunk]) -> bytes:
    return hashlib.sha256(b"".join(chunk.digest for chunk in chunks)).digest()


def _require_these(chunks: list[FormChunk], answers_digest: bytes, key: SetKey) -> None:
    if answers_digest and _digest_of(chunks) != answers_digest:
        raise BankIncomplete(
            f"the chunks of answer set {key.name!r} are not those of answers_digest: others of yours took their place; "
            "submit again, then seal",
            subject=key.name,
        )


def _facts(audit: Audit, key: SetKey, chunks: list[FormChunk]) -> dict[str, str | int]:
    amendment = audit.amendment(key.variant)
    return {
        "audit": audit.name,
        "registration": hashlib.sha256(audit.draft.registration).hexdigest(),
        "amendment": hashlib.sha256(amendment).hexdigest() if amendment else "",
        "chunk_count": len(chunks),
        "answer_count": sum(chunk.answer_count for chunk in chunks),
    }
