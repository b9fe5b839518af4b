"""Ask a registered model every form of a bank, keep what it said, score it, and enter the scores in the ledger.

Answers are appended to a journal as batches end, so a run that was interrupted goes on where it was. Batches are the
same whatever was answered before. What a model wrote quotes private forms and stays under `private/`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.answering.asks import Ask, asks_of
from leakscale.audit.answering.reading import read_forms
from leakscale.audit.directory import REGISTERED, AuditDirectory, BankRole
from leakscale.audit.forms import FormBank
from leakscale.audit.registration.amending import registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.verifying import locked_bank
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.audit.scoring.answers import score_answers
from leakscale.audit.scoring.quality import AnswerQuality, answer_quality
from leakscale.digests import json_digest
from leakscale.errors import ConflictError, PreconditionError
from leakscale.inference.forms import Decoding, FormEngine, TextReader, open_form_engine
from leakscale.inference.journal import Journal
from leakscale.inference.lines import file_digest, read_records
from leakscale.whole_files import write_whole

__all__ = ["AnsweredBank", "answer_audit", "kept_answers"]

_FORMAT: Final = "leakscale-audit-answers-v1"
_MEND: Final = "delete it and answer again"


@dataclass(frozen=True, slots=True)
class AnsweredBank:
    """One model's scores on one bank."""

    tables: tuple[ScoreTable, ...]
    """Accuracy; confidence and readings of the forms where the engine gives them."""
    quality: AnswerQuality
    files: tuple[Path, ...]


