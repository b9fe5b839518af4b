"""`client.experiments` and `client.banks`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from leakscale.client.conversion import RING_VALUES, to_bank, to_disclosure, to_experiment, to_receipt
from leakscale.client.transport import Transport
from leakscale.models import Answer, Bank, Experiment, ExperimentPlan, Receipt
from leakscale.results import Disclosure
from leakscale.v1 import (
    bank_service_pb2,
    bank_service_pb2_grpc,
    experiment_service_pb2,
    experiment_service_pb2_grpc,
    resources_pb2,
)

__all__ = ["Banks", "Experiments"]

_CASES_PER_MESSAGE: Final = 512


class Experiments:
    """Registered experiments and their one disclosure."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(experiment_service_pb2_grpc.ExperimentServiceStub)

    def create(self, plan: ExperimentPlan) -> Experiment:
        """Register an experiment and open its banks; the same plan again returns the same experiment."""
        request = experiment_service_pb2.CreateExperimentRequest(
            experiment_id=plan.experiment_id,
            edition=plan.edition,
            model_label=plan.model_label,
            draw_count=plan.draw_count,
            bank_seed=plan.bank_seed,
            resample_count=plan.resample_count,
            bootstrap_seed=plan.bootstrap_seed,
            rings=[RING_VALUES[ring] for ring in plan.rings],
        )
        return to_experiment(self._transport.unary(self._stub.CreateExperiment, request).experiment)

    def get(self, name: str) -> Experiment:
        """Return one experiment by its name, `experiments/{experiment}`."""
        request = experiment_service_pb2.GetExperimentRequest(name=name)
        return to_experiment(self._transport.unary(self._stub.GetExperiment, request).experiment)

    def disclose(self, name: str) -> Disclosure:
        """Return the numbers of an experiment whose banks are all sealed; asked again, the same bytes return."""
        request = experiment_service_pb2.DiscloseExperimentRequest(name=name)
        return to_disclosure(self._transport.unary(self._stub.DiscloseExperiment, request).disclosure)


class Banks:
    """Banks of answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(bank_service_pb2_grpc.BankServiceStub)

    def get(self, name: str) -> Bank:
        """Return one bank by its name, `experiments/{experiment}/banks/{bank}`."""
        return to_bank(self._transport.unary(self._stub.GetBank, bank_service_pb2.GetBankRequest(name=name)).bank)

    def submit(self, name: str, answers: Iterable[Answer]) -> Bank:
        """Add answers to an open bank; a case that has the same answer already is left alone."""
        return to_bank(self._transport.upload(self._stub.SubmitAnswers, _messages(name, answers)).bank)

    def seal(self, name: str) -> Receipt:
        """Close a complete bank; sealing again returns the same receipt."""
        return to_receipt(
            self._transport.unary(self._stub.SealBank, bank_service_pb2.SealBankRequest(name=name)).receipt
        )


def _messages(name: str, answers: Iterable[Answer]) -> Iterator[bank_service_pb2.SubmitAnswersRequest]:
    source = iter(answers)
    chunk = list(itertools.islice(source, _CASES_PER_MESSAGE))
    while True:
        yield bank_service_pb2.SubmitAnswersRequest(
            bank=name,
            answers=[resources_pb2.Answer(family_id=each.family_id, draw=each.draw, text=each.text) for each in chunk],
        )
        chunk = list(itertools.islice(source, _CASES_PER_MESSAGE))
        if not chunk:
            return
