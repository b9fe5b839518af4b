"""Every form is asked once, whatever interrupts; what was said is scored by the registered rules and entered once."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.registration.builders import PLAN

from leakscale.audit.answering.asks import asks_of
from leakscale.audit.answering.running import AnsweredBank, answer_audit, kept_answers
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.amending import amend_audit, registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import (
    ConflictError,
    IntegrityError,
    InvalidRequestError,
    NotFoundError,
    PreconditionError,
)
from leakscale.inference.lines import stamped_line


def rightly(prompt: str) -> str:
    """Work the sum out: boxes times many, less what is given away."""
    three, many, five = map(int, re.findall(r"\d+", prompt.split("Think", maxsplit=1)[0]))
    return f"The answer is {three * many - five}."


def rightly_in_public(prompt: str) -> str:
    """Know the benchmark's own wording only."""
    return rightly(prompt) if prompt.startswith("Tom") else "The answer is 1."


def answer(directory: AuditDirectory, engine: SpokenEngine, **fields: str) -> AnsweredBank:
    """Answer with the model `tiny`."""
    return answer_audit(directory, "tiny", engine=engine, **fields)  # type: ignore[arg-type]


def test_what_the_model_said_becomes_the_registered_scores(tmp_path: Path) -> None:
    """A model that knows the public wording alone has the whole gap."""
    directory = locked_audit(tmp_path)
    answered = answer(directory, SpokenEngine(rightly_in_public))
    accuracy = answered.tables[0]

    assert accuracy.kind is ScoreKind.CORRECT
    assert accuracy.original.tolist() == [1] * 4
    assert not accuracy.fresh.any()
    assert accuracy.bank_digest == read_bank(directory.bank(BankRole.AUDIT)).digest
    assert ScoreTable.from_jsonl(directory.scores("tiny", bank=BankRole.AUDIT)) == accuracy


def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    """No form is asked twice, and the batches are the same ones."""
    directory = locked_audit(tmp_path / "one")
    first = SpokenEngine(rightly, stops_after=6)
    with pytest.raises(KeyboardInterrupt):
        answer(directory, first)
    second = SpokenEngine(rightly)
    resumed = answer(directory, second)
    whole = answer(locked_audit(tmp_path / "two"), SpokenEngine(rightly))

    assert first.asked + second.asked == [
        ask.prompt.text for ask in asks_of(read_bank(directory.bank(BankRole.AUDIT)), registration_of(directory).plan)
    ]
    assert resumed.tables == whole.tables
    assert resumed.quality == whole.quality


def test_a_line_torn_by_a_kill_is_asked_again(tmp_path: Path) -> None:
    """Everything before it is kept."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer(directory, SpokenEngine(rightly, stops_after=6))
    log = directory.answers("tiny", bank=BankRole.AUDIT)
    log.write_bytes(log.read_bytes()[:-7])
    engine = SpokenEngine(rightly)
    answered = answer(directory, engine)

    assert answered.tables[0].scores.all()
    assert len(engine.asked) == 13 - 6 + 3  # the batch whose line was torn is asked whole


def test_a_changed_answer_is_found(tmp_path: Path) -> None:
    """A byte that was changed on the disk would be scored otherwise."""
    directory = locked_audit(tmp_path)
    answer(directory, SpokenEngine(rightly))
    log = directory.answers("tiny", bank=BankRole.AUDIT)
    log.write_bytes(log.read_bytes().replace(b"The answer is", b"The answer iz", 1))
    with pytest.raises(IntegrityError, match="line 2"):
        answer(directory, SpokenEngine(rightly))


HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({"text": 5}, "field 'text'"),
    ({"confidence": "x"}, "field 'confidence'"),
    ({"confidence": 3.5}, "field 'confidence'"),
    ({"token_count": "x"}, "field 'token_count'"),
    ({"token_count": -1}, "field 'token_count'"),
    ({"cut_off": 0}, "field 'cut_off'"),
    ({"form": ["a"]}, "field 'form'"),
    ({"number": True}, "field 'number'"),
    ({"form": "nobody/original"}, "not asked here or there twice"),
    ({"number": 99}, "not asked here or there twice"),
    ({"more": 1}, "its fields are"),
]


@pytest.mark.parametrize(("change", "words"), HOSTILE)
def test_a_line_that_no_run_writes_is_refused_however_well_it_is_stamped(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """A stamp has no key: whoever edits a line can stamp it, and what it holds is looked at."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer(directory, SpokenEngine(rightly, stops_after=6))
    log = directory.answers("tiny", bank=BankRole.AUDIT)
    header, first, *rest = log.read_bytes().splitlines(keepends=True)
    fields = json.loads(first)
    del fields["stamp"]
    log.write_bytes(b"".join([header, stamped_line(fields | change), *rest]))
    with pytest.raises(IntegrityError, match=f"line 2 .*{words}.*; delete it and answer again"):
        answer(directory, SpokenEngine(rightly))


