"""The banks of a study: frozen, answered with its engine, submitted and sealed, one model state after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.adaptation.loading import open_model_folder
from leakscale.client import Client
from leakscale.inference import BankFiles, BankProgress, Engine, Mode, answer_bank, open_engine
from leakscale.inference.freezing import freeze_bank
from leakscale.models import Bank, Experiment, Family, ModelState, Receipt
from leakscale.study.config import Study
from leakscale.study.layout import StudyDirectory, write_json
from leakscale.study.models import ResolvedModel
from leakscale.study.watching import Watcher

__all__ = ["Answered", "answer_banks"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the banks of a study were answered with, and their receipts."""

    receipts: tuple[Receipt, ...]
    """In the order of the experiment's banks."""
    unconstrained_valid_mass: Mapping[str, float]
    """Mean probability of the four answers with nothing forced, by bank; empty for engines that do not compute it."""
    mode: Mode
    engine: Mapping[str, str | int | float | bool | None]
    """Identity of the engine of the adapted state."""


def answer_banks(
    study: Study,
    experiment: Experiment,
    families: Sequence[Family],
    model: ResolvedModel,
    *,
    directory: StudyDirectory,
    client: Client,
    watcher: Watcher,
) -> Answered:
    """Answer every bank of an experiment, and go on where an earlier run stopped.

    A model state's engine is opened once for all of its banks.

    Raises:
        LeakScaleError: Whatever the model, the engine or the server refuses.
    """
    answering = _Answering(study, experiment, model, directory=directory, client=client, watcher=watcher)
    receipts: dict[str, Receipt] = {}
    masses: dict[str, float] = {}
    for state in ModelState:
        engine = answering.open_engine(state)
        for bank in experiment.banks:
            if bank.state is state:
                own = [family for family in families if family.domain is bank.domain and family.ring is bank.ring]
                receipts[bank.name], mass = answering.answer(bank, own, engine)
                masses |= {} if mass is None else {_bank_id(bank): mass}
    return Answered(
        receipts=tuple(receipts[bank.name] for bank in experiment.banks),
        unconstrained_valid_mass=masses,
        mode=engine.mode,
        engine=dict(engine.identity),
    )


_OF_THE_ADAPTED: Final = frozenset({"served_adapter"})
"""Engine options that a base bank does not take."""


class _Answering:
    """One bank after the other, with whatever engine is given."""

    def __init__(
        self,
        study: Study,
        experiment: Experiment,
        model: ResolvedModel,
        *,
        directory: StudyDirectory,
        client: Client,
        watcher: Watcher,
    ) -> None:
        self._study, self._plan, self._model = study, experiment.plan, model
        self._directory, self._client, self._watcher = directory, client, watcher
        self._folder = open_model_folder(model.path)

    def open_engine(self, state: ModelState) -> Engine:
        """Open the study's engine on the model in one state."""
        adapter = self._directory.adapter if state is ModelState.ADAPTED else None
        model = self._study.model
        # A study has one table of options for both states, and what an adapter is served as concerns one of them.
        options = {
            name: value
            for name, value in model.engine_options.items()
            if adapter is not None or name not in _OF_THE_ADAPTED
        }
        return open_engine(model.engine, model=self._model.path, adapter=adapter, options=options)

    def answer(self, bank: Bank, families: Sequence[Family], engine: Engine) -> tuple[Receipt, float | None]:
        """Freeze, answer, submit and seal a bank; return its receipt and its mean unconstrained valid mass."""
        files = BankFiles.of(self._directory.banks / _bank_id(bank))
        frozen = freeze_bank(
            files.plan,
            families,
            model=self._folder,
            bank_seed=self._plan.bank_seed,
            draw_count=self._plan.draw_count,
        )
        with self._watcher.progress(f"answer {_bank_id(bank)}", total=frozen.case_count, unit="answers") as bar:

            def show(at: BankProgress) -> None:
                bar.update(at.done_count, at.case_count)

            binding = answer_bank(frozen, engine, files, progress=show)
        self._watcher.note(f"{_bank_id(bank)}: {binding.validity}")
        self._client.banks.submit(bank.name, files.read_answers())
        receipt = self._client.banks.seal(bank.name)
        write_json(self._directory.banks / f"{_bank_id(bank)}.receipt.json", _receipt_to_dict(receipt))
        return receipt, _valid_mass(files)


def _bank_id(bank: Bank) -> str:
    return bank.name.rpartition("/")[2]


def _valid_mass(files: BankFiles) -> float | None:
    """Return the mean over questions; None where the engine computes no distribution."""
    masses = [each.distribution.valid_mass for each in files.read_attempts() if each.distribution is not None]
    return sum(masses) / len(masses) if masses else None


def _receipt_to_dict(receipt: Receipt) -> dict[str, Any]:
    return {
        "bank": receipt.bank,
        "answers_digest": receipt.answers_digest.hex(),
        "case_count": receipt.case_count,
        "ledger_index": receipt.ledger_index,
    }
