"""Inference chain: plan → attempts → results by SHA-256, every result derived again, and the answers that were sealed.

Banks are independent of each other, and following one is pure computation; so large ones are followed by two processes.

Source: LeakScale E.7, F.1, F.2.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Final

from leakscale.errors import IntegrityError
from leakscale.evidence.answers import BankAnswers, answers_table, first_difference, read_bank_answers, read_table
from leakscale.evidence.checks.outcome import Checked, counted, require_same
from leakscale.evidence.tree import EvidenceTree
from leakscale.inference.binding import BankFiles, Binding, verify_bank
from leakscale.inference.cases import FrozenBank, families_digest
from leakscale.models import Family

__all__ = ["check_inference", "follow_banks", "read_all_answers"]

_PROCESS_COUNT: Final = 2
_CASES_ALONE: Final = 20_000
"""Cases up to which starting processes costs more than it saves."""


def check_inference(tree: EvidenceTree, *, advance: Callable[[int], None] = lambda count: None) -> Checked:
    """Follow every bank of a tree.

    Args:
        tree: What is checked.
        advance: Called with the cases that are done.
    """
    followed = follow_banks(tree, advance=advance)
    own = ("bank-sealed", tree.study.experiment.id)
    sealed = {each["bank"]: each["answers"] for each in tree.ledger if (each["kind"], each.get("experiment")) == own}
    answers = read_all_answers(tree)
    for bank in answers:
        name = tree.layout.relative(tree.layout.bank(bank.bank_id).results)
        require_same(name, "SHA-256 of its answers, by the ledger,", bank.digest(), sealed.get(bank.bank_id))
        _require_own_plan(tree, bank.bank_id)
    expected = answers_table(answers, model=tree.disclosure_model, shapes=tree.shape_of)
    if difference := first_difference(read_table(tree.layout.answers), expected):
        raise IntegrityError(f"{tree.layout.relative(tree.layout.answers)} {difference}")
    cases = sum(binding.case_count for binding in followed.values())
    attempts = sum(binding.attempt_count for binding in followed.values())
    return Checked(
        cases,
        f"{counted(cases, 'result', 'results')} of {counted(len(followed), 'bank', 'banks')} derived again from "
        f"{counted(attempts, 'attempt', 'attempts')}, sealed as the ledger says",
    )


def follow_banks(tree: EvidenceTree, *, advance: Callable[[int], None] = lambda count: None) -> dict[str, Binding]:
    """Derive the results of every bank again and compare every digest, bank by bank.

    Raises:
        IntegrityError: At the first bank that does not hold; the message names file and line.
    """
    names = tree.layout.bank_ids()
    if not names:
        raise IntegrityError("banks: there is none, expected those of the registered experiment")
    files = [tree.layout.bank(name) for name in names]
    cases = sum(header["case_count"] for header in tree.attempts_headers.values())
    followed: dict[str, Binding] = {}
    done = 0
    with _workers(1 if cases <= _CASES_ALONE else _PROCESS_COUNT) as each:
        for name, binding in zip(names, each(files), strict=True):
            followed[name] = binding
            done += binding.case_count
            advance(done)
    return followed


def read_all_answers(tree: EvidenceTree) -> list[BankAnswers]:
    """Read the answers of every bank, in the order of bank ids."""
    return [
        read_bank_answers(bank_id, tree.layout.bank(bank_id), state=tree.state_of(bank_id))
        for bank_id in tree.layout.bank_ids()
    ]


@contextmanager
def _workers(count: int) -> Iterator[Callable[[Sequence[BankFiles]], Iterator[Binding]]]:
    if count == 1:
        yield lambda files: map(_follow, files)
        return
    # Forked, a worker would hold whatever threads of the parent held.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        yield lambda files: pool.map(_follow, files)


def _follow(files: BankFiles) -> Binding:
    try:
        return verify_bank(files)
    except IntegrityError as error:
        # Messages name files below the tree, wherever it lies.
        raise IntegrityError(str(error).replace(f"{files.plan.parent}{os.sep}", "banks/")) from error


def _require_own_plan(tree: EvidenceTree, bank_id: str) -> None:
    """See that a bank asks the families of the edition, with the seeds and draws that were registered."""
    bank = FrozenBank(tree.layout.bank(bank_id).plan)
    name = tree.layout.relative(bank.path)
    planned = tree.planned_banks().get(bank_id)
    if planned is None:
        raise IntegrityError(f"{name}: the experiment has no bank {bank_id!r}")
    domain, _, ring = planned
    families: list[Family] = [each for each in tree.edition.families[ring] if each.domain is domain]
    require_same(f"{name} line 1", "bank_seed", bank.bank_seed, tree.study.seeds.bank)
    require_same(f"{name} line 1", "draw_count", bank.draw_count, tree.study.experiment.draw_count)
    require_same(f"{name} line 1", "families", bank.families, families_digest(families))
    for question, family in zip(bank.questions(), families, strict=True):
        line = f"{name} line {question.index + 2}"
        require_same(line, "family", (question.family_id, question.ring), (family.family_id, family.ring))
        require_same(line, "answers", question.answers, tuple(each.answer for each in family.candidates))
    for part in ("tokenizer", "template"):
        require_same(f"{name} line 1", part, getattr(bank, part), tree.completion["identity"][part])
