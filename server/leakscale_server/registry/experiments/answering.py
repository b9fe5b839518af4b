"""Answers to the banks of an experiment: submitted chunk by chunk, sealed bank by bank."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final

from leakscale_server.errors import BankIncomplete, BankSealed, InvalidRequest
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.experiments.accounts import Party
from leakscale_server.registry.experiments.banks import Bank, Receipt
from leakscale_server.registry.experiments.chunks import (
    AnswerChunk,
    BankCases,
    BankKey,
    ChunkStore,
    PlacedChunk,
    StoredChunk,
)
from leakscale_server.registry.experiments.experiment import Experiment
from leakscale_server.registry.experiments.reading import ExperimentReader
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.registry.parties import require_apart_to_submit
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["Answering"]

_REQUEST_ID_BYTES_MAX: Final = 128


class Answering:
    """Takes the answers to banks.

    Args:
        registry: Where they are kept.
        ledger: Told of seals.
        editions: Looked up by the plans.
        reader: Of the same experiments.
        chunks: The answers.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        editions: EditionRegistry,
        reader: ExperimentReader,
        chunks: ChunkStore,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._editions = editions
        self._reader = reader
        self._chunks = chunks
        self._now = now

    def chunks(self, project: str, bank: Bank, *, start: int, limit: int) -> list[StoredChunk]:
        """List the chunks of a bank from a number on, in their order."""
        return self._chunks.listed(_key(project, bank), start=start, limit=limit)

    def submit(self, experiment_id: str, bank_id: str, chunks: Iterable[AnswerChunk], *, party: Party) -> Bank:
        """Add chunks of answers to a bank, each in a transaction of its own; what was stored before a failure stays.

        Raises:
            NotFound: If there is no such bank.
            InvalidRequest, CaseUnknown, AnswerTooLong, CaseDuplicate: As for `PlacedChunk.of` and `ChunkStore.add`.
            DigestConflict: If a chunk's number is taken by other answers.
            BankSealed: If the bank is sealed and a chunk is not among those that it has.
            Expired: If the experiment is.
            EditionRetired: If the edition's truth is in the open.
            PartiesMixed: If the principal redeemed a grant of the edition, and the plan does not say so.
        """
        experiment = self._reader.get(party.project, experiment_id)
        bank = experiment.bank(bank_id)
        key, cases = _key(party.project, bank), self._reader.cases(experiment, bank)
        for chunk in chunks:
            placed = PlacedChunk.of(chunk, cases)
            with self._registry.transaction():
                is_sealed = self._reader.seal_row(key) is not None
                if not is_sealed:
                    self._require_alive(experiment)
                    self._require_apart(experiment, party)
                self._chunks.add(key, placed, cases=cases, principal=party.principal, is_closed=is_sealed)
        return self._reader.get_bank(party.project, experiment_id, bank_id)

    def seal(self, project: str, experiment_id: str, bank_id: str, *, request_id: str) -> Receipt:
        """Close a complete bank; the same request again returns the same receipt.

        Raises:
            NotFound: If there is no such bank.
            InvalidRequest: If the request id is too long.
            BankIncomplete: If answers are missing.
            BankSealed: If another request sealed it.
            Expired: If the experiment is.
            EditionRetired: If the edition's truth is in the open.
        """
        if len(request_id.encode()) > _REQUEST_ID_BYTES_MAX:
            raise InvalidRequest(f"request_id is longer than {_REQUEST_ID_BYTES_MAX} bytes", subject="request_id")
        with self._registry.transaction():
            experiment = self._reader.get(project, experiment_id)
            bank = experiment.bank(bank_id)
            key = _key(project, bank)
            seal = self._reader.seal_row(key)
            if seal is None:
                self._require_alive(experiment)
                self._close(key, bank, self._reader.cases(experiment, bank), request_id=request_id)
                seal = self._reader.seal_row(key)
                assert seal is not None  # noqa: S101 - written above
            if seal["request_id"] != request_id:
                raise BankSealed(
                    f"bank {bank.name!r} was sealed by another request; a bank is sealed once, and its receipt returns "
                    "to the request that did it",
                    subject=bank.name,
                )
            return Receipt(
                self._reader.get_bank(project, experiment_id, bank_id), seal["answers_digest"], seal["ledger_index"]
            )

    def sealed_answers(self, experiment: Experiment) -> Mapping[str, bytes]:
        """Return the answers of every bank as lines, by bank id; all banks must be sealed."""
        return {
            bank.bank_id: self._chunks.lines(_key(experiment.project, bank), self._reader.cases(experiment, bank))
            for bank in experiment.banks
        }

    def submitters(self, experiment: Experiment) -> frozenset[str]:
        """Return the principals that submitted its answers."""
        return self._chunks.principals(experiment.project, experiment.plan.experiment_id)

    def _close(self, key: BankKey, bank: Bank, cases: BankCases, *, request_id: str) -> None:
        missing = self._chunks.first_missing(key, cases)
        if missing is not None:
            raise BankIncomplete(
                f"bank {bank.name!r} has {bank.answered_count} of {bank.case_count} answers, and none to "
                f"{cases.name(missing)}; submit the rest, then seal",
                subject=bank.name,
            )
        digest = hashlib.sha256(self._chunks.lines(key, cases)).digest()
        row: Row = {
            "project": key.project,
            "experiment_id": key.experiment_id,
            "bank_id": key.bank_id,
            "request_id": request_id,
            "answers_digest": digest,
            "ledger_index": self._ledger.append(
                "bank-sealed",
                {"experiment": key.experiment_id, "bank": key.bank_id, "answers": digest.hex()},
                project=key.project,
            ),
            "seal_time": time_text(self._now()),
        }
        self._registry.add("seals", [row])

    def _require_alive(self, experiment: Experiment) -> None:
        """Refuse answers to an experiment that is over, or whose truth is in the open."""
        experiment.require_time(self._now())
        self._editions.get(experiment.plan.edition_id).require_in_use()

    def _require_apart(self, experiment: Experiment, party: Party) -> None:
        if not experiment.plan.is_self_administered:
            require_apart_to_submit(self._registry, experiment.plan.edition_id, principal=party.principal)


def _key(project: str, bank: Bank) -> BankKey:
    return BankKey(project, bank.experiment_id, bank.bank_id)
