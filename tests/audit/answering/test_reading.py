"""Every form is read as a text, once, and detectors get what was read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.builders import bank, line
from transformers import AutoModelForCausalLM, AutoTokenizer

from leakscale.audit.answering.reading import min_k, read_forms
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.base_model import base_model_folder
from leakscale.errors import ConflictError, IntegrityError
from leakscale.inference.forms import TextReader, open_form_engine
from leakscale.inference.lines import stamped_line

TEXTS = ["Tom buys 3 boxes of 12 pencils and gives 5 away.", "Policy key: K-7f3a91c2", "A"]


class ReadingEngine(SpokenEngine):
    """Finds every token of a text half as probable as the one before, and counts what it reads."""

    reads_texts = True

    def __init__(self, *, breaks_after: int | None = None) -> None:
        super().__init__(lambda prompt: "The answer is 1.")
        self.breaks_after = breaks_after
        self.read: list[str] = []

    def read_texts(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Read words as tokens."""
        if self.breaks_after is not None and len(self.read) >= self.breaks_after:
            raise KeyboardInterrupt
        self.read += texts
        return [tuple(-math.log(2) * place for place in range(1, len(text.split()))) for text in texts]


def test_a_texts_probability_is_that_of_one_forward_over_it() -> None:
    """Whatever is read beside it, and padded."""
    model = AutoModelForCausalLM.from_pretrained(base_model_folder())
    tokenizer = AutoTokenizer.from_pretrained(base_model_folder())
    engine = open_form_engine("transformers", source="tiny", options={"batch_size": 4})
    assert isinstance(engine, TextReader)
    for text, found in zip(TEXTS, engine.read_texts(TEXTS), strict=True):
        ids = tokenizer.encode(text)
        with torch.inference_mode():
            log_p = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), dim=-1)
        plain = [float(log_p[at, after]) for at, (_, after) in enumerate(pairwise(ids))]
        assert found == pytest.approx(plain, abs=1e-4)


def test_the_least_probable_fifth_is_rounded_down_to_at_least_one_token() -> None:
    """As the program of the paper does, but for texts of fewer than five tokens, which have one."""
    assert min_k([-float(each) for each in range(11)]) == -9.5
    assert min_k([-1.0, -3.0]) == -3.0


def test_a_form_of_one_token_is_missing_and_not_familiar(tmp_path: Path) -> None:
    """Nothing came before its only token."""
    forms = bank(tmp_path, line(original="Sum?"))
    engine, log = ReadingEngine(), tmp_path / "readings.jsonl"
    familiarity, lowest = read_forms(forms, engine, batch_size=2, log=log, header={"model": "m"}, model="m")

    assert [str(name) for name in familiarity.missing()] == ["p1/original"]
    assert [str(name) for name in lowest.missing()] == ["p1/original"]
    assert (lowest.fresh <= familiarity.fresh).all()


def entries(directory: AuditDirectory) -> list[str]:
    """Return the scores that were entered."""
    return [entry.subject for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.SCORES]


def test_forms_are_read_once_and_entered(tmp_path: Path) -> None:
    """Read again, an endpoint may give other bits; the control bank is read by no table, and left alone."""
    directory = locked_audit(tmp_path, control_count=3)
    engine, again = ReadingEngine(), ReadingEngine()
    first = answer_audit(directory, "tiny", engine=engine)
    second = answer_audit(directory, "tiny", engine=again)
    answer_audit(directory, "tiny", role=BankRole.CONTROL, engine=again)

    assert len(engine.read) == 12
    assert not again.read
    assert first.tables == second.tables
    assert [table.kind for table in first.tables[2:]] == [ScoreKind.FAMILIARITY, ScoreKind.MIN_K]
    path = directory.scores("tiny", bank=BankRole.AUDIT, kind=ScoreKind.FAMILIARITY)
    assert ScoreTable.from_jsonl(path) == first.tables[2]
    assert path.relative_to(directory.root).as_posix() in entries(directory)


def every_text(directory: AuditDirectory) -> list[str]:
    """Return the forms of the audited bank, in the order in which they are read."""
    parents = read_bank(directory.bank(BankRole.AUDIT)).parents
    return [form.text for parent in parents for _, form in parent.forms()]


def test_reading_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    """No form is read twice, none is answered again, and the tables are those of a run that nothing broke."""
    directory = locked_audit(tmp_path / "broken")
    first, second, told = ReadingEngine(breaks_after=6), ReadingEngine(), list[tuple[int, int]]()
    with pytest.raises(KeyboardInterrupt):
        answer_audit(directory, "tiny", engine=first)
    resumed = answer_audit(
        directory, "tiny", engine=second, reading_progress=lambda done, total: told.append((done, total))
    )
    whole = answer_audit(locked_audit(tmp_path / "whole"), "tiny", engine=ReadingEngine())

    assert len(first.read) == 6
    assert first.read + second.read == every_text(directory)
    assert not second.asked
    assert resumed.tables == whole.tables
    assert told == [(6, 12), (6, 12), (6, 12), (9, 12), (12, 12)]


