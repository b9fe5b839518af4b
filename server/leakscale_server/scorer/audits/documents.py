"""What an author signed, read once and with the signature checked; its rules for an audit that is deposited."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from leakscale.audit.registration.documents import amendment_in, registration_in
from leakscale.audit.registration.models import Amendment, BankFacts, Registration
from leakscale.audit.remote.limits import AMENDMENTS_MAX, MODELS_MAX, PARENTS_MAX
from leakscale.errors import LeakScaleError
from leakscale_server.errors import InvalidRequest
from leakscale_server.scorer.audits.contract import AuditOrder

__all__ = ["amendment_of", "banks_of", "registration_of", "require_depositable", "require_one_answer"]

_READ_COUNT_MAX: Final = 64


def registration_of(audit: AuditOrder, *, amendment: bytes = b"") -> Registration:
    """Return what was registered, with the changes of an amendment if one is given.

    Raises:
        InvalidRequest: If either cannot be read, or another key signed it.
    """
    with _readable("registration"):
        registration = _registration(audit.registration, audit.author_key)
    if not amendment:
        return registration
    changed = amendment_of(audit, amendment)
    with _readable("amendment"):
        return registration.with_amendment(changed)


def amendment_of(audit: AuditOrder, content: bytes) -> Amendment:
    """Return an amendment.

    Raises:
        InvalidRequest: If it cannot be read, another key signed it, or there may be none of its number.
    """
    with _readable("amendment"):
        amendment = _amendment(content, audit.author_key)
    if type(amendment.number) is not int or not 1 <= amendment.number <= AMENDMENTS_MAX:
        raise InvalidRequest(
            f"amendment has the number {amendment.number!r}, and an audit takes 1 to {AMENDMENTS_MAX}; register a new "
            "audit",
            subject="amendment",
        )
    return amendment


def banks_of(registration: Registration) -> dict[str, BankFacts]:
    """Return what is locked of each bank, by its role."""
    control = {"control": registration.control} if registration.control else {}
    return {"audit": registration.bank, **control}


def require_depositable(registration: Registration, *, audit_id: str) -> None:
    """Refuse an audit of another name, or one whose answers could not be sealed.

    Raises:
        InvalidRequest: If it is one.
    """
    if registration.name != audit_id:
        raise InvalidRequest(
            f"audit_id {audit_id!r} is not the name in its registration, {registration.name!r}; use that",
            subject="audit_id",
        )
    models = registration.plan.models
    if len(models) > MODELS_MAX:
        raise InvalidRequest(
            f"registration has {len(models)} models, and a server takes {MODELS_MAX}", subject="registration"
        )
    asked = next((model.id for model in models if model.is_asked_already), None)
    if asked is not None:
        raise InvalidRequest(
            f"model {asked!r} is registered with engine 'log', so its answers existed before the lock and cannot be "
            "sealed; deposit an audit whose models are all asked",
            subject="registration",
        )
    require_one_answer(registration)
    for role, facts in banks_of(registration).items():
        if facts.parent_count not in range(1, PARENTS_MAX + 1):
            raise InvalidRequest(
                f"bank {role!r} has {facts.parent_count!r} parents, and a server takes 1 to {PARENTS_MAX:,}",
                subject="registration",
            )


def require_one_answer(registration: Registration) -> None:
    """Refuse a plan that asks a form more than once: a mean over answers tells more of a gold than right or wrong.

    Raises:
        InvalidRequest: If it is one.
    """
    answer_count = registration.plan.decoding.answer_count
    if answer_count != 1:
        raise InvalidRequest(
            f"{registration.variant}: decoding.answer_count is {answer_count}, and forms whose golds are hidden are "
            "answered once: a mean over answers that are made up for it tells which of them were right; register 1",
            subject="decoding.answer_count",
        )


@contextmanager
def _readable(field: str) -> Iterator[None]:
    """Refuse what the SDK cannot read. Documents are public, so its words may be repeated."""
    try:
        yield
    except (LeakScaleError, AttributeError, KeyError, TypeError, ValueError) as error:
        # Signed is not the same as written by our own tools: what is quoted may be half a surrogate pair.
        said = str(error).encode(errors="replace").decode()
        raise InvalidRequest(f"{field}: {said}", subject=field) from error


@functools.lru_cache(maxsize=_READ_COUNT_MAX)
def _registration(content: bytes, author_key: bytes) -> Registration:
    return registration_in(content, public_key=author_key, source="it")


@functools.lru_cache(maxsize=_READ_COUNT_MAX)
def _amendment(content: bytes, author_key: bytes) -> Amendment:
    return amendment_in(content, public_key=author_key, source="it")
