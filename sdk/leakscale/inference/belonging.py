"""Whether the files of an answered bank are the answers to the bank that they are submitted to.

A server sees family, draw and text. It cannot see which model wrote them, nor under which seeds: the files do.
"""

from __future__ import annotations

from collections.abc import Iterable

from leakscale.errors import InvalidRequestError
from leakscale.inference.attempts import ATTEMPTS_MEND
from leakscale.inference.binding import BankFiles
from leakscale.inference.cases import FrozenBank, families_digest
from leakscale.inference.lines import read_header
from leakscale.models import Bank, ExperimentPlan, Family, ModelState

__all__ = ["check_belongs"]


def check_belongs(files: BankFiles, bank: Bank, plan: ExperimentPlan, families: Iterable[Family]) -> None:
    """Compare the files of an answered bank with the registered bank.

    Does not show that the adapter is the one that the experiment means, only that there is one where there must be.

    Args:
        files: Verified already; see `verify_bank`.
        bank: As the server has it.
        plan: Of the bank's experiment.
        families: Public families of the bank, in its ring.

    Raises:
        InvalidRequestError: If model state, bank seed, draws, ring, domain or families differ; the message names the
            file and both values.
    """
    _check_state(files, bank)
    frozen = FrozenBank(files.plan)
    _check_same(files, bank, "bank seed", frozen.bank_seed, plan.bank_seed)
    _check_same(files, bank, "number of draws", frozen.draw_count, plan.draw_count)
    for question in frozen.questions():
        _check_same(files, bank, "ring", question.ring.value, bank.ring.value)
        _check_same(files, bank, "domain", question.domain.value, bank.domain.value)
    own = families_digest(sorted(families, key=lambda family: (family.family_id, family.ring.value)))
    _check_same(files, bank, "digest of the edition's families", frozen.families, own)


def _check_state(files: BankFiles, bank: Bank) -> None:
    digest = read_header(files.attempts, mend=ATTEMPTS_MEND)["engine"].get("adapter")
    found = ModelState.BASE if digest is None else ModelState.ADAPTED
    if found is not bank.state:
        adapter = "no adapter" if digest is None else f"adapter {str(digest)[:12]}"
        raise InvalidRequestError(
            f"'{files.attempts}' holds answers of the {found.value} model ({adapter}), and bank '{bank.name}' is of "
            f"the {bank.state.value} model; submit them to the bank of the {found.value} model, or name the files of "
            f"the {bank.state.value} one"
        )


def _check_same(files: BankFiles, bank: Bank, subject: str, found: int | str, wanted: int | str) -> None:
    if found != wanted:
        raise InvalidRequestError(
            f"'{files.plan}' has the {subject} {found}, and bank '{bank.name}' has {wanted}; submit the files to the "
            "bank that they were frozen for, or freeze and answer this one"
        )
