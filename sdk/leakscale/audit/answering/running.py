"""Ask a registered model every form of a bank, keep what it said, score it, and enter the scores in the ledger.

Answers and readings are appended to journals as batches end, so a run that was interrupted goes on where it was.
Batches are the same whatever was answered before. What a model wrote quotes private forms and stays under `private/`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.answering.asks import Ask, asks_of
from leakscale.audit.answering.engines import Own, open_registered
from leakscale.audit.answering.filing import enter_file, file_table
from leakscale.audit.answering.keeping import kept_records, kept_results
from leakscale.audit.answering.readings import enter_readings
from leakscale.audit.answering.run import Run
from leakscale.audit.directory import REGISTERED, AuditDirectory, BankRole
from leakscale.audit.registration.amending import registration_of, require_asked_anew
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.origin import fetched_of, require_golds
from leakscale.audit.registration.standing import Standing
from leakscale.audit.registration.verifying import locked_bank
from leakscale.audit.scores import ScoreTable
from leakscale.audit.scores.models import require_state
from leakscale.audit.scoring.answers import score_answers, score_confidence
from leakscale.audit.scoring.quality import AnswerQuality, answer_quality
from leakscale.errors import IntegrityError, PreconditionError
from leakscale.inference.forms import Decoding, FormEngine, TextReader
from leakscale.inference.lines import file_digest
from leakscale.whole_files import write_whole

__all__ = ["AnsweredBank", "answer_audit", "kept_answers"]


@dataclass(frozen=True, slots=True)
class AnsweredBank:
    """One model's scores on one bank."""

    tables: tuple[ScoreTable, ...]
    """Accuracy, unless golds are withheld; confidence and readings of the forms where the engine gives them."""
    quality: AnswerQuality
    files: tuple[Path, ...]
    unread: str = ""
    """Why the forms were not read as texts, by an engine that was to; empty where they were."""

    @property
    def accuracy(self) -> ScoreTable | None:
        """Scores of the answers; None where their server has the golds."""
        return next((table for table in self.tables if not table.kind.is_signal), None)


def answer_audit(
    directory: AuditDirectory,
    model_id: str,
    *,
    role: BankRole = BankRole.AUDIT,
    state: str = "base",
    adapter: Path | None = None,
    variant: str = REGISTERED,
    engine: FormEngine | None = None,
    own: Own | None = None,
    progress: Callable[[int, int], None] | None = None,
    reading_progress: Callable[[int, int], None] | None = None,
) -> AnsweredBank:
    """Answer a bank of a locked audit with a registered model.

    Interrupted, the same call goes on: nothing that was answered or read is asked again.

    Args:
        directory: A locked audit.
        model_id: As the registration names the model.
        role: Which bank is asked.
        state: State of the model; `base`, unless an adapter changes it.
        adapter: Folder of a completed adapter, for another state than `base`.
        variant: `registered`, or an amendment.
        engine: What answers; opened as registered if left out.
        own: What whoever answers names of their own machine; see `open_registered`.
        progress: Called with the answers that are there and their number.
        reading_progress: The same of the forms that are read as texts, once all are answered, by an engine that can.

    Raises:
        PreconditionError: If the audit is not locked, its model is one whose log is imported, or another state than
            `base` is to answer forms whose golds are withheld, or a fetched audit names a path.
        InvalidRequestError: If the state is no identifier.
        ConflictError: If answers or scores of another run lie there.
        NotFoundError: If there is no such model, variant or bank.
        IntegrityError: If anything was changed after the lock.
    """
    require_state(state)
    if state != "base" and adapter is None:
        raise PreconditionError(
            f"state '{state}' is another than base, and no adapter makes it; pass --adapter FOLDER, or no state"
        )
    if state == "base" and adapter is not None:
        raise PreconditionError(f"adapter '{adapter}' makes another state than base; name it, e.g. --state adapted")
    with directory.held():
        if state != "base":
            require_golds(directory, f"state '{state}'")
        registration = registration_of(directory, variant)
        require_asked_anew(directory, registration)
        model = registration.plan.model_of(model_id)
        if model.is_asked_already:
            raise PreconditionError(
                f"model '{model_id}' is registered with engine 'log'; import its log by `leakscale audit import`"
            )
        bank = locked_bank(directory, registration, role)
        engine = engine or open_registered(model, adapter=adapter, fetched=fetched_of(directory), own=own)
        run = Run(directory, registration, bank, model_id, role, state)
        answered = _score(run, _answer(run, engine, progress))
        if role is not BankRole.AUDIT or not isinstance(engine, TextReader) or not engine.reads_texts:
            return answered
        found = enter_readings(run, engine, reading_progress)
        return replace(
            answered,
            tables=(*answered.tables, *found.tables),
            files=(*answered.files, *found.files),
            unread=found.unread,
        )


