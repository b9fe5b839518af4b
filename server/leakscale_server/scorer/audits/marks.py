"""Answers judged chunk by chunk, and kept in the vault until scores may leave.

What is kept of a chunk has one byte an answer, so its length says nothing of how many are right. A chunk is kept under
its digest: the same one again is nothing new, another one of its number stands beside it, and which of them count is
for the seal to say.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.forms.models import Criterion
from leakscale.audit.registration.models import Registration
from leakscale.audit.remote.chunks import read_chunk
from leakscale.audit.remote.names import answer_set_name, answers_subject
from leakscale.audit.scoring.answers import is_right
from leakscale.audit.scoring.numbers import NumericParser
from leakscale.errors import LeakScaleError
from leakscale_server.errors import CaseDuplicate, CaseUnknown, IntegrityFailure, InvalidRequest
from leakscale_server.scorer.audits.banks import OpenedBank, PlacedForm
from leakscale_server.scorer.audits.contract import AnswerSetOrder, CheckedChunk, ChunkOrder
from leakscale_server.scorer.audits.deposits import Deposits, audit_key
from leakscale_server.scorer.audits.documents import registration_of
from leakscale_server.store.vault import Vault

__all__ = ["Marks", "set_name"]

_MARKS: Final = "marks"
_PLACE_BYTES: Final = 4


def set_name(order: AnswerSetOrder, registration: Registration) -> str:
    """Return the resource name of an answer set."""
    return answer_set_name(order.audit.audit_id, registration.variant, order.bank, order.model_id)


@dataclass(frozen=True, slots=True)
class Marks:
    """What came out of answers. Safe to use from several threads."""

    vault: Vault
    deposits: Deposits

    def mark(self, chunk: ChunkOrder) -> CheckedChunk:
        """Open, judge and keep a chunk; see `AuditScoring`."""
        order = chunk.answers
        registration = registration_of(order.audit, amendment=order.amendment)
        name = set_name(order, registration)
        opened = self.deposits.opened(order.audit)[order.bank]
        places = opened.places(registration.plan.decoding.answer_count)
        answers = self._answers(chunk, name)
        found = [_place(places.get((answer.form, answer.number)), answer, name) for answer in answers]
        if len(set(found)) < len(found):
            raise CaseDuplicate(
                f"chunk {chunk.number} of answer set {name!r} has two answers to one form; send one", subject=name
            )
        right = _judged(answers, opened, registration)
        content = struct.pack(f"<{len(found)}I", *found) + bytes(right)
        self.vault.keep_of_audit(_MARKS, audit_key(order.audit), _name(order, name, chunk.digest), content)
        return CheckedChunk(content[: _PLACE_BYTES * len(found)], len(places))

    def of_set(self, order: AnswerSetOrder, digests: Iterable[bytes], *, registration: Registration) -> list[bool]:
        """Return whether each answer of a complete set is right, in the order of their places.

        Raises:
            IntegrityFailure: If a chunk is not there, or they do not make the set.
        """
        name, opened = set_name(order, registration), self.deposits.opened(order.audit)[order.bank]
        right: dict[int, bool] = {}
        answer_count = 0
        for digest in digests:
            content = self.vault.of_audit(_MARKS, audit_key(order.audit), _name(order, name, digest))
            if content is None:
                raise _not_whole(name)
            count = len(content) // (_PLACE_BYTES + 1)
            right |= dict(zip(struct.unpack_from(f"<{count}I", content), map(bool, content[-count:]), strict=True))
            answer_count += count
        case_count = len(opened.places(registration.plan.decoding.answer_count))
        if answer_count != case_count or right.keys() != set(range(case_count)):
            raise _not_whole(name)
        return [right[place] for place in range(case_count)]

    def _answers(self, chunk: ChunkOrder, name: str) -> list[FormAnswer]:
        subject = answers_subject(name, chunk.number)
        try:
            content = self.deposits.key(chunk.answers.audit.project).open(
                chunk.sealed, subject=subject, index=0, is_last=True
            )
        except LeakScaleError as error:
            raise InvalidRequest(
                f"chunk {chunk.number} of answer set {name!r} does not open: it was sealed to another key than "
                "GetDepositKey tells, for another set or number, or changed on the way; submit again",
                subject="sealed",
            ) from error
        if hashlib.sha256(content).digest() != chunk.digest:
            raise InvalidRequest(
                f"chunk {chunk.number} of answer set {name!r} has another digest than it names; submit again",
                subject="digest",
            )
        try:
            return read_chunk(content)
        except LeakScaleError as error:
            raise InvalidRequest(f"chunk {chunk.number} of answer set {name!r}: {error}", subject="sealed") from error


def _place(place: int | None, answer: FormAnswer, name: str) -> int:
    if place is None:
        raise CaseUnknown(
            f"answer set {name!r} takes no answer {answer.number} to form {answer.form[:80]!r}; answer the forms that "
            "FetchForms gives, as often as the variant says",
            subject="sealed",
        )
    return place


def _judged(answers: Sequence[FormAnswer], opened: OpenedBank, registration: Registration) -> list[bool]:
    settings = registration.plan.scoring
    parser = NumericParser(settings.parser_formats)
    right = []
    for answer in answers:
        placed = opened.forms[answer.form]
        _require_kind(answer, placed)
        right.append(is_right(answer, placed.form, placed.criterion, parser=parser, choice_score=settings.choice_score))
    return right


def _require_kind(answer: FormAnswer, placed: PlacedForm) -> None:
    is_choice = placed.criterion is Criterion.CHOICE
    if (answer.generated is None) is not is_choice or len(answer.options) != len(placed.form.options):
        wanted = f"a score of each of its {len(placed.form.options)} options" if is_choice else "a generated text"
        raise InvalidRequest(f"the answer to form '{placed.name}' is not {wanted}; answer it anew", subject="sealed")


def _name(order: AnswerSetOrder, name: str, digest: bytes) -> str:
    # By the documents themselves, too: their author may have signed two of one name, or of one number.
    signed = (order.audit.registration, order.amendment)
    return "/".join((name, *(hashlib.sha256(each).hexdigest() for each in signed), digest.hex()))


def _not_whole(name: str) -> IntegrityFailure:
    return IntegrityFailure(
        f"answer set {name!r} came to the scorer with other chunks than were judged; restore registry and vault from "
        "one copy of the data folder",
        subject=name,
    )
