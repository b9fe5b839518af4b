"""Amend a locked audit: log a change with its reason, beside what was registered.

An amendment is relative to the registration, not to the amendments before it, so each can be read alone. It has a name
of its own (`amendment-1`) under which its answers, scores and numbers are kept; nothing of the registered variant is
overwritten.

Source: CleanScore 7.3 (Amendment 1 was logged before the rerun, and reported beside, never instead).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from leakscale.audit.clock import utc_now
from leakscale.audit.directory import REGISTERED, AuditDirectory, BankRole
from leakscale.audit.registration.amended import fetched_amendments
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Amendment, Registration
from leakscale.audit.registration.origin import fetched_of, require_golds
from leakscale.audit.registration.preconditions import rehearse, require_clean_prompt, require_engines
from leakscale.audit.registration.released import released_of
from leakscale.audit.registration.standing import Standing
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.digests import json_digest
from leakscale.errors import InvalidRequestError, NotFoundError, PreconditionError

__all__ = ["amend_audit", "amendments_of", "registration_of", "require_asked_anew", "scored_variant"]


_ASKING: Final = frozenset({"prompt", "decoding", "scoring"})
"""Tables of a plan that act on answers only where the audit asks for them."""


def amend_audit(
    directory: AuditDirectory, *, changes: Mapping[str, Any], reason: str, now: datetime | None = None
) -> Amendment:
    """Log an amendment.

    Args:
        changes: New values by dotted field of the plan, e.g. `{"decoding.token_count_max": 768}`; a model is named by
            its id, e.g. `models.qwen.revision`.
        reason: Why; whoever reads the report reads it, in one line.

    Raises:
        InvalidRequestError: If there is no reason, nothing changes, or a change breaks a rule or may not be made.
        PreconditionError: If the audit is not locked, for such a plan is edited; or was fetched from a server.
        IntegrityError: If something locked was changed.
        ConflictError: If another process works in the directory.
    """
    with directory.held():
        require_golds(directory, "an amendment")
        registration = locked_registration(directory)
        if not reason.strip():
            raise InvalidRequestError(f"amendment of audit '{registration.name}': no reason is given; say why")
        earlier = amendments_of(directory)
        seen = {path.relative_to(directory.root).as_posix() for path in directory.asked()}
        # What was deleted since has been seen as well.
        seen |= {entry.subject for entry in Standing(directory).of(EntryKind.SCORES)}
        amendment = Amendment(
            number=len(earlier) + 1,
            reason=" ".join(reason.split()),
            changes=dict(changes),
            amended_at=(now or utc_now()).isoformat(),
            files_seen=tuple(sorted(seen)),
        )
        _check(directory, registration, amendment, earlier)
        AuditLedger(directory).append(
            EntryKind.AMENDMENT,
            subject=amendment.variant,
            digest=json_digest(amendment.to_json()),
            facts=amendment.to_json(),
            at=now,
        )
    return amendment


def amendments_of(directory: AuditDirectory) -> tuple[Amendment, ...]:
    """Return every amendment, in order.

    Raises:
        IntegrityError: If the ledger was changed.
    """
    if (fetched := fetched_of(directory)) is not None:
        return tuple(each.amendment for each in fetched_amendments(directory, fetched))
    entries = AuditLedger(directory).entries()
    return tuple(Amendment.from_json(entry.facts) for entry in entries if entry.kind is EntryKind.AMENDMENT)


def registration_of(directory: AuditDirectory, variant: str = REGISTERED) -> Registration:
    """Return what was locked, with the changes of an amendment where the variant names one.

    Of a fetched audit whose scores have come, with the assurance level that the server says.

    Raises:
        NotFoundError: If there is no such amendment.
        PreconditionError, IntegrityError: As `locked_registration`.
    """
    registration = locked_registration(directory)
    if variant == REGISTERED:
        return _with_assurance(directory, registration, REGISTERED)
    amendments = {amendment.variant: amendment for amendment in amendments_of(directory)}
    if variant not in amendments:
        known = ", ".join((REGISTERED, *amendments))
        raise NotFoundError(f"variant '{variant}' is not in audit '{registration.name}'; it has {known}")
    amended = registration.with_amendment(amendments[variant])
    return _with_assurance(directory, amended, _scored(registration, amended))


def _with_assurance(directory: AuditDirectory, registration: Registration, scored: str) -> Registration:
    fetched = fetched_of(directory)
    released = released_of(directory, fetched, scored) if fetched else None
    return replace(registration, assurance_level=released.assurance_level) if released else registration


def scored_variant(directory: AuditDirectory, registration: Registration) -> str:
    """Return the variant whose answers an analysis takes: an amendment of the inference alone asks nobody again."""
    return _scored(locked_registration(directory), registration)


def _scored(registered: Registration, registration: Registration) -> str:
    as_asked = registration.plan.model_copy(update={"inference": registered.plan.inference})
    return REGISTERED if as_asked == registered.plan else registration.variant


def require_asked_anew(directory: AuditDirectory, registration: Registration) -> None:
    """Refuse answers for an amendment that changes no question.

    Raises:
        PreconditionError: If it changes the inference alone.
    """
    if scored_variant(directory, registration) != registration.variant:
        raise PreconditionError(
            f"variant '{registration.variant}' of audit '{registration.name}' changes the inference alone, and its "
            "analysis takes the registered scores; run `leakscale audit analyze --variant` with it"
        )


def _check(
    directory: AuditDirectory, registration: Registration, amendment: Amendment, earlier: Sequence[Amendment]
) -> None:
    amended = registration.with_amendment(amendment)
    for other in earlier:
        if registration.with_amendment(other).plan == amended.plan:
            raise InvalidRequestError(
                f"amendment of audit '{registration.name}': {other.variant} makes this change already; answer that one"
            )
    if amended.plan == registration.plan:
        raise InvalidRequestError(
            f"amendment of audit '{registration.name}': it changes nothing; set a field to another value"
        )
    if all(model.is_asked_already for model in amended.plan.models) and (
        idle := sorted(field for field in amendment.changes if field.split(".")[0] in _ASKING)
    ):
        raise InvalidRequestError(
            f"amendment of audit '{registration.name}': {idle[0]} decides how models are asked, and every model is one "
            "of engine 'log', which nobody asks; amend models or inference"
        )
    control_count = registration.control.parent_count if registration.control else 0
    require_engines(amended.plan)
    bank = locked_bank(directory, registration)
    control = locked_bank(directory, registration, BankRole.CONTROL) if registration.control else None
    require_clean_prompt(amended.plan, bank, control)
    rehearse(amended.plan, amended.draw, bank, control_count=control_count)