def kept_answers(
    directory: AuditDirectory,
    model_id: str,
    *,
    role: BankRole = BankRole.AUDIT,
    state: str = "base",
    variant: str = REGISTERED,
) -> list[FormAnswer]:
    """Return what a model answered under the registered settings or an amendment, repeated questions included.

    Raises:
        IntegrityError: If a line is damaged, or the scores that were entered are of other answers.
    """
    log = directory.answers(model_id, bank=role, state=state, variant=variant)
    entry = Standing(directory).entry(directory.quality(model_id, bank=role, state=state, variant=variant))
    if entry is not None and entry.facts["answers"] != file_digest(log):
        raise IntegrityError(
            f"answers '{log}' are not those that were scored (entry {entry.number} of the ledger); restore them from a "
            "copy"
        )
    return kept_records(log, FormAnswer.from_json)


def _answer(run: Run, engine: FormEngine, progress: Callable[[int, int], None] | None) -> list[FormAnswer]:
    asks = list(asks_of(run.bank, run.registration.plan))
    by_key = {ask.key: ask for ask in asks}

    def read(fields: Mapping[str, Any]) -> FormAnswer:
        answer = FormAnswer.from_json(fields)
        ask = by_key.get(answer.key)
        if ask is not None and not ask.is_answered_by(answer):
            raise IntegrityError(f"is no answer to form '{answer.form}' (a text, or a score of each of its options)")
        return answer

    found = kept_results(
        run.log,
        run.header(engine),
        _batches(asks, engine.batch_size),
        lambda batch: _answer_batch(batch, engine, run.registration),
        read,
        progress=lambda done: progress(done, len(asks)) if progress else None,
    )
    return [found[ask.key] for ask in asks]


def _batches(asks: Sequence[Ask], size: int) -> Iterator[list[Ask]]:
    """Split questions into batches of generated answers, in order, and single choices."""
    batch: list[Ask] = []
    for ask in asks:
        is_alone = bool(ask.options) or (batch and bool(batch[0].options))
        if batch and (is_alone or len(batch) == size or batch[0].is_rerun is not ask.is_rerun):
            yield batch
            batch = []
        batch.append(ask)
    if batch:
        yield batch


def _answer_batch(batch: Sequence[Ask], engine: FormEngine, registration: Registration) -> list[FormAnswer]:
    if batch[0].options:
        return [FormAnswer.of(ask.key, engine.score_options(ask.prompt, ask.options)) for ask in batch]
    table = registration.plan.decoding
    decoding = Decoding(table.token_count_max, table.temperature)
    seeds = [ask.seed(table.seed) for ask in batch] if table.temperature else []
    generated = engine.generate([ask.prompt for ask in batch], decoding=decoding, seeds=seeds)
    return [FormAnswer.of(ask.key, answer) for ask, answer in zip(batch, generated, strict=True)]


def _score(run: Run, answers: Sequence[FormAnswer]) -> AnsweredBank:
    plan, variant = run.registration.plan, run.registration.variant
    quality = answer_quality(run.bank, answers, plan)
    tables = _tables(run, answers)
    facts = {"made_by": "answer", "answers": file_digest(run.log)}
    files = [file_table(run.directory, run.scores(table.kind), table, facts) for table in tables]
    path = run.directory.quality(run.model_id, bank=run.role, state=run.state, variant=variant)
    content = json.dumps(quality.to_json(), indent=1, ensure_ascii=False).encode() + b"\n"
    digest = hashlib.sha256(content)
    Standing(run.directory).require_free(path, digest.hexdigest())
    write_whole(path, content)
    enter_file(run.directory, path, digest.digest(), facts)
    return AnsweredBank(tables, quality, (*files, path))


def _tables(run: Run, answers: Sequence[FormAnswer]) -> tuple[ScoreTable, ...]:
    """Score the answers; where golds are withheld, their server does, and here is only how sure the model was."""
    settings, names = run.registration.plan.scoring, {"model": run.model_id, "state": run.state}
    if not run.bank.has_golds:
        confidence = score_confidence(run.bank, answers, settings, **names)
        return (confidence,) if confidence else ()
    scored = score_answers(run.bank, answers, settings, **names)
    return (scored.accuracy, *([scored.confidence] if scored.confidence else []))
