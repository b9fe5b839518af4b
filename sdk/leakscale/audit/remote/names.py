"""What the parts of a deposited audit are called on a server, and what their sealed pieces are bound to."""

from __future__ import annotations

import hashlib
from typing import Final

__all__ = [
    "answer_set_name",
    "answers_subject",
    "audit_name",
    "bank_name",
    "deposit_subject",
    "forms_subject",
    "scores_name",
]

_AUDITS: Final = "audits"


def audit_name(audit_id: str) -> str:
    """Return the name of an audit."""
    return f"{_AUDITS}/{audit_id}"


def bank_name(audit_id: str, bank: str) -> str:
    """Return the name of one of its banks, `audit` or `control`."""
    return f"{audit_name(audit_id)}/banks/{bank}"


def scores_name(audit_id: str, variant: str) -> str:
    """Return the name of a variant of its registration, which has scores: `registered`, `amendment-1`, …."""
    return f"{audit_name(audit_id)}/variants/{variant}"


def answer_set_name(audit_id: str, variant: str, bank: str, model_id: str) -> str:
    """Return the name of the answers of one model to one bank."""
    return f"{scores_name(audit_id, variant)}/banks/{bank}/models/{model_id}"


def deposit_subject(audit_id: str, registration: bytes) -> str:
    """Return what the pieces of a deposit are sealed for."""
    return f"{audit_name(audit_id)}/deposit/{hashlib.sha256(registration).hexdigest()}"


def forms_subject(bank: str, holder_key: bytes) -> str:
    """Return what the pieces of a bank are sealed for, by the bank's name and the holder's public key."""
    return f"{bank}/forms/{holder_key.hex()}"


def answers_subject(answer_set: str, number: int) -> str:
    """Return what a chunk of answers is sealed for, by the answer set's name: the chunk is its one piece."""
    return f"{answer_set}/chunks/{number}"
