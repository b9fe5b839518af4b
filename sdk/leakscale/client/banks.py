"""`client.experiments` and `client.banks`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration

from leakscale.answers import chunks_of
from leakscale.client.conversion import RING_VALUES, to_bank, to_budget, to_disclosure, to_experiment, to_receipt
from leakscale.client.transport import Transport
from leakscale.models import Answer, Bank, Budget, Experiment, ExperimentPlan, Receipt
from leakscale.results import Disclosure
from leakscale.v1 import (
    bank_service_pb2,
    bank_service_pb2_grpc,
    experiment_service_pb2,
    experiment_service_pb2_grpc,
    resources_pb2,
)

__all__ = ["Banks", "Experiments"]


class Experiments:
    """Registered experiments and their one disclosure."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(experiment_service_pb2_grpc.ExperimentServiceStub)

    def create(self, plan: ExperimentPlan) -> Experiment:
        """Register an experiment with its banks; the same plan again returns the same experiment."""
        request = experiment_service_pb2.CreateExperimentRequest(
            experiment_id=plan.experiment_id,
            edition=plan.edition,
            model_label=plan.model_label,
            draw_count=plan.draw_count,
            bank_seed=plan.bank_seed,
            resample_count=plan.resample_count,
            bootstrap_seed=plan.bootstrap_seed,
            rings=[RING_VALUES[ring] for ring in plan.rings],
            cohorts=[resources_pb2.Cohort(cohort_id=each.cohort_id, shape_ids=each.shape_ids) for each in plan.cohorts],
            cohort_families_min=plan.cohort_families_min,
            lifetime=_duration(plan.lifetime),
            is_self_administered=plan.is_self_administered,
        )
        return to_experiment(self._transport.unary(self._stub.CreateExperiment, request).experiment)

    def get(self, name: str) -> Experiment:
        """Return one experiment by its name, `experiments/{experiment}`."""
        request = experiment_service_pb2.GetExperimentRequest(name=name)
        return to_experiment(self._transport.unary(self._stub.GetExperiment, request).experiment)

    def withdraw(self, name: str) -> Experiment:
        """Give an experiment up that is not disclosed: it expires, and what it set aside of budgets is free again."""
        request = experiment_service_pb2.WithdrawExperimentRequest(name=name)
        return to_experiment(self._transport.unary(self._stub.WithdrawExperiment, request).experiment)

    def disclose(self, name: str) -> Disclosure:
        """Return the numbers of an experiment whose banks are all sealed; asked again, the same bytes return."""
        request = experiment_service_pb2.DiscloseExperimentRequest(name=name)
        return to_disclosure(self._transport.unary(self._stub.DiscloseExperiment, request).disclosure)

    def budget(self, edition: str) -> Budget:
        """Return what may still be disclosed over each part of an edition, by its name, `editions/{edition}`."""
        request = experiment_service_pb2.GetBudgetRequest(edition=edition)
        return to_budget(self._transport.unary(self._stub.GetBudget, request))


class Banks:
    """Banks of answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(bank_service_pb2_grpc.BankServiceStub)

    def get(self, name: str) -> Bank:
        """Return one bank by its name, `experiments/{experiment}/banks/{bank}`."""
        return to_bank(self._transport.unary(self._stub.GetBank, bank_service_pb2.GetBankRequest(name=name)).bank)

    def chunks(self, name: str) -> dict[int, bytes]:
        """Return the digest of each chunk of answers that the server has, by its number."""
        found: dict[int, bytes] = {}
        request = bank_service_pb2.ListChunksRequest(name=name)
        while True:
            page = self._transport.unary(self._stub.ListChunks, request)
            found |= {chunk.number: chunk.digest for chunk in page.chunks}
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def submit(self, name: str, answers: Iterable[Answer], *, first_chunk: int = 0) -> Bank:
        """Add answers to an open bank, those that the server does not have yet.

        They are cut into chunks, each of which the server takes whole or not at all; the same answers in the same order
        again go on where an upload broke.

        Args:
            name: `experiments/{experiment}/banks/{bank}`.
            answers: In any order, each case once.
            first_chunk: Number of the first chunk, for whoever adds further answers to those of another call.

        Raises:
            CaseUnknownError, AnswerTooLongError, CaseDuplicateError: If an answer fits no case that is open.
            ConflictError: If a chunk of that number is there with other answers.
            BankSealedError: If the bank is sealed and some of the answers are not in it.
            ExpiredError: If the experiment is.
        """
        messages = _messages(name, answers, first_chunk=first_chunk, there=self.chunks(name))
        first = next(messages, None)
        if first is None:
            return self.get(name)
        return to_bank(self._transport.upload(self._stub.SubmitAnswers, itertools.chain([first], messages)).bank)

    def seal(self, name: str, *, request_id: str = "seal") -> Receipt:
        """Close a complete bank.

        Args:
            name: `experiments/{experiment}/banks/{bank}`.
            request_id: Whoever repeats it gets the same receipt; another one is refused once the bank is sealed.

        Raises:
            BankIncompleteError: If answers are missing; the message names the first case.
            BankSealedError: If another request sealed it.
            ExpiredError: If the experiment is.
        """
        request = bank_service_pb2.SealBankRequest(name=name, request_id=request_id)
        return to_receipt(self._transport.unary(self._stub.SealBank, request).receipt)


def _messages(
    name: str, answers: Iterable[Answer], *, first_chunk: int, there: Mapping[int, bytes]
) -> Iterator[bank_service_pb2.SubmitAnswersRequest]:
    for number, (chunk, digest) in enumerate(chunks_of(answers), start=first_chunk):
        if there.get(number) != digest:
            yield bank_service_pb2.SubmitAnswersRequest(
                bank=name,
                number=number,
                digest=digest,
                answers=[
                    resources_pb2.Answer(family_id=each.family_id, draw=each.draw, text=each.text) for each in chunk
                ],
            )


def _duration(lifetime: timedelta) -> Duration:
    message = Duration()
    message.FromTimedelta(lifetime)
    return message
