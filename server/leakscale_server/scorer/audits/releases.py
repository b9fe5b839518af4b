"""The scores of a variant: every table at once, signed, and over one collection of answer sets for good.

So whoever asks the scorer, in whatever order, learns of each form as much as one run of every registered model tells.
It believes the assurance level, and which variants left before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.answering.answers import scored_keys
from leakscale.audit.forms.models import FormName
from leakscale.audit.registration.models import Registration
from leakscale.audit.remote.chunks import answers_digest
from leakscale.audit.remote.names import audit_name, scores_name
from leakscale.audit.scoring.answers import accuracy_table
from leakscale.digests import canonical_json
from leakscale.statements import Predicate, statement
from leakscale_server.errors import IntegrityFailure
from leakscale_server.scorer.audits.contract import AnswerSetOrder, ReleasedPart, ReleaseOrder, SealedSet
from leakscale_server.scorer.audits.deposits import Deposits, audit_key, registration_digest
from leakscale_server.scorer.audits.documents import banks_of, registration_of
from leakscale_server.scorer.audits.marks import Marks
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault

__all__ = ["Releases"]

_RELEASE: Final = "release"


@dataclass(frozen=True, slots=True)
class Releases:
    """Scores of variants. Safe to use from several threads."""

    vault: Vault
    signer: Signer
    deposits: Deposits
    marks: Marks

    def release(self, order: ReleaseOrder) -> Iterator[ReleasedPart]:
        """Score a variant and sign; see `AuditScoring`."""
        registration = registration_of(order.audit, amendment=order.amendment)
        name = scores_name(order.audit.audit_id, registration.variant)
        _require_every_set(order, registration, name)
        right = [self._right(order, each, registration) for each in order.sets]
        self._charge(order, registration, name)
        files = [self._file(order, each, marks, registration) for each, marks in zip(order.sets, right, strict=True)]
        payload = statement(
            Predicate.AUDIT_SCORES,
            subject=name,
            digest=hashlib.sha256(order.audit.registration).digest(),
            predicate=_facts(order, registration, files),
        )
        yield ReleasedPart(payload, self.signer.sign_statement(payload))
        for content in files:
            yield ReleasedPart(content)

    def _charge(self, order: ReleaseOrder, registration: Registration, name: str) -> None:
        """Note what a variant is scored over, or refuse it; noted before, the same again is nothing new."""
        body = canonical_json(
            {
                "registration": registration_digest(order.audit),
                "amendment": hashlib.sha256(order.amendment).hexdigest(),
                "sets": [[each.bank, each.model_id, answers_digest(each.digests)] for each in order.sets],
            }
        )
        key = audit_key(order.audit)
        if self.vault.keep_of_audit(_RELEASE, key, registration.variant, body) != body:
            raise IntegrityFailure(
                f"the scores {name!r} were over other answers before; restore registry and vault from one copy of the "
                "data folder",
                subject=name,
            )

    def _right(self, order: ReleaseOrder, answers: SealedSet, registration: Registration) -> list[bool]:
        which = AnswerSetOrder(order.audit, order.amendment, answers.bank, answers.model_id)
        return self.marks.of_set(which, answers.digests, registration=registration)

    def _file(self, order: ReleaseOrder, answers: SealedSet, right: list[bool], registration: Registration) -> bytes:
        opened = self.deposits.opened(order.audit)[answers.bank]
        plan = registration.plan
        of_form: dict[FormName, list[bool]] = {}
        keys = scored_keys(opened.bank, answer_count=plan.decoding.answer_count)
        for (form, _), is_right in zip(keys, right, strict=True):
            of_form.setdefault(opened.forms[form].name, []).append(is_right)
        return accuracy_table(opened.bank, of_form, plan.scoring, model=answers.model_id).to_bytes()


def _facts(order: ReleaseOrder, registration: Registration, files: list[bytes]) -> dict[str, Any]:
    return {
        "audit": audit_name(order.audit.audit_id),
        "registration": registration_digest(order.audit),
        "variant": registration.variant,
        "amendment": hashlib.sha256(order.amendment).hexdigest() if order.amendment else "",
        "assurance_level": order.assurance_level,
        "released_before": list(order.released_before),
        "tables": [
            {
                "bank": each.bank,
                "model": each.model_id,
                "answers": answers_digest(each.digests),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
            for each, content in zip(order.sets, files, strict=True)
        ],
    }


def _require_every_set(order: ReleaseOrder, registration: Registration, name: str) -> None:
    wanted = [(bank, model.id) for bank in banks_of(registration) for model in registration.plan.models]
    if [(each.bank, each.model_id) for each in order.sets] != wanted:
        raise IntegrityFailure(
            f"the scores {name!r} were asked for with other answer sets than the registration has; restore the "
            "registry from a copy of the data folder",
            subject=name,
        )
