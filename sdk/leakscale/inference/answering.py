"""Answer a frozen bank with an engine: exactly one terminal result a case, whatever interrupts it.

Attempts are made durable before the results that follow from them. A killed run therefore finds each answer that it
had made durable, asks only for the others, and ends in the same results.

Source: LeakScale F.1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from leakscale.errors import ConflictError, IntegrityError
from leakscale.inference.attempts import ATTEMPTS_MEND
from leakscale.inference.binding import ATTEMPTS_FORMAT, RESULTS_FORMAT, BankFiles, Binding, bind, replay
from leakscale.inference.cases import FrozenBank, Question
from leakscale.inference.chain import AttemptChain
from leakscale.inference.engines import Engine
from leakscale.inference.journal import Journal
from leakscale.inference.results import RESULTS_MEND
from leakscale.inference.validity import INVALID_MAX, ConstraintWatch

__all__ = ["BankProgress", "answer_bank", "preflight_questions"]

_GROUP_COUNT: Final = 64
_GROUP_INTERVAL_S: Final = 1.0
"""Attempts are made durable in groups, whichever comes first: a kill costs at most one, and an fsync for each attempt
would cost more than a small model does."""
_PROBED_COUNT: Final = 4


@dataclass(frozen=True, slots=True)
class BankProgress:
    """How far a bank is."""

    done_count: int
    """Cases that have their result, including those of earlier runs."""
    case_count: int


ProgressCallback = Callable[[BankProgress], None]


def answer_bank(
    bank: FrozenBank,
    engine: Engine,
    files: BankFiles,
    *,
    indices: range | None = None,
    invalid_max: int = INVALID_MAX,
    progress: ProgressCallback | None = None,
) -> Binding:
    """Answer every case of a bank that has no terminal attempt yet, and bind the results to the attempts.

    Args:
        bank: Frozen.
        engine: Must pass its preflight before the first case is asked; not tried when nothing is left to ask.
        files: Where attempts, results and binding go, or are.
        indices: Consecutive cases to answer, of a shard; all by default.
        invalid_max: Malformed answers that one run bears in a mode that promises none; with more, the engine has
            stopped to enforce the choice, and the run ends. Registered in the header of the attempts.
        progress: Called after each attempt.

    Raises:
        ModelError: If the engine fails its preflight, or stops to enforce the choice on the way.
        ConflictError: If the bank was rendered for another tokenizer or chat template than the engine's, or the files
            were begun with another bank or engine, or another run is writing them.
        IntegrityError: If the attempts or results on disk follow no rule; the message names the first that does not.
        UnavailableError: If the engine cannot be reached; the same call goes on later.
        StorageFullError: If the disk is full; nothing that was durable is lost.
    """
    asked = range(bank.case_count) if indices is None else indices
    _check_rendering(bank, engine)
    watch = ConstraintWatch(bank, engine.mode, invalid_max=invalid_max)
    is_tried = not files.attempts.exists()  # a bank that is not begun leaves no file if the engine fails
    if is_tried:
        engine.preflight(preflight_questions(bank, asked)).require()
    with _Answering(bank, engine, files, asked, invalid_max=invalid_max) as run:
        run.recover()
        if not run.chain.is_complete:
            if not is_tried:
                engine.preflight(preflight_questions(bank, asked)).require()
            run.answer(watch, progress)
            watch.require()
        elif progress is not None:
            progress(BankProgress(len(asked), len(asked)))
        if not run.chain.is_complete:
            raise IntegrityError(
                f"the engine stopped after {run.chain.result_count} of {len(asked)} cases without saying why"
            )
    return bind(bank, files, asked)


def preflight_questions(bank: FrozenBank, indices: range) -> list[Question]:
    """Return a few questions of a bank, spread over it, to try an engine on."""
    first, last = indices.start // bank.draw_count, (indices.stop - 1) // bank.draw_count
    spread = sorted({first + (last - first) * step // max(1, _PROBED_COUNT - 1) for step in range(_PROBED_COUNT)})
    return [bank.question(index) for index in spread]


def _check_rendering(bank: FrozenBank, engine: Engine) -> None:
    """Refuse token ids that would mean something else to this engine's model."""
    for name, frozen in (("tokenizer", bank.tokenizer), ("template", bank.template)):
        own = engine.identity.get(name, frozen)
        if own != frozen:
            raise ConflictError(
                f"bank '{bank.path}' was frozen for {name} {frozen[:12]}, the engine has {str(own)[:12]}; freeze the "
                "bank with the engine's model"
            )


class _Answering:
    """Open attempt and result streams of one bank."""

    def __init__(self, bank: FrozenBank, engine: Engine, files: BankFiles, asked: range, *, invalid_max: int) -> None:
        self.chain = AttemptChain(bank, engine.mode, asked)
        self._engine, self._asked = engine, asked
        head = {
            "bank": bank.digest,
            "engine": dict(engine.identity),
            "mode": engine.mode.value,
            "first_case": asked.start,
            "case_count": len(asked),
            "invalid_max": invalid_max,
        }
        self._attempts = Journal(
            files.attempts, {"format": ATTEMPTS_FORMAT, **head}, mend=ATTEMPTS_MEND, is_stamped=True
        )
        try:
            self._results = Journal(
                files.results, {"format": RESULTS_FORMAT, **head}, mend=RESULTS_MEND, is_stamped=False
            )
        except BaseException:
            self._attempts.close()
            raise
        self._committed_at = time.monotonic()
        self._is_writable = True

    def __enter__(self) -> _Answering:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._is_writable:
                self._commit()
        finally:
            self._attempts.close()
            self._results.close()

    def recover(self) -> None:
        """Follow the attempts on disk, and write the results that an interruption kept from following them.

        Raises:
            IntegrityError: If the results on disk are not those that follow from the attempts.
        """
        for result in replay(self.chain, self._attempts.path, self._results.path):
            self._results.append(result.to_json())
        self._commit()

    def answer(self, watch: ConstraintWatch, progress: ProgressCallback | None) -> None:
        """Ask the engine for every case that is left, for as long as it keeps what its mode promises."""
        for attempt in self._engine.answer(watch.while_kept(self.chain.open_cases())):
            due = self.chain.add(attempt)
            watch.see(attempt)
            self._attempts.append(attempt.to_json())
            for result in due:
                self._results.append(result.to_json())
            if self._attempts.held_count >= _GROUP_COUNT or time.monotonic() - self._committed_at > _GROUP_INTERVAL_S:
                self._commit()
            if progress is not None:
                progress(BankProgress(self.chain.result_count, len(self._asked)))

    def _commit(self) -> None:
        self._is_writable = False  # where a write fails, half of a group may be on disk
        self._attempts.commit()  # first: a result on disk must always have its attempt there
        self._results.commit()
        self._is_writable = True
        self._committed_at = time.monotonic()
