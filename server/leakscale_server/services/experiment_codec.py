"""Between generated messages and the server's own types: plans, banks, answers, receipts, disclosures, budgets."""

from __future__ import annotations

from datetime import timedelta

from google.protobuf.duration_pb2 import Duration

from leakscale.models import Answer, BankPhase, Ring
from leakscale.v1 import bank_service_pb2, enums_pb2, experiment_service_pb2, resources_pb2
from leakscale_server.core.disclosure.atoms import Cohort
from leakscale_server.core.disclosure.budget import Account
from leakscale_server.core.disclosure.policy import COHORT_FAMILIES_DEFAULT
from leakscale_server.errors import InvalidRequest
from leakscale_server.registry.experiments import (
    AnswerChunk,
    AtomBudget,
    Bank,
    Experiment,
    ExperimentPlan,
    Receipt,
    Released,
    StoredChunk,
)
from leakscale_server.registry.experiments.plans import LIFETIME_DEFAULT_S
from leakscale_server.registry.names import child, parse
from leakscale_server.services.wire import (
    CONDITION_VALUES,
    DOMAINS,
    RING_VALUES,
    RINGS,
    STATES,
    duration,
    known,
    timestamp,
)

__all__ = [
    "decode_chunk",
    "decode_plan",
    "encode_atom_budget",
    "encode_bank",
    "encode_chunk",
    "encode_disclosure",
    "encode_experiment",
    "encode_receipt",
]

_PHASES = {
    BankPhase.DRAFT: enums_pb2.BANK_PHASE_DRAFT,
    BankPhase.OPEN: enums_pb2.BANK_PHASE_OPEN,
    BankPhase.SEALED: enums_pb2.BANK_PHASE_SEALED,
    BankPhase.SCORED: enums_pb2.BANK_PHASE_SCORED,
    BankPhase.RELEASED: enums_pb2.BANK_PHASE_RELEASED,
    BankPhase.EXPIRED: enums_pb2.BANK_PHASE_EXPIRED,
}


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
        rings=tuple(known(RING_VALUES, ring, field="rings") for ring in request.rings) or (Ring.R0,),
        cohorts=tuple(Cohort(cohort.cohort_id, tuple(cohort.shape_ids)) for cohort in request.cohorts),
        cohort_families_min=request.cohort_families_min or COHORT_FAMILIES_DEFAULT,
        lifetime_s=_seconds(request.lifetime) if request.HasField("lifetime") else LIFETIME_DEFAULT_S,
        is_self_administered=request.is_self_administered,
    )


def decode_chunk(request: bank_service_pb2.SubmitAnswersRequest) -> AnswerChunk:
    """Read a chunk of answers as it came."""
    answers = [Answer(answer.family_id, answer.draw, answer.text) for answer in request.answers]
    return AnswerChunk(request.number, request.digest, answers)


def encode_bank(bank: Bank) -> resources_pb2.Bank:
    """Write a bank."""
    return resources_pb2.Bank(
        name=bank.name,
        domain=DOMAINS[bank.domain],
        state=STATES[bank.state],
        phase=_PHASES[bank.phase],
        case_count=bank.case_count,
        answered_count=bank.answered_count,
        ring=RINGS[bank.ring],
    )


def encode_experiment(experiment: Experiment) -> resources_pb2.Experiment:
    """Write an experiment with its banks."""
    plan = experiment.plan
    return resources_pb2.Experiment(
        name=experiment.name,
        edition=child("editions", plan.edition_id),
        model_label=plan.model_label,
        draw_count=plan.draw_count,
        bank_seed=plan.bank_seed,
        resample_count=plan.resample_count,
        bootstrap_seed=plan.bootstrap_seed,
        banks=[encode_bank(bank) for bank in experiment.banks],
        create_time=timestamp(experiment.create_time),
        rings=[RINGS[ring] for ring in plan.rings],
        cohorts=[resources_pb2.Cohort(cohort_id=each.cohort_id, shape_ids=each.shape_ids) for each in plan.cohorts],
        cohort_families_min=plan.cohort_families_min,
        expire_time=timestamp(experiment.expire_time),
        is_self_administered=plan.is_self_administered,
        lifetime=Duration(seconds=plan.lifetime_s),
    )


def encode_chunk(chunk: StoredChunk) -> resources_pb2.Chunk:
    """Write which chunk is there."""
    return resources_pb2.Chunk(number=chunk.number, digest=chunk.digest, answer_count=chunk.answer_count)


def encode_receipt(receipt: Receipt) -> resources_pb2.Receipt:
    """Write a receipt."""
    return resources_pb2.Receipt(
        bank=receipt.bank.name,
        answers_digest=receipt.answers_digest,
        case_count=receipt.bank.case_count,
        ledger_index=receipt.ledger_index,
    )


def encode_disclosure(experiment_id: str, released: Released) -> resources_pb2.Disclosure:
    """Write a disclosure."""
    return resources_pb2.Disclosure(
        experiment=child("experiments", experiment_id),
        payload=released.payload,
        signature=released.signature,
        public_key=released.public_key,
        ledger_index=released.ledger_index,
    )


def encode_atom_budget(budget: AtomBudget) -> resources_pb2.AtomBudget:
    """Write what is spent and allowed on one atom."""
    allowances = [
        resources_pb2.Allowance(
            account=account.value,
            release_count=budget.spent[account].release_count,
            release_count_max=budget.allowed[account].release_count,
            millibits=budget.spent[account].millibits,
            millibits_max=budget.allowed[account].millibits,
        )
        for account in Account
    ]
    return resources_pb2.AtomBudget(
        domain=DOMAINS[budget.atom.domain],
        shape_id=budget.atom.shape_id,
        condition=CONDITION_VALUES[budget.atom.condition],
        family_count=budget.family_count,
        allowances=allowances,
    )


def _seconds(lifetime: Duration) -> int:
    whole, rest = divmod(duration(lifetime, field="lifetime"), timedelta(seconds=1))
    if rest:
        raise InvalidRequest("lifetime is not in whole seconds; round it", subject="lifetime")
    return whole