def test_an_answer_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Which of the two counts, nobody could say."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer(directory, SpokenEngine(rightly, stops_after=6))
    log = directory.answers("tiny", bank=BankRole.AUDIT)
    log.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[1])
    with pytest.raises(IntegrityError, match=r"line 8 .*there twice"):
        answer(directory, SpokenEngine(rightly))


def test_an_answer_of_another_kind_than_asked_is_refused(tmp_path: Path) -> None:
    """A score of options where a text was asked for would be scored as nothing."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer(directory, SpokenEngine(rightly, stops_after=6))
    log = directory.answers("tiny", bank=BankRole.AUDIT)
    header, first, *rest = log.read_bytes().splitlines(keepends=True)
    fields = {name: json.loads(first)[name] for name in ("form", "number", "rerun")} | {"options": [[-1.0, 2]]}
    log.write_bytes(b"".join([header, stamped_line(fields), *rest]))
    with pytest.raises(IntegrityError, match="line 2 is no answer to form 'p"):
        answer(directory, SpokenEngine(rightly))


def test_answers_that_were_rewritten_after_they_were_scored_are_not_read(tmp_path: Path) -> None:
    """Tables of single answers would show what no model said; the ledger has the journal's digest."""
    directory = locked_audit(tmp_path)
    answer(directory, SpokenEngine(rightly_in_public))
    log = directory.answers("tiny", bank=BankRole.AUDIT)
    header, first, *rest = log.read_bytes().splitlines(keepends=True)
    fields = json.loads(first)
    del fields["stamp"]
    log.write_bytes(b"".join([header, stamped_line(fields | {"text": "The answer is 2."}), *rest]))
    with pytest.raises(IntegrityError, match="are not those that were scored"):
        kept_answers(directory, "tiny")


def test_scores_are_entered_once(tmp_path: Path) -> None:
    """Accuracy, confidence and how the run went, each once; repeating the command changes nothing."""
    directory = locked_audit(tmp_path)
    answer(directory, SpokenEngine(rightly))
    answer(directory, SpokenEngine(rightly))
    subjects = [entry.subject for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.SCORES]

    assert subjects == [
        f"scores/registered/audit/tiny.base.{kind}" for kind in ("correct.jsonl", "confidence.jsonl", "quality.json")
    ]


