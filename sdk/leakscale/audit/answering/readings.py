"""What a run's engine reads of the forms as texts, entered in the ledger; or that it can read none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from leakscale.audit.answering.filing import enter_file, file_table
from leakscale.audit.answering.reading import read_forms
from leakscale.audit.answering.run import Run
from leakscale.audit.registration.standing import Standing
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.inference.forms import FormEngine, TextReader, UnreadTextsError
from leakscale.whole_files import write_whole

__all__ = ["EnteredReadings", "ReadingEngine", "enter_readings"]


class ReadingEngine(FormEngine, TextReader, Protocol):
    """An engine that answers, and says how probable a text is."""


@dataclass(frozen=True, slots=True)
class EnteredReadings:
    """What was read and entered."""

    tables: tuple[ScoreTable, ...]
    """Familiarity and Min-K of every form; empty where none could be read."""
    files: tuple[Path, ...]
    unread: str = ""
    """Why nothing was read; empty where it was."""


def enter_readings(
    run: Run, engine: ReadingEngine, progress: Callable[[int, int], None] | None = None
) -> EnteredReadings:
    """Read every form as a text, once: what was entered is not read again, for another time may give other bits.

    Detectors of memorized text are observations, and an audit is whole without them. So an engine that turns out to
    read no texts is recorded, in the ledger too, and does not end the run; a later run tries again.

    Args:
        run: Whose answers are there.
        engine: What reads.
        progress: Called with the forms that are read and their number.

    Raises:
        ConflictError: If readings of another run lie there.
        IntegrityError: If a table is not the one that was entered.
        UnavailableError: If the engine is away.
    """
    paths, standing = [run.scores(kind) for kind in (ScoreKind.FAMILIARITY, ScoreKind.MIN_K)], Standing(run.directory)
    if all(path.is_file() and standing.entry(path) is not None for path in paths):
        for path in paths:
            standing.require_entered(path)
        tables = tuple(ScoreTable.from_jsonl(path) for path in paths)
    else:
        try:
            tables = _read(run, engine, progress)
        except UnreadTextsError as error:
            return EnteredReadings((), (_record_unread(run, engine),), str(error))
    for table in tables:
        file_table(run.directory, run.scores(table.kind), table, {"made_by": "reading"})
    return EnteredReadings(tables, tuple(paths))


def _read(
    run: Run, engine: ReadingEngine, progress: Callable[[int, int], None] | None
) -> tuple[ScoreTable, ScoreTable]:
    return read_forms(
        run.bank,
        engine,
        batch_size=engine.batch_size,
        log=run.readings,
        header=run.reading_header(engine),
        model=run.model_id,
        state=run.state,
        progress=progress,
    )


def _record_unread(run: Run, engine: FormEngine) -> Path:
    """Write and enter that the forms were not read. The engine's own words are not kept: they name its address."""
    fields = {
        "model": run.model_id,
        "state": run.state,
        "engine": dict(engine.identity),
        "readings": "left out: the engine gives no log-probabilities of texts",
    }
    content = json.dumps(fields, indent=1).encode() + b"\n"
    digest = hashlib.sha256(content)
    Standing(run.directory).require_free(run.unread, digest.hexdigest())
    write_whole(run.unread, content)
    enter_file(run.directory, run.unread, digest.digest(), {"made_by": "reading"})
    return run.unread
