"""The scores that a server released for a fetched audit: its signed word, kept beside the tables that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amended import amendment_digest
from leakscale.audit.registration.origin import Fetched, fetched_of
from leakscale.audit.scores.models import ScoreKind
from leakscale.envelopes import open_envelope
from leakscale.errors import IntegrityError, PreconditionError
from leakscale.reading import fault_of
from leakscale.statements import Predicate

__all__ = ["Released", "ReleasedTable", "released_in", "released_of", "require_released"]

_LEVELS: Final = ("L0", "L1", "L2")


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """One table of scores, as the server names it."""

    answers: str
    """Hex digest of the answers that were scored, as their receipt names them."""
    sha256: str
    """Of the table's file."""


@dataclass(frozen=True, slots=True)
class Released:
    """What a server says of the scores of one variant."""

    variant: str
    assurance_level: str
    """`L1`: one principal deposited and answered. `L2`: another one answered."""
    released_before: tuple[str, ...]
    """Variants whose scores had left before the last answers of this one were sealed; whoever gave those knew them."""
    tables: Mapping[tuple[BankRole, str], ReleasedTable]
    """By bank and model."""


def released_of(directory: AuditDirectory, fetched: Fetched, variant: str) -> Released | None:
    """Return what the server said of a variant's scores; None where they have not come yet.

    Raises:
        IntegrityError: If the kept statement was changed, or is of another audit.
    """
    path = directory.released(variant)
    if not path.is_file():
        return None
    amendment = amendment_digest(directory, fetched, variant)
    return released_in(path.read_bytes(), fetched, variant=variant, amendment=amendment, source=f"'{path}'")


def require_released(directory: AuditDirectory, variant: str) -> None:
    """Hold the accuracies of a fetched audit to what its server signed; of another audit, the ledger alone says.

    The ledger of a fetched audit is signed by whoever answers, who could enter any table.

    Raises:
        PreconditionError: If the server's word on the variant is not here.
        IntegrityError: If a table is not the one that the server signed, is missing, or is there twice.
    """
    fetched = fetched_of(directory)
    if fetched is None:
        return
    released = released_of(directory, fetched, variant)
    if released is None:
        raise PreconditionError(
            f"the scores of variant '{variant}' of {fetched.audit} are not released here; run `leakscale audit submit "
            f"{directory.root}`"
        )
    for (role, model), stated in released.tables.items():
        paths = [
            directory.scores(model, bank=role, kind=kind, variant=variant) for kind in ScoreKind if not kind.is_signal
        ]
        if [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()] != [stated.sha256]:
            raise IntegrityError(
                f"the scores of model '{model}' on the {role} bank ({variant}) are not those that the server signed; "
                "fetch into a new folder, and submit there to take them"
            )


def released_in(content: bytes, fetched: Fetched, *, variant: str, amendment: str, source: str) -> Released:
    """Return what a server's signed statement says of a variant's scores.

    Args:
        content: The statement's envelope.
        fetched: The audit that it has to be of, and the server's key.
        variant: `registered`, or an amendment.
        amendment: Hex SHA-256 of the amendment that its author signed; empty of the registered variant.
        source: File or server it is from, for messages.

    Raises:
        IntegrityError: If the server's key did not sign it, a byte was changed, or it is about something else.
    """
    facts = open_envelope(content, Predicate.AUDIT_SCORES, public_key=fetched.server_key, source=source).facts
    try:
        about = {
            "audit": fetched.audit,
            "registration": fetched.registration_digest,
            "variant": variant,
            "amendment": amendment,
        }
        if other := [name for name, value in about.items() if facts[name] != value]:
            raise ValueError(f"its {other[0]} is '{facts[other[0]]}', not '{about[other[0]]}'")
        if facts["assurance_level"] not in _LEVELS:
            raise ValueError(f"its assurance level is '{facts['assurance_level']}'")
        return Released(variant, facts["assurance_level"], tuple(facts["released_before"]), _tables(facts))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"{source} are not the scores of {fetched.audit} ({fault_of(error)}); submit again"
        ) from error


def _tables(facts: Mapping[str, Any]) -> dict[tuple[BankRole, str], ReleasedTable]:
    return {
        (BankRole(each["bank"]), str(each["model"])): ReleasedTable(str(each["answers"]), str(each["sha256"]))
        for each in facts["tables"]
    }