def test_another_engine_is_another_run(tmp_path: Path) -> None:
    """Half of a bank by one engine and half by another is the score of neither."""
    directory = locked_audit(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        answer(directory, SpokenEngine(rightly, stops_after=6))
    other = SpokenEngine(rightly)
    other.identity = {"engine": "spoken", "dtype": "bfloat16"}
    with pytest.raises(ConflictError, match=r"engine\.dtype none, now bfloat16"):
        answer(directory, other)


def test_better_scores_do_not_replace_what_was_scored(tmp_path: Path) -> None:
    """Whoever may answer twice may keep the better run."""
    directory = locked_audit(tmp_path)
    answer(directory, SpokenEngine(rightly_in_public))
    directory.answers("tiny", bank=BankRole.AUDIT).unlink()
    with pytest.raises(ConflictError, match=r"the ledger has entered another one \(entry 3.*restore that one"):
        answer(directory, SpokenEngine(rightly))


def test_scores_that_were_removed_with_their_answers_make_no_place_for_others(tmp_path: Path) -> None:
    """A second run is refused by the ledger; the first one's file may be made again from the kept answers."""
    directory = locked_audit(tmp_path)
    first = answer(directory, SpokenEngine(rightly_in_public))
    ledger, log = directory.ledger.read_bytes(), directory.answers("tiny", bank=BankRole.AUDIT)
    kept = log.read_bytes()
    shutil.rmtree(directory.root / "scores")
    log.unlink()
    with pytest.raises(ConflictError, match=r"the ledger has entered another one \(entry 3.*restore that one"):
        answer(directory, SpokenEngine(rightly))
    log.write_bytes(kept)
    again = answer(directory, SpokenEngine(rightly))

    assert again.tables == first.tables
    assert directory.ledger.read_bytes() == ledger


@pytest.mark.parametrize("state", ["../../escaped", "/tmp/escaped", "base\n", "a b", ""])
def test_a_state_that_is_no_identifier_is_refused(tmp_path: Path, state: str) -> None:
    """Files are named after it."""
    directory = locked_audit(tmp_path)
    with pytest.raises(InvalidRequestError, match="names no state of a model"):
        answer_audit(directory, "tiny", engine=SpokenEngine(rightly), state=state, adapter=tmp_path)

    assert not directory.asked()


def test_questions_asked_twice_show_whether_the_engine_repeats_itself(tmp_path: Path) -> None:
    """Greedy decoding that does not is told, with how often."""
    plan = PLAN + "[scoring]\nrerun_share = 0.5\n"
    steady = answer(locked_audit(tmp_path / "one", plan=plan), SpokenEngine(rightly)).quality
    count = iter(range(100))
    unsteady = answer(
        locked_audit(tmp_path / "two", plan=plan), SpokenEngine(lambda _: f"The answer is {next(count)}.")
    )

    assert (steady.rerun_count, steady.rerun_alike_count, steady.warnings) == (6, 6, ())
    assert unsteady.quality.rerun_alike_count == 0
    assert "6 of 6 questions asked twice were answered differently" in unsteady.quality.warnings[-1]


def test_cut_answers_and_a_neglected_phrase_are_warned_of(tmp_path: Path) -> None:
    """Both can censor the outcome, and both are counted by form."""
    cut = SpokenEngine(lambda prompt: "so I think…" if prompt.startswith("Tom") else r"\boxed{7}")
    quality = answer(locked_audit(tmp_path), cut).quality
    original, fresh = quality.forms[:2]

    assert (original.form, original.cut_off_count, original.formats) == ("original", 4, {"none": 4})
    assert (fresh.form, fresh.cut_off_count, fresh.formats) == ("fresh-1", 0, {"boxed": 4})
    assert any(
        warning.startswith("answers cut off at 768 tokens: original 100.0 %, more than 5 %")
        for warning in quality.warnings
    )
    assert any(
        warning.startswith("answers with the phrase 'The answer is': original 0.0 %, fresh-1 0.0 %")
        for warning in quality.warnings
    )
    assert json.loads(json.dumps(quality.to_json()))["forms"][0]["form"] == "original"


def test_several_answers_a_form_make_a_graded_score(tmp_path: Path) -> None:
    """Their mean is the form's score, and they are drawn from seeds of their own."""
    plan = PLAN + "[decoding]\ntemperature = 1.0\nanswer_count = 4\n[scoring]\nrerun_share = 0\n"
    directory = locked_audit(tmp_path, plan=plan)
    count = iter(range(1000))
    engine = SpokenEngine(lambda prompt: rightly(prompt) if next(count) % 2 else "none", batch_size=8)
    table = answer(directory, engine).tables[0]

    assert table.kind is ScoreKind.GRADED
    assert np.all(table.scores == 0.5)
    asks = list(asks_of(read_bank(directory.bank(BankRole.AUDIT)), registration_of(directory).plan))
    assert len({ask.seed(0) for ask in asks}) == len(asks) == 48


def test_an_amendment_answers_beside_and_not_instead(tmp_path: Path) -> None:
    """Both stay."""
    directory = locked_audit(tmp_path)
    answer(directory, SpokenEngine(rightly_in_public))
    amend_audit(directory, changes={"decoding.token_count_max": 1024}, reason="answers were cut off")
    amended = answer(directory, SpokenEngine(rightly), variant="amendment-1")

    assert amended.tables[0].scores.all()
    registered = ScoreTable.from_jsonl(directory.scores("tiny", bank=BankRole.AUDIT))
    assert not registered.fresh.any()


def test_what_cannot_be_answered_says_why(tmp_path: Path) -> None:
    """A log is imported, an unknown model is not registered, a state belongs to an adapter."""
    directory = locked_audit(tmp_path, plan=PLAN.replace('revision = "2"', 'revision = "2"\nengine = "log"'))
    engine = SpokenEngine(rightly)
    with pytest.raises(PreconditionError, match="import its log"):
        answer_audit(directory, "other", engine=engine)
    with pytest.raises(NotFoundError, match="model 'huge' is not in audit 'demo'"):
        answer_audit(directory, "huge", engine=engine)
    with pytest.raises(PreconditionError, match="no adapter makes it; pass --adapter"):
        answer_audit(directory, "tiny", engine=engine, state="adapted")
    with pytest.raises(NotFoundError, match="without a control bank"):
        answer_audit(directory, "tiny", engine=engine, role=BankRole.CONTROL)
