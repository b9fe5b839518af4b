"""Between generated messages and the server's own types; the only module that knows both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from leakscale.models import (
    Answer,
    Condition,
    Domain,
    EditionPhase,
    Family,
    GrantPhase,
    ModelState,
    Opening,
    Ring,
    SignedStatement,
)
from leakscale.v1 import (
    certification_service_pb2,
    edition_service_pb2,
    enums_pb2,
    experiment_service_pb2,
    resources_pb2,
)
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.errors import InvalidRequest
from leakscale_server.limits import PAGE_SIZE_MAX
from leakscale_server.registry.disclosures import Released
from leakscale_server.registry.editions import Edition, EditionDraft, SignedCertificate
from leakscale_server.registry.experiments import Bank, Experiment, ExperimentPlan, Receipt
from leakscale_server.registry.grants import Grant
from leakscale_server.registry.names import child, parse
from leakscale_server.stages.editions import CertificationOutcome

__all__ = [
    "decode_answers",
    "decode_draft",
    "decode_plan",
    "decode_ring",
    "decode_slot",
    "encode_bank",
    "encode_certification",
    "encode_disclosure",
    "encode_edition",
    "encode_experiment",
    "encode_family",
    "encode_grant",
    "encode_opening",
    "encode_receipt",
    "page",
    "page_size",
]

T = TypeVar("T")
E = TypeVar("E", bound=int)
_Row = TypeVar("_Row")

_DOMAINS: Final = {Domain.SQL: enums_pb2.DOMAIN_SQL, Domain.PYTHON: enums_pb2.DOMAIN_PYTHON}
_CONDITIONS: Final = {enums_pb2.CONDITION_C0: Condition.C0, enums_pb2.CONDITION_C2: Condition.C2}
_CONDITION_VALUES: Final = {condition: value for value, condition in _CONDITIONS.items()}
_STATES: Final = {ModelState.BASE: enums_pb2.MODEL_STATE_BASE, ModelState.ADAPTED: enums_pb2.MODEL_STATE_ADAPTED}
_RINGS: Final = {Ring.R0: enums_pb2.RING_R0, Ring.R1: enums_pb2.RING_R1, Ring.R2: enums_pb2.RING_R2}
_RING_VALUES: Final = {enums_pb2.RING_UNSPECIFIED: Ring.R0, **{value: ring for ring, value in _RINGS.items()}}
_PHASES: Final = {
    EditionPhase.DRAFT: enums_pb2.EDITION_PHASE_DRAFT,
    EditionPhase.CERTIFIED: enums_pb2.EDITION_PHASE_CERTIFIED,
    EditionPhase.FROZEN: enums_pb2.EDITION_PHASE_FROZEN,
    EditionPhase.EXPOSED: enums_pb2.EDITION_PHASE_EXPOSED,
    EditionPhase.RETIRED: enums_pb2.EDITION_PHASE_RETIRED,
}
_KINDS: Final = {enums_pb2.EDITION_KIND_PRACTICE: "practice", enums_pb2.EDITION_KIND_PRIVATE: "private"}
_KIND_VALUES: Final = {kind: value for value, kind in _KINDS.items()}
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


def decode_draft(request: edition_service_pb2.CreateEditionRequest, *, project: str) -> EditionDraft:
    """Read what an author asks for."""
    return EditionDraft(
        edition_id=request.edition_id,
        kind=_known(_KINDS, request.kind, field="kind"),
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
    condition = _known(_CONDITIONS, request.condition, field="condition")
    shape = edition.shape(request.shape_id)
    if not 0 <= request.ordinal < edition.families_per_cell:
        raise InvalidRequest(
            f"ordinal {request.ordinal} is not in 0 to {edition.families_per_cell - 1}", subject="ordinal"
        )
    return FamilySlot(shape.id, condition, request.ordinal)


def decode_plan(request: experiment_service_pb2.CreateExperimentRequest) -> ExperimentPlan:
    """Read the plan of an experiment."""
    (edition_id,) = parse(request.edition, "editions", field="edition")
    return ExperimentPlan(
        experiment_id=request.experiment_id,
        edition_id=edition_id,
        model_label=request.model_label,
        draw_count=request.draw_count,
        bank_seed=request.bank_seed,
        resample_count=request.resample_count,
        bootstrap_seed=request.bootstrap_seed,
        rings=tuple(_known(_RING_VALUES, ring, field="rings") for ring in request.rings) or (Ring.R0,),
    )


def decode_ring(value: enums_pb2.Ring) -> Ring:
    """Read the form in which families are asked for; R0 unless one is named."""
    return _known(_RING_VALUES, value, field="ring")


def decode_answers(answers: list[resources_pb2.Answer]) -> list[Answer]:
    """Read answers as they came."""
    return [Answer(answer.family_id, answer.draw, answer.text) for answer in answers]


def encode_edition(edition: Edition, *, is_own: bool) -> resources_pb2.Edition:
    """Write an edition.

    Args:
        edition: One that the caller may see.
        is_own: Whether it is of the caller's project, who then learns who did what.
    """
    message = resources_pb2.Edition(
        name=child("editions", edition.edition_id),
        kind=_KIND_VALUES[edition.kind],
        phase=_PHASES[edition.phase],
        families_per_cell=edition.families_per_cell,
        shape_ids=[shape.id for shape in edition.shapes],
        certified_count=edition.certified_count,
        family_count=len(edition.slots()),
        commitment_root=edition.commitment_root,
        certificates_digest=edition.certificates_digest,
        create_time=_timestamp(edition.create_time),
        transitions=[
            resources_pb2.Transition(
                phase=_PHASES[each.phase], time=_timestamp(each.time), principal=each.principal if is_own else ""
            )
            for each in edition.transitions
        ],
    )
    if edition.freeze_time is not None:
        message.freeze_time.CopyFrom(_timestamp(edition.freeze_time))
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
        condition=_CONDITION_VALUES[opening.condition],
    )


def encode_family(edition_id: str, family: Family) -> resources_pb2.Family:
    """Write the public part of a family."""
    return resources_pb2.Family(
        name=child("editions", edition_id, "families", family.family_id),
        domain=_DOMAINS[family.domain],
        shape_id=family.shape_id,
        ring=_RINGS[family.ring],
        task=family.task,
        inputs=family.inputs,
        key=family.key,
        candidates=[resources_pb2.Candidate(text=each.text, answer=each.answer) for each in family.candidates],
    )


def encode_certification(
    edition_id: str, outcome: CertificationOutcome
) -> certification_service_pb2.CertifyFamiliesResponse:
    """Write how one family fared."""
    message = certification_service_pb2.CertifyFamiliesResponse(
        shape_id=outcome.slot.shape_id,
        condition=_CONDITION_VALUES[outcome.slot.condition],
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
        create_time=_timestamp(grant.create_time),
        phase=_GRANT_PHASES[phase],
        holder=grant.holder,
        holder_key=grant.holder_key,
        preservation_count=grant.preservation_count,
        approver=grant.approver,
    )
    for field in ("approve_time", "expire_time", "redeem_time"):
        moment = getattr(grant, field)
        if moment is not None:
            getattr(message, field).CopyFrom(_timestamp(moment))
    return message


def encode_bank(bank: Bank) -> resources_pb2.Bank:
    """Write a bank."""
    return resources_pb2.Bank(
        name=child("experiments", bank.experiment_id, "banks", bank.bank_id),
        domain=_DOMAINS[bank.domain],
        state=_STATES[bank.state],
        phase=enums_pb2.BANK_PHASE_SEALED if bank.is_sealed else enums_pb2.BANK_PHASE_OPEN,
        case_count=bank.case_count,
        answered_count=bank.answered_count,
        ring=_RINGS[bank.ring],
    )


def encode_experiment(experiment: Experiment) -> resources_pb2.Experiment:
    """Write an experiment with its banks."""
    plan = experiment.plan
    return resources_pb2.Experiment(
        name=child("experiments", plan.experiment_id),
        edition=child("editions", plan.edition_id),
        model_label=plan.model_label,
        draw_count=plan.draw_count,
        bank_seed=plan.bank_seed,
        resample_count=plan.resample_count,
        bootstrap_seed=plan.bootstrap_seed,
        banks=[encode_bank(bank) for bank in experiment.banks],
        create_time=_timestamp(experiment.create_time),
        rings=[_RINGS[ring] for ring in plan.rings],
    )


def encode_receipt(receipt: Receipt) -> resources_pb2.Receipt:
    """Write a receipt."""
    return resources_pb2.Receipt(
        bank=child("experiments", receipt.bank.experiment_id, "banks", receipt.bank.bank_id),
        answers_digest=receipt.answers_digest,
        case_count=receipt.bank.case_count,
        ledger_index=receipt.ledger_index,
    )


def encode_disclosure(experiment_id: str, released: Released, *, public_key: bytes) -> resources_pb2.Disclosure:
    """Write a disclosure."""
    return resources_pb2.Disclosure(
        experiment=child("experiments", experiment_id),
        payload=released.payload,
        signature=released.signature,
        public_key=public_key,
        ledger_index=released.ledger_index,
    )


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


def _timestamp(moment: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def _known(values: Mapping[E, T], value: E, *, field: str) -> T:
    if value not in values:
        raise InvalidRequest(f"{field} is missing or unknown ({int(value)})", subject=field)
    return values[value]