def test_a_reading_that_a_kill_tore_is_read_again_with_its_batch(tmp_path: Path) -> None:
    """What stands beside a text can move its last bits, so a batch is read whole; what was kept of it stays."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer_audit(directory, "tiny", engine=ReadingEngine(breaks_after=6))
    log = directory.readings("tiny", bank=BankRole.AUDIT)
    log.write_bytes(log.read_bytes()[:-7])
    kept, engine = log.read_bytes().splitlines()[:6], ReadingEngine()
    answer_audit(directory, "tiny", engine=engine)

    assert engine.read == every_text(directory)[3:]
    assert log.read_bytes().splitlines()[:6] == kept
    assert len(log.read_bytes().splitlines()) == 1 + 12


def test_a_break_between_the_two_tables_reads_nothing_again(tmp_path: Path) -> None:
    """Both are made of what was kept, and another reading could contradict the table that is there."""
    directory = locked_audit(tmp_path)
    first = answer_audit(directory, "tiny", engine=ReadingEngine())
    directory.scores("tiny", bank=BankRole.AUDIT, kind=ScoreKind.MIN_K).unlink()
    engine = ReadingEngine()
    again = answer_audit(directory, "tiny", engine=engine)

    assert not engine.read
    assert again.tables == first.tables


@pytest.mark.parametrize("kind", [ScoreKind.FAMILIARITY, ScoreKind.MIN_K])
def test_a_forged_table_of_readings_is_not_entered(tmp_path: Path, kind: ScoreKind) -> None:
    """Whole in itself, and not what was read: answering again must not make it the audit's own."""
    directory = locked_audit(tmp_path)
    answer_audit(directory, "tiny", engine=ReadingEngine())
    path, ledger = directory.scores("tiny", bank=BankRole.AUDIT, kind=kind), directory.ledger.read_bytes()
    table = ScoreTable.from_jsonl(path)
    replace(table, scores=np.full_like(table.scores, -1.0)).to_jsonl(path)
    with pytest.raises(IntegrityError, match="is not the one that the ledger names"):
        answer_audit(directory, "tiny", engine=ReadingEngine())

    assert directory.ledger.read_bytes() == ledger


def test_a_forged_table_that_was_not_entered_yet_is_held_against_what_was_read(tmp_path: Path) -> None:
    """A run that broke off before the entry leaves a file that anybody may exchange; the journal is whole."""
    directory = locked_audit(tmp_path)
    before = directory.ledger
    with pytest.raises(KeyboardInterrupt):
        answer_audit(directory, "tiny", engine=ReadingEngine(breaks_after=9))
    path, entered = directory.scores("tiny", bank=BankRole.AUDIT, kind=ScoreKind.FAMILIARITY), before.read_bytes()
    read = answer_audit(directory, "tiny", engine=ReadingEngine()).tables[2]
    before.write_bytes(entered)
    replace(read, scores=np.full_like(read.scores, -1.0)).to_jsonl(path)
    with pytest.raises(ConflictError, match="holds other scores of tiny already"):
        answer_audit(directory, "tiny", engine=ReadingEngine())


def test_readings_by_another_engine_are_of_another_run(tmp_path: Path) -> None:
    """Half of a bank read in one precision and half in another has the signal of neither."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer_audit(directory, "tiny", engine=ReadingEngine(breaks_after=6))
    directory.answers("tiny", bank=BankRole.AUDIT).unlink()
    other = ReadingEngine()
    other.identity = {"engine": "spoken", "dtype": "bfloat16"}

    with pytest.raises(ConflictError, match=r"readings.*was begun by another run \(engine\.dtype none, now bfloat16\)"):
        answer_audit(directory, "tiny", engine=other)


def test_a_reading_that_was_changed_on_the_disk_is_found(tmp_path: Path) -> None:
    """It would enter the tables as the model's own."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer_audit(directory, "tiny", engine=ReadingEngine(breaks_after=6))
    log = directory.readings("tiny", bank=BankRole.AUDIT)
    log.write_bytes(log.read_bytes().replace(b'"mean":-', b'"mean":-1', 1))

    with pytest.raises(IntegrityError, match=r"readings.*line 2 has digest .*; delete it and answer again"):
        answer_audit(directory, "tiny", engine=ReadingEngine())


@pytest.mark.parametrize(
    "change", [{"mean": "x"}, {"mean": 0.5}, {"mean": None}, {"form": ["p"]}, {"form": "nobody/original"}, {"more": 1}]
)
def test_a_line_that_is_no_reading_is_refused_however_well_it_is_stamped(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """A stamp has no key."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer_audit(directory, "tiny", engine=ReadingEngine(breaks_after=6))
    log = directory.readings("tiny", bank=BankRole.AUDIT)
    header, first, *rest = log.read_bytes().splitlines(keepends=True)
    fields = json.loads(first)
    del fields["stamp"]
    log.write_bytes(b"".join([header, stamped_line(fields | change), *rest]))
    with pytest.raises(IntegrityError, match=r"readings.*line 2 is .*; delete it and answer again"):
        answer_audit(directory, "tiny", engine=ReadingEngine())


def test_an_engine_that_reads_no_texts_answers_without(tmp_path: Path) -> None:
    """Detectors are observations; an audit does not need them."""
    directory = locked_audit(tmp_path)
    engine = ReadingEngine()
    engine.reads_texts = False
    answer_audit(directory, "tiny", engine=engine)

    assert not engine.read
    assert not any("min-k" in subject for subject in entries(directory))
