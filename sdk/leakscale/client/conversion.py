"""Between generated messages and the SDK's dataclasses; the only module of the SDK that knows both."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from leakscale.errors import IntegrityError
from leakscale.merkle import leaf_hash
from leakscale.models import (
    Allowance,
    AtomBudget,
    Bank,
    BankPhase,
    Budget,
    Candidate,
    Certificate,
    CertificationOutcome,
    CertificationRequest,
    Cohort,
    Condition,
    Domain,
    Edition,
    EditionKind,
    EditionPhase,
    Experiment,
    ExperimentPlan,
    Family,
    Grant,
    GrantPhase,
    LedgerEntry,
    LedgerHead,
    ModelState,
    Opening,
    Receipt,
    Rejection,
    Ring,
    ServerInfo,
    SignedStatement,
    Transition,
)
from leakscale.results import Disclosure, disclosure_from_payload
from leakscale.v1 import certification_service_pb2, enums_pb2, experiment_service_pb2, resources_pb2, server_service_pb2

__all__ = [
    "CONDITION_VALUES",
    "KIND_VALUES",
    "RING_VALUES",
    "to_bank",
    "to_budget",
    "to_disclosure",
    "to_edition",
    "to_experiment",
    "to_family",
    "to_grant",
    "to_ledger_entry",
    "to_ledger_head",
    "to_opening",
    "to_outcome",
    "to_receipt",
    "to_server_info",
]

_DOMAINS: Final = {enums_pb2.DOMAIN_SQL: Domain.SQL, enums_pb2.DOMAIN_PYTHON: Domain.PYTHON}
_STATES: Final = {enums_pb2.MODEL_STATE_BASE: ModelState.BASE, enums_pb2.MODEL_STATE_ADAPTED: ModelState.ADAPTED}
_RINGS: Final = {enums_pb2.RING_R0: Ring.R0, enums_pb2.RING_R1: Ring.R1, enums_pb2.RING_R2: Ring.R2}
_CONDITIONS: Final = {enums_pb2.CONDITION_C0: Condition.C0, enums_pb2.CONDITION_C2: Condition.C2}
_KINDS: Final = {
    enums_pb2.EDITION_KIND_PRACTICE: EditionKind.PRACTICE,
    enums_pb2.EDITION_KIND_PRIVATE: EditionKind.PRIVATE,
}
_GRANT_PHASES: Final = {
    enums_pb2.GRANT_PHASE_REQUESTED: GrantPhase.REQUESTED,
    enums_pb2.GRANT_PHASE_APPROVED: GrantPhase.APPROVED,
    enums_pb2.GRANT_PHASE_REDEEMED: GrantPhase.REDEEMED,
    enums_pb2.GRANT_PHASE_EXPIRED: GrantPhase.EXPIRED,
}
_PHASES: Final = {
    enums_pb2.EDITION_PHASE_DRAFT: EditionPhase.DRAFT,
    enums_pb2.EDITION_PHASE_CERTIFIED: EditionPhase.CERTIFIED,
    enums_pb2.EDITION_PHASE_FROZEN: EditionPhase.FROZEN,
    enums_pb2.EDITION_PHASE_EXPOSED: EditionPhase.EXPOSED,
    enums_pb2.EDITION_PHASE_RETIRED: EditionPhase.RETIRED,
}
_BANK_PHASES: Final = {
    enums_pb2.BANK_PHASE_DRAFT: BankPhase.DRAFT,
    enums_pb2.BANK_PHASE_OPEN: BankPhase.OPEN,
    enums_pb2.BANK_PHASE_SEALED: BankPhase.SEALED,
    enums_pb2.BANK_PHASE_SCORED: BankPhase.SCORED,
    enums_pb2.BANK_PHASE_RELEASED: BankPhase.RELEASED,
    enums_pb2.BANK_PHASE_EXPIRED: BankPhase.EXPIRED,
}
CONDITION_VALUES: Final = {condition: value for value, condition in _CONDITIONS.items()}
KIND_VALUES: Final = {kind: value for value, kind in _KINDS.items()}
RING_VALUES: Final = {ring: value for value, ring in _RINGS.items()}


def to_family(message: resources_pb2.Family) -> Family:
    """Read a public family."""
    first, second, third, fourth = (Candidate(each.text, each.answer) for each in message.candidates)
    return Family(
        family_id=message.name.rpartition("/")[2],
        domain=_DOMAINS[message.domain],
        shape_id=message.shape_id,
        ring=_RINGS[message.ring],
        task=message.task,
        inputs=tuple(message.inputs),
        key=message.key,
        candidates=(first, second, third, fourth),
    )


def to_edition(message: resources_pb2.Edition) -> Edition:
    """Read an edition."""
    return Edition(
        name=message.name,
        kind=_KINDS[message.kind],
        phase=_PHASES[message.phase],
        families_per_cell=message.families_per_cell,
        shape_ids=tuple(message.shape_ids),
        certified_count=message.certified_count,
        family_count=message.family_count,
        commitment_root=message.commitment_root,
        certificates_digest=message.certificates_digest,
        create_time=message.create_time.ToDatetime(UTC),
        freeze_time=message.freeze_time.ToDatetime(UTC) if message.HasField("freeze_time") else None,
        freeze_statement=_to_statement(message.freeze_statement) if message.HasField("freeze_statement") else None,
        retirement_statement=_to_statement(message.retirement_statement)
        if message.HasField("retirement_statement")
        else None,
        transitions=tuple(
            Transition(_PHASES[each.phase], each.time.ToDatetime(UTC), each.principal) for each in message.transitions
        ),
    )


def to_opening(message: resources_pb2.Opening) -> Opening:
    """Read what a commitment hid."""
    return Opening(message.family_id, message.key, message.truth, message.nonce, _CONDITIONS[message.condition])


def to_outcome(message: certification_service_pb2.CertifyFamiliesResponse) -> CertificationOutcome:
    """Read how one family fared."""
    certificate = rejection = None
    if message.HasField("certificate"):
        certificate = Certificate(
            family=message.certificate.family,
            payload=message.certificate.payload,
            signature=message.certificate.signature,
            payload_digest=message.certificate.payload_digest,
        )
    else:
        figures = tuple((figure.label, figure.value) for figure in message.rejection.figures)
        rejection = Rejection(message.rejection.rule, message.rejection.message, figures)
    return CertificationOutcome(
        request=CertificationRequest(message.shape_id, _CONDITIONS[message.condition], message.ordinal),
        family=message.family,
        certificate=certificate,
        rejection=rejection,
        is_stored=message.is_stored,
    )


def to_grant(message: resources_pb2.Grant) -> Grant:
    """Read a grant."""

    def moment(field: str) -> datetime | None:
        return getattr(message, field).ToDatetime(UTC) if message.HasField(field) else None

    return Grant(
        name=message.name,
        phase=_GRANT_PHASES[message.phase],
        holder=message.holder,
        holder_key=message.holder_key,
        preservation_count=message.preservation_count,
        create_time=message.create_time.ToDatetime(UTC),
        approver=message.approver,
        approve_time=moment("approve_time"),
        expire_time=moment("expire_time"),
        redeem_time=moment("redeem_time"),
    )


def to_bank(message: resources_pb2.Bank) -> Bank:
    """Read a bank."""
    return Bank(
        name=message.name,
        domain=_DOMAINS[message.domain],
        state=_STATES[message.state],
        phase=_BANK_PHASES[message.phase],
        case_count=message.case_count,
        answered_count=message.answered_count,
        ring=_RINGS[message.ring],
    )


def to_experiment(message: resources_pb2.Experiment) -> Experiment:
    """Read an experiment with its banks."""
    plan = ExperimentPlan(
        experiment_id=message.name.rpartition("/")[2],
        edition=message.edition,
        model_label=message.model_label,
        draw_count=message.draw_count,
        bank_seed=message.bank_seed,
        resample_count=message.resample_count,
        bootstrap_seed=message.bootstrap_seed,
        rings=tuple(_RINGS[ring] for ring in message.rings),
        cohorts=tuple(Cohort(each.cohort_id, tuple(each.shape_ids)) for each in message.cohorts),
        cohort_families_min=message.cohort_families_min,
        lifetime=timedelta(seconds=message.lifetime.seconds),
        is_self_administered=message.is_self_administered,
    )
    banks = tuple(to_bank(bank) for bank in message.banks)
    return Experiment(message.name, plan, banks, message.expire_time.ToDatetime(UTC))


def to_budget(message: experiment_service_pb2.GetBudgetResponse) -> Budget:
    """Read what may still be disclosed of an edition."""
    return Budget(tuple(_to_atom_budget(each) for each in message.atoms), message.is_unlimited)


def _to_atom_budget(message: resources_pb2.AtomBudget) -> AtomBudget:
    allowances = tuple(
        Allowance(
            account=each.account,
            release_count=each.release_count,
            release_count_max=each.release_count_max,
            bits=each.millibits / 1000,
            bits_max=each.millibits_max / 1000,
        )
        for each in message.allowances
    )
    return AtomBudget(
        domain=_DOMAINS[message.domain],
        shape_id=message.shape_id,
        condition=_CONDITIONS[message.condition],
        family_count=message.family_count,
        allowances=allowances,
    )


def to_receipt(message: resources_pb2.Receipt) -> Receipt:
    """Read a receipt."""
    return Receipt(message.bank, message.answers_digest, message.case_count, message.ledger_index)


def to_disclosure(message: resources_pb2.Disclosure) -> Disclosure:
    """Read a disclosure; the numbers come out of the signed bytes and nowhere else."""
    return disclosure_from_payload(message.payload, signature=message.signature, public_key=message.public_key)


def to_ledger_head(message: resources_pb2.LedgerHead) -> LedgerHead:
    """Read a ledger head."""
    return LedgerHead(message.entry_count, message.root, message.signature, message.public_key)


def to_ledger_entry(message: resources_pb2.LedgerEntry) -> LedgerEntry:
    """Read a ledger entry.

    Raises:
        IntegrityError: If it is not the one of its leaf.
    """
    if message.content and leaf_hash(message.content) != message.leaf:
        raise IntegrityError(
            f"entry {message.position} of the ledger is not the one of its leaf: the server's registry was changed or "
            "is damaged; its operator restores it from a copy"
        )
    return LedgerEntry(message.position, message.leaf, message.content)


def to_server_info(message: server_service_pb2.GetServerInfoResponse) -> ServerInfo:
    """Read what a server is."""
    return ServerInfo(
        version=message.version,
        sandbox_backend=message.sandbox_backend,
        sandbox_image=message.sandbox_image,
        lane_count=message.lane_count,
        public_key=message.public_key,
        message_bytes_max=message.message_bytes_max,
        cases_per_message_max=message.cases_per_message_max,
        features=tuple(message.features),
        calls_per_s=message.calls_per_s,
        calls_at_once_max=message.calls_at_once_max,
        streams_at_once_max=message.streams_at_once_max,
        principal=message.principal,
        project=message.project,
        role=message.role,
        scopes=tuple(message.scopes),
    )


def _to_statement(message: resources_pb2.Statement) -> SignedStatement:
    return SignedStatement(message.payload, message.signature, message.public_key)
