"""Between generated messages and the server's own types: editions, families, grants; see also `experiment_codec`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from leakscale.models import EditionPhase, Family, GrantPhase, Opening, Ring, SignedStatement
from leakscale.v1 import (
    certification_service_pb2,
    edition_service_pb2,
    enums_pb2,
    resources_pb2,
)
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.errors import InvalidRequest, NotFound
from leakscale_server.limits import PAGE_SIZE_MAX
from leakscale_server.registry.editions import Edition, EditionDraft, SignedCertificate
from leakscale_server.registry.grants import Grant
from leakscale_server.registry.lifecycle import ShownEdition
from leakscale_server.registry.names import child
from leakscale_server.services.wire import (
    CONDITION_VALUES,
    CONDITIONS,
    DOMAINS,
    KIND_VALUES,
    KINDS,
    RING_VALUES,
    RINGS,
    known,
    timestamp,
)
from leakscale_server.stages.editions import CertificationOutcome
from leakscale_server.store.edition_file import Forms

__all__ = [
    "decode_draft",
    "decode_ring",
    "decode_slot",
    "encode_certification",
    "encode_edition",
    "encode_family",
    "encode_grant",
    "encode_opening",
    "named_family",
    "page",
    "page_size",
    "page_start",
]

_Row = TypeVar("_Row")

_PHASES: Final = {
    EditionPhase.DRAFT: enums_pb2.EDITION_PHASE_DRAFT,
    EditionPhase.CERTIFIED: enums_pb2.EDITION_PHASE_CERTIFIED,
    EditionPhase.FROZEN: enums_pb2.EDITION_PHASE_FROZEN,
    EditionPhase.EXPOSED: enums_pb2.EDITION_PHASE_EXPOSED,
    EditionPhase.RETIRED: enums_pb2.EDITION_PHASE_RETIRED,
}
_GRANT_PHASES: Final = {
    GrantPhase.REQUESTED: enums_pb2.GRANT_PHASE_REQUESTED,
    GrantPhase.APPROVED: enums_pb2.GRANT_PHASE_APPROVED,
    GrantPhase.REDEEMED: enums_pb2.GRANT_PHASE_REDEEMED,
    GrantPhase.EXPIRED: enums_pb2.GRANT_PHASE_EXPIRED,
}


def page_size(asked: int, *, default: int) -> int:
    """Return how many rows a page has: what was asked, the default for 0, never more than the most.

    Raises:
        InvalidRequest: If it is negative.
    """
    if asked < 0:
        raise InvalidRequest(
            f"page_size {asked} is negative; use 1 to {PAGE_SIZE_MAX} or leave it out", subject="page_size"
        )
    return min(asked or default, PAGE_SIZE_MAX)


def page(rows: Sequence[_Row], *, key: Callable[[_Row], str], after: str, size: int) -> tuple[Sequence[_Row], str]:
    """Cut a page out of rows: those behind the one with the key `after`, and the token of the next page.

    Raises:
        InvalidRequest: If no row has that key.
    """
    keys = [key(row) for row in rows]
    if after and after not in keys:
        raise InvalidRequest(
            f"page_token {after[:80]!r} is none of this server's; pass the next_page_token of the page before",
            subject="page_token",
        )
    start = keys.index(after) + 1 if after else 0
    found = rows[start : start + size]
    return found, key(found[-1]) if start + size < len(rows) else ""


def page_start(page_token: str) -> int:
    """Return the number that a page begins with; 0 for the first.

    Raises:
        InvalidRequest: If no page ended so.
    """
    if not page_token:
        return 0
    if not (page_token.isascii() and page_token.isdecimal() and len(page_token) <= 18):
        raise InvalidRequest(
            f"page_token {page_token[:80]!r} is none of this server's; pass the next_page_token of the page before",
            subject="page_token",
        )
    return int(page_token)


def decode_draft(request: edition_service_pb2.CreateEditionRequest, *, project: str) -> EditionDraft:
    """Read what an author asks for."""
    return EditionDraft(
        edition_id=request.edition_id,
        kind=known(KINDS, request.kind, field="kind"),
        families_per_cell=request.families_per_cell,
        public_seed=request.public_seed,
        shapes=tuple((shape.source, shape.toml) for shape in request.shapes),
        project=project,
    )


def decode_slot(request: certification_service_pb2.CertifyFamiliesRequest, edition: Edition) -> FamilySlot:
    """Read which family of an edition is to be certified.

    Raises:
        NotFound: If the edition has no such shape.
        InvalidRequest: If condition or ordinal is out of range.
    """
    condition = known(CONDITIONS, request.condition, field="condition")
    shape = edition.shape(request.shape_id)
    if not 0 <= request.ordinal < edition.families_per_cell:
        raise InvalidRequest(
            f"ordinal {request.ordinal} is not in 0 to {edition.families_per_cell - 1}", subject="ordinal"
        )
    return FamilySlot(shape.id, condition, request.ordinal)


def decode_ring(value: enums_pb2.Ring) -> Ring:
    """Read the form in which families are asked for; R0 unless one is named."""
    return known(RING_VALUES, value, field="ring")


def encode_edition(edition: ShownEdition, *, is_own: bool) -> resources_pb2.Edition:
    """Write an edition.

    Args:
        edition: One that the caller may see.
        is_own: Whether it is of the caller's project, who then learns who did what.
    """
    message = resources_pb2.Edition(
        name=child("editions", edition.edition_id),
        kind=KIND_VALUES[edition.kind],
        phase=_PHASES[edition.phase],
        families_per_cell=edition.families_per_cell,
        shape_ids=edition.shape_ids,
        certified_count=edition.certified_count,
        family_count=edition.family_count,
        commitment_root=edition.commitment_root,
        certificates_digest=edition.certificates_digest,
        create_time=timestamp(edition.create_time),
        transitions=[
            resources_pb2.Transition(
                phase=_PHASES[each.phase], time=timestamp(each.time), principal=each.principal if is_own else ""
            )
            for each in edition.transitions
        ],
    )
    if edition.freeze_time is not None:
        message.freeze_time.CopyFrom(timestamp(edition.freeze_time))
    if edition.freeze_statement is not None:
        message.freeze_statement.CopyFrom(_encode_statement(edition.freeze_statement))
    if edition.retirement_statement is not None:
        message.retirement_statement.CopyFrom(_encode_statement(edition.retirement_statement))
    return message


def encode_opening(opening: Opening) -> resources_pb2.Opening:
    """Write what a commitment of a retired edition hid."""
    return resources_pb2.Opening(
        family_id=opening.family_id,
        key=opening.key,
        truth=opening.truth,
        nonce=opening.nonce,
        condition=CONDITION_VALUES[opening.condition],
    )


def named_family(forms: Forms, edition_id: str, family_id: str) -> Family:
    """Return one family of an edition.

    Raises:
        NotFound: If there is none of that id.
    """
    family = forms.by_id.get(family_id)
    if family is None:
        raise NotFound(f"edition {edition_id!r} has no family {family_id[:80]!r}", subject=family_id[:80])
    return family


def encode_family(edition_id: str, family: Family) -> Mapping[str, Any]:
    """Write the public part of a family as the fields of its message, which would be made here and copied there."""
    return {
        "name": child("editions", edition_id, "families", family.family_id),
        "domain": DOMAINS[family.domain],
        "shape_id": family.shape_id,
        "ring": RINGS[family.ring],
        "task": family.task,
        "inputs": family.inputs,
        "key": family.key,
        "candidates": [{"text": each.text, "answer": each.answer} for each in family.candidates],
    }


def encode_certification(
    edition_id: str, outcome: CertificationOutcome
) -> certification_service_pb2.CertifyFamiliesResponse:
    """Write how one family fared."""
    message = certification_service_pb2.CertifyFamiliesResponse(
        shape_id=outcome.slot.shape_id,
        condition=CONDITION_VALUES[outcome.slot.condition],
        ordinal=outcome.slot.ordinal,
        family=child("editions", edition_id, "families", outcome.family_id),
        is_stored=outcome.is_stored,
    )
    if outcome.certificate is not None:
        message.certificate.CopyFrom(_encode_certificate(message.family, outcome.certificate))
    elif outcome.rejection is not None:
        figures = [resources_pb2.Figure(label=label, value=value) for label, value in outcome.rejection.figures.items()]
        rejection = resources_pb2.Rejection(
            rule=outcome.rejection.reason.value, message=outcome.rejection.message, figures=figures
        )
        message.rejection.CopyFrom(rejection)
    return message


def encode_grant(grant: Grant, phase: GrantPhase) -> resources_pb2.Grant:
    """Write a grant."""
    message = resources_pb2.Grant(
        name=grant.name,
        create_time=timestamp(grant.create_time),
        phase=_GRANT_PHASES[phase],
        holder=grant.holder,
        holder_key=grant.holder_key,
        preservation_count=grant.preservation_count,
        approver=grant.approver,
    )
    for field in ("approve_time", "expire_time", "redeem_time"):
        moment = getattr(grant, field)
        if moment is not None:
            getattr(message, field).CopyFrom(timestamp(moment))
    return message


def _encode_certificate(family: str, certificate: SignedCertificate) -> resources_pb2.Certificate:
    return resources_pb2.Certificate(
        family=family,
        payload=certificate.payload,
        signature=certificate.signature,
        payload_digest=certificate.payload_digest,
    )


def _encode_statement(statement: SignedStatement) -> resources_pb2.Statement:
    return resources_pb2.Statement(
        payload=statement.payload, signature=statement.signature, public_key=statement.public_key
    )