def answer_audit(
    directory: AuditDirectory,
    model_id: str,
    *,
    role: BankRole = BankRole.AUDIT,
    state: str = "base",
    adapter: Path | None = None,
    variant: str = REGISTERED,
    engine: FormEngine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AnsweredBank:
    """Answer a bank of a locked audit with a registered model.

    Args:
        directory: A locked audit.
        model_id: As the registration names the model.
        role: Which bank is asked.
        state: State of the model; `base`, unless an adapter changes it.
        adapter: Folder of a completed adapter, for another state than `base`.
        variant: `registered`, or an amendment.
        engine: What answers; opened as registered if left out.
        progress: Called with the answers that are there and their number.

    Raises:
        PreconditionError: If the audit is not locked, or its model is one whose log is imported.
        ConflictError: If answers or scores of another run lie there.
        NotFoundError: If there is no such model, variant or bank.
        IntegrityError: If anything was changed after the lock.
    """
    if (adapter is None) is (state != "base"):
        raise PreconditionError(
            f"state '{state}' and adapter '{adapter}' do not go together; the state without an adapter is `base`"
        )
    with directory.held():
        registration = registration_of(directory, variant)
        model = registration.plan.model_of(model_id)
        if model.is_asked_already:
            raise PreconditionError(
                f"model '{model_id}' is registered with engine 'log'; import its log by `leakscale audit import`"
            )
        bank = locked_bank(directory, registration, role)
        engine = engine or open_form_engine(
            model.engine, source=model.source, adapter=adapter, options=model.engine_options
        )
        run = _Run(directory, registration, bank, model_id, role, state)
        answered = _score(run, _answer(run, engine, progress))
        if role is BankRole.AUDIT and isinstance(engine, TextReader) and engine.reads_texts:
            answered = _with_readings(run, answered, engine, engine.batch_size)
        return answered


def kept_answers(
    directory: AuditDirectory, model_id: str, *, role: BankRole = BankRole.AUDIT, state: str = "base"
) -> list[FormAnswer]:
    """Return what a model answered under the registered settings, repeated questions included.

    Raises:
        IntegrityError: If a line is damaged.
    """
    log = directory.answers(model_id, bank=role, state=state)
    return list(read_records(log, FormAnswer.from_json, mend=_MEND, is_stamped=True))


@dataclass(frozen=True, slots=True)
class _Run:
    """One model in one state, asked one bank under one variant of the registration."""

    directory: AuditDirectory
    registration: Registration
    bank: FormBank
    model_id: str
    role: BankRole
    state: str

    @property
    def log(self) -> Path:
        """The journal of its answers."""
        return self.directory.answers(
            self.model_id, bank=self.role, state=self.state, variant=self.registration.variant
        )

    def scores(self, kind: ScoreKind) -> Path:
        """Return the file of its scores of a kind."""
        return self.directory.scores(
            self.model_id, bank=self.role, state=self.state, kind=kind, variant=self.registration.variant
        )

    def header(self, engine: FormEngine) -> dict[str, Any]:
        """Return everything that decides the answers."""
        plan = self.registration.plan
        return {
            "format": _FORMAT,
            "audit": self.registration.name,
            "variant": self.registration.variant,
            "model": self.model_id,
            "state": self.state,
            "bank": self.bank.digest,
            "prompt": json_digest(plan.prompt.model_dump(mode="json")).hex(),
            "decoding": plan.decoding.model_dump(mode="json"),
            "rerun_share": plan.scoring.rerun_share,
            "engine": dict(engine.identity),
        }


def _answer(run: _Run, engine: FormEngine, progress: Callable[[int, int], None] | None) -> list[FormAnswer]:
    asks = list(asks_of(run.bank, run.registration.plan))
    journal = Journal(run.log, run.header(engine), mend=_MEND, is_stamped=True)
    try:
        kept = read_records(run.log, FormAnswer.from_json, mend=_MEND, is_stamped=True)
        found = {answer.key: answer for answer in kept}
        for batch in _batches(asks, engine.batch_size):
            if any(ask.key not in found for ask in batch):
                for answer in _answer_batch(batch, engine, run.registration):
                    if answer.key not in found:  # a kill may have torn a batch
                        found[answer.key] = answer
                        journal.append(answer.to_json())
                journal.commit()
            if progress is not None:
                progress(len(found), len(asks))
    finally:
        journal.close()
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
        return [FormAnswer.of(ask, engine.score_options(ask.prompt, ask.options)) for ask in batch]
    table = registration.plan.decoding
    decoding = Decoding(table.token_count_max, table.temperature)
    seeds = [ask.seed(table.seed) for ask in batch] if table.temperature else []
    generated = engine.generate([ask.prompt for ask in batch], decoding=decoding, seeds=seeds)
    return [FormAnswer.of(ask, answer) for ask, answer in zip(batch, generated, strict=True)]


def _score(run: _Run, answers: Sequence[FormAnswer]) -> AnsweredBank:
    plan, variant = run.registration.plan, run.registration.variant
    scored = score_answers(run.bank, answers, plan.scoring, model=run.model_id, state=run.state)
    quality = answer_quality(run.bank, answers, plan)
    tables = [scored.accuracy, *([scored.confidence] if scored.confidence else [])]
    facts = {"made_by": "answer", "answers": file_digest(run.log)}
    files = [_file(run, table, facts) for table in tables]
    path = run.directory.quality(run.model_id, bank=run.role, state=run.state, variant=variant)
    content = json.dumps(quality.to_json(), indent=1, ensure_ascii=False).encode() + b"\n"
    write_whole(path, content)
    _enter(run.directory, path, hashlib.sha256(content).digest(), facts)
    return AnsweredBank(tuple(tables), quality, (*files, path))


def _with_readings(run: _Run, answered: AnsweredBank, engine: TextReader, batch_size: int) -> AnsweredBank:
    """Read every form as a text, once: what was read is not read again, for another time may give other bits."""
    paths = [run.scores(kind) for kind in (ScoreKind.FAMILIARITY, ScoreKind.MIN_K)]
    if all(path.is_file() for path in paths):
        tables = tuple(ScoreTable.from_jsonl(path) for path in paths)
    else:
        tables = read_forms(run.bank, engine, batch_size=batch_size, model=run.model_id, state=run.state)
    for table in tables:
        _file(run, table, {"made_by": "reading"})
    return AnsweredBank((*answered.tables, *tables), answered.quality, (*answered.files, *paths))


def _file(run: _Run, table: ScoreTable, facts: dict[str, Any]) -> Path:
    """Write a table where it belongs, and enter it."""
    path = run.scores(table.kind)
    if path.is_file() and ScoreTable.from_jsonl(path) != table:
        raise ConflictError(
            f"'{path}' holds other scores of {run.model_id} already; who may answer twice may keep the better run"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_jsonl(path)
    _enter(run.directory, path, bytes.fromhex(table.digest), facts | {"metric": table.metric})
    return path


def _enter(directory: AuditDirectory, path: Path, digest: bytes, facts: dict[str, Any]) -> None:
    """Enter a file in the ledger, once."""
    subject = path.relative_to(directory.root).as_posix()
    AuditLedger(directory).append_once(EntryKind.SCORES, subject=subject, digest=digest, facts=facts)
