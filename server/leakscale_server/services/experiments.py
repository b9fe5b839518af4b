"""ExperimentService and BankService."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from leakscale.v1 import (
    bank_service_pb2,
    bank_service_pb2_grpc,
    experiment_service_pb2,
    experiment_service_pb2_grpc,
)
from leakscale_server.errors import InvalidRequest
from leakscale_server.limits import PAGE_SIZE_MAX
from leakscale_server.registry.experiments import AnswerChunk, ExperimentRegistry, Party
from leakscale_server.registry.names import parse
from leakscale_server.services import experiment_codec as codec
from leakscale_server.services.call import Call
from leakscale_server.services.codec import page_size, page_start
from leakscale_server.stages.disclosing import Disclosing

__all__ = ["BankService", "ExperimentService"]


class ExperimentService(experiment_service_pb2_grpc.ExperimentServiceServicer):
    """Registered experiments and their one disclosure."""

    def __init__(self, experiments: ExperimentRegistry, disclosing: Disclosing) -> None:
        self._experiments = experiments
        self._disclosing = disclosing

    def CreateExperiment(  # noqa: N802
        self, request: experiment_service_pb2.CreateExperimentRequest, call: Call
    ) -> experiment_service_pb2.CreateExperimentResponse:
        """Register an experiment with its banks."""
        experiment = self._experiments.create(codec.decode_plan(request), party=_party(call))
        return experiment_service_pb2.CreateExperimentResponse(experiment=codec.encode_experiment(experiment))

    def GetExperiment(  # noqa: N802
        self, request: experiment_service_pb2.GetExperimentRequest, call: Call
    ) -> experiment_service_pb2.GetExperimentResponse:
        """Return one experiment with its banks."""
        (experiment_id,) = parse(request.name, "experiments")
        experiment = self._experiments.get(call.caller.project, experiment_id)
        return experiment_service_pb2.GetExperimentResponse(experiment=codec.encode_experiment(experiment))

    def WithdrawExperiment(  # noqa: N802
        self, request: experiment_service_pb2.WithdrawExperimentRequest, call: Call
    ) -> experiment_service_pb2.WithdrawExperimentResponse:
        """Give an experiment up."""
        (experiment_id,) = parse(request.name, "experiments")
        experiment = self._experiments.withdraw(experiment_id, party=_party(call))
        return experiment_service_pb2.WithdrawExperimentResponse(experiment=codec.encode_experiment(experiment))

    def DiscloseExperiment(  # noqa: N802
        self, request: experiment_service_pb2.DiscloseExperimentRequest, call: Call
    ) -> experiment_service_pb2.DiscloseExperimentResponse:
        """Release the numbers once every bank is sealed."""
        (experiment_id,) = parse(request.name, "experiments")
        released = self._disclosing.disclose(call.caller.project, experiment_id)
        disclosure = codec.encode_disclosure(experiment_id, released)
        return experiment_service_pb2.DiscloseExperimentResponse(disclosure=disclosure)

    def GetBudget(  # noqa: N802
        self, request: experiment_service_pb2.GetBudgetRequest, call: Call
    ) -> experiment_service_pb2.GetBudgetResponse:
        """Tell what may still be disclosed of an edition."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        budget = self._experiments.budget(edition_id, party=_party(call))
        atoms = [codec.encode_atom_budget(each) for each in budget or ()]
        return experiment_service_pb2.GetBudgetResponse(atoms=atoms, is_unlimited=budget is None)


class BankService(bank_service_pb2_grpc.BankServiceServicer):
    """Banks of answers."""

    def __init__(self, experiments: ExperimentRegistry) -> None:
        self._experiments = experiments

    def GetBank(  # noqa: N802
        self, request: bank_service_pb2.GetBankRequest, call: Call
    ) -> bank_service_pb2.GetBankResponse:
        """Return one bank."""
        bank = self._experiments.get_bank(call.caller.project, *parse(request.name, "experiments", "banks"))
        return bank_service_pb2.GetBankResponse(bank=codec.encode_bank(bank))

    def ListChunks(  # noqa: N802
        self, request: bank_service_pb2.ListChunksRequest, call: Call
    ) -> bank_service_pb2.ListChunksResponse:
        """List the chunks that are there."""
        bank = self._experiments.get_bank(call.caller.project, *parse(request.name, "experiments", "banks"))
        limit, start = page_size(request.page_size, default=PAGE_SIZE_MAX), page_start(request.page_token)
        found = self._experiments.answers.chunks(call.caller.project, bank, start=start, limit=limit + 1)
        return bank_service_pb2.ListChunksResponse(
            chunks=[codec.encode_chunk(chunk) for chunk in found[:limit]],
            next_page_token=str(found[limit].number) if len(found) > limit else "",
        )

    def SubmitAnswers(  # noqa: N802
        self, request_iterator: Iterator[bank_service_pb2.SubmitAnswersRequest], call: Call
    ) -> bank_service_pb2.SubmitAnswersResponse:
        """Add chunks of answers to a bank."""
        first = next(request_iterator, None)
        if first is None:
            raise InvalidRequest("the stream names no bank; send at least one message", subject="bank")
        experiment_id, bank_id = parse(first.bank, "experiments", "banks", field="bank")
        chunks = _chunks(first, request_iterator)
        bank = self._experiments.answers.submit(experiment_id, bank_id, chunks, party=_party(call))
        return bank_service_pb2.SubmitAnswersResponse(bank=codec.encode_bank(bank))

    def SealBank(  # noqa: N802
        self, request: bank_service_pb2.SealBankRequest, call: Call
    ) -> bank_service_pb2.SealBankResponse:
        """Close a complete bank."""
        experiment_id, bank_id = parse(request.name, "experiments", "banks")
        receipt = self._experiments.answers.seal(
            call.caller.project, experiment_id, bank_id, request_id=request.request_id
        )
        return bank_service_pb2.SealBankResponse(receipt=codec.encode_receipt(receipt))


def _party(call: Call) -> Party:
    return Party(call.caller.principal, call.caller.project)


def _chunks(
    first: bank_service_pb2.SubmitAnswersRequest, rest: Iterator[bank_service_pb2.SubmitAnswersRequest]
) -> Iterator[AnswerChunk]:
    for request in itertools.chain([first], rest):
        if request.bank != first.bank:
            raise InvalidRequest(
                f"a stream fills one bank; it began with {first.bank!r} and now names {request.bank[:200]!r}",
                subject="bank",
            )
        yield codec.decode_chunk(request)
