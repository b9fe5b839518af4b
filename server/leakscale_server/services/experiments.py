"""ExperimentService and BankService."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from leakscale.models import Answer
from leakscale.v1 import (
    bank_service_pb2,
    bank_service_pb2_grpc,
    experiment_service_pb2,
    experiment_service_pb2_grpc,
)
from leakscale_server.errors import InvalidRequest
from leakscale_server.registry.experiments import ExperimentRegistry
from leakscale_server.registry.names import parse
from leakscale_server.services import codec
from leakscale_server.services.call import Call
from leakscale_server.stages.disclosing import Disclosing

__all__ = ["BankService", "ExperimentService"]


class ExperimentService(experiment_service_pb2_grpc.ExperimentServiceServicer):
    """Registered experiments and their one disclosure."""

    def __init__(self, experiments: ExperimentRegistry, disclosing: Disclosing, *, public_key: bytes) -> None:
        self._experiments = experiments
        self._disclosing = disclosing
        self._public_key = public_key

    def CreateExperiment(  # noqa: N802
        self, request: experiment_service_pb2.CreateExperimentRequest, call: Call
    ) -> experiment_service_pb2.CreateExperimentResponse:
        """Register an experiment and open its banks."""
        experiment = self._experiments.create(codec.decode_plan(request))
        return experiment_service_pb2.CreateExperimentResponse(experiment=codec.encode_experiment(experiment))

    def GetExperiment(  # noqa: N802
        self, request: experiment_service_pb2.GetExperimentRequest, call: Call
    ) -> experiment_service_pb2.GetExperimentResponse:
        """Return one experiment with its banks."""
        (experiment_id,) = parse(request.name, "experiments")
        experiment = self._experiments.get(experiment_id)
        return experiment_service_pb2.GetExperimentResponse(experiment=codec.encode_experiment(experiment))

    def DiscloseExperiment(  # noqa: N802
        self, request: experiment_service_pb2.DiscloseExperimentRequest, call: Call
    ) -> experiment_service_pb2.DiscloseExperimentResponse:
        """Release the numbers once every bank is sealed."""
        (experiment_id,) = parse(request.name, "experiments")
        released = self._disclosing.disclose(experiment_id)
        disclosure = codec.encode_disclosure(experiment_id, released, public_key=self._public_key)
        return experiment_service_pb2.DiscloseExperimentResponse(disclosure=disclosure)


class BankService(bank_service_pb2_grpc.BankServiceServicer):
    """Banks of answers."""

    def __init__(self, experiments: ExperimentRegistry) -> None:
        self._experiments = experiments

    def GetBank(  # noqa: N802
        self, request: bank_service_pb2.GetBankRequest, call: Call
    ) -> bank_service_pb2.GetBankResponse:
        """Return one bank."""
        _, bank = self._experiments.get_bank(*parse(request.name, "experiments", "banks"))
        return bank_service_pb2.GetBankResponse(bank=codec.encode_bank(bank))

    def SubmitAnswers(  # noqa: N802
        self, request_iterator: Iterator[bank_service_pb2.SubmitAnswersRequest], call: Call
    ) -> bank_service_pb2.SubmitAnswersResponse:
        """Add answers to an open bank."""
        first = next(request_iterator, None)
        if first is None:
            raise InvalidRequest("the stream names no bank; send at least one message", subject="bank")
        experiment_id, bank_id = parse(first.bank, "experiments", "banks", field="bank")
        bank = self._experiments.submit(experiment_id, bank_id, _answers(first, request_iterator))
        return bank_service_pb2.SubmitAnswersResponse(bank=codec.encode_bank(bank))

    def SealBank(  # noqa: N802
        self, request: bank_service_pb2.SealBankRequest, call: Call
    ) -> bank_service_pb2.SealBankResponse:
        """Close a complete bank."""
        receipt = self._experiments.seal(*parse(request.name, "experiments", "banks"))
        return bank_service_pb2.SealBankResponse(receipt=codec.encode_receipt(receipt))


def _answers(
    first: bank_service_pb2.SubmitAnswersRequest, rest: Iterator[bank_service_pb2.SubmitAnswersRequest]
) -> Iterator[list[Answer]]:
    for request in itertools.chain([first], rest):
        if request.bank != first.bank:
            raise InvalidRequest(
                f"a stream fills one bank; it began with {first.bank!r} and now names {request.bank[:200]!r}",
                subject="bank",
            )
        yield codec.decode_answers(list(request.answers))
