"""Imports into a locked audit: the bank, the place and the ledger are the audit's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.audit.log_builders import a_csv, run_import
from tests.audit.registration.builders import NOW, PLAN, an_audit

from leakscale.audit.analysis import analyze_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.importers import ImportOptions, LogPaths, Selection
from leakscale.audit.importers.filing import import_into_audit
from leakscale.audit.importers.saving import notes_path
from leakscale.audit.registration.amending import amend_audit
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.standing import Standing
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import (
    ConflictError,
    IntegrityError,
    InvalidRequestError,
    NotFoundError,
    PreconditionError,
)

BY_HAND = Selection("right", form_key="form")
CHOSEN = "how the log is read (right, correct) was chosen at the import"
LOGGED = PLAN.replace('revision = "1"', 'revision = "1"\nengine = "log"')


def a_locked_audit(folder: Path) -> AuditDirectory:
    """Return an audit of one model that was asked already and one that was not."""
    directory = an_audit(folder, plan=LOGGED)
    lock_audit(directory, now=NOW)
    return directory


def a_log_of(directory: AuditDirectory, *, right: int = 1, model: str = "") -> LogPaths:
    """Write a table that answers every form of the audit's bank."""
    bank = read_bank(directory.bank(BankRole.AUDIT))
    rows = [
        {
            "id": parent.parent_id,
            "form": str(name).partition("/")[2],
            "right": right,
            "text": form.text,
            "prompt": form.text,
            "model": model,
        }
        for parent in bank.parents
        for name, form in parent.forms()
    ]
    return LogPaths(together=(a_csv(directory.root.parent, *rows),))


def test_an_import_is_entered_in_the_ledger_once(tmp_path: Path) -> None:
    """Scores nobody entered could have been exchanged; an entry a repetition would look like several tries."""
    directory = a_locked_audit(tmp_path)
    imported, path = import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    entries = [entry for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.SCORES]

    assert path == directory.scores("tiny", bank=BankRole.AUDIT)
    assert ScoreTable.from_jsonl(path) == imported.table
    assert imported.table.model == "tiny"
    assert [(entry.subject, entry.digest) for entry in entries] == [
        ("scores/registered/audit/tiny.base.correct.jsonl", imported.table.digest)
    ]
    assert entries[0].facts["made_by"] == "import"


def test_what_was_overlooked_is_bound_by_the_ledger(tmp_path: Path) -> None:
    """The report reads it from there."""
    directory = a_locked_audit(tmp_path)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND, options=ImportOptions(are_prompts_trusted=True))
    entry = AuditLedger(directory).latest(EntryKind.SCORES)

    assert entry is not None
    assert entry.facts["are_prompts_trusted"] is True


def test_other_scores_of_the_same_model_are_refused(tmp_path: Path) -> None:
    """Whoever may import twice may keep the better one."""
    directory = a_locked_audit(tmp_path)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    with pytest.raises(ConflictError, match=r"the ledger has entered another one \(entry 3.*restore that one"):
        import_into_audit(directory, "tiny", a_log_of(directory, right=0), BY_HAND)


def test_scores_that_were_removed_make_no_place_for_others(tmp_path: Path) -> None:
    """What the ledger has entered stays the model's score, wherever its file is."""
    directory = a_locked_audit(tmp_path)
    imported, path = import_into_audit(directory, "tiny", a_log_of(directory, right=0), BY_HAND)
    ledger = directory.ledger.read_bytes()
    shutil.rmtree(directory.root / "scores")
    with pytest.raises(ConflictError, match=r"the ledger has entered another one \(entry 3.*restore that one"):
        import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)

    assert not path.exists()
    import_into_audit(directory, "tiny", a_log_of(directory, right=0), BY_HAND)
    assert ScoreTable.from_jsonl(path) == imported.table
    assert directory.ledger.read_bytes() == ledger


@pytest.mark.parametrize(("first", "second"), [("graded", "correct"), ("correct", "graded")])
def test_a_second_kind_of_accuracy_is_refused(tmp_path: Path, first: str, second: str) -> None:
    """Whoever may import both may drop the one that is worse."""
    directory = a_locked_audit(tmp_path)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND, kind=ScoreKind(first))
    ledger = directory.ledger.read_bytes()
    with pytest.raises(ConflictError, match=f"a model has one kind of accuracy, not '{first}' and '{second}'"):
        import_into_audit(directory, "tiny", a_log_of(directory, right=0), BY_HAND, kind=ScoreKind(second))

    assert directory.ledger.read_bytes() == ledger


def test_an_import_is_not_repeated_with_other_notes(tmp_path: Path) -> None:
    """That prompts were trusted is not taken back once the scores are entered."""
    directory = a_locked_audit(tmp_path)
    trusting = ImportOptions(are_prompts_trusted=True)
    _, path = import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND, options=trusting)
    record = notes_path(path).read_bytes()
    with pytest.raises(ConflictError, match="was imported with other notes"):
        import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)

    assert notes_path(path).read_bytes() == record


def test_the_record_of_an_import_is_bound_with_its_scores(tmp_path: Path) -> None:
    """It says what was overlooked; edited, it would say that nothing was."""
    directory = a_locked_audit(tmp_path)
    _, path = import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    record = notes_path(path)
    Standing(directory).require_whole()
    record.write_bytes(record.read_bytes().replace(b"false", b"true "))
    with pytest.raises(IntegrityError, match=r"import\.json' is not the one that the ledger names"):
        Standing(directory).require_whole()
    record.unlink()
    with pytest.raises(IntegrityError, match=r"import\.json' is missing, and entry 3"):
        Standing(directory).require_whole()


@pytest.mark.parametrize("state", ["adapted", "../../../../escaped", "/tmp/escaped", "base\n", ""])
def test_a_log_is_of_the_registered_model_in_its_base_state(tmp_path: Path, state: str) -> None:
    """Nobody registered another, and files are named after it."""
    directory = a_locked_audit(tmp_path)
    (log,) = a_log_of(directory).together
    outcome = run_import(
        *("--metric", "right", "--form-key", "form", "--together", str(log)),
        *("--audit", str(directory.root), "--model", "tiny", "--state", state),
    )

    assert outcome.exit_code == 2
    assert "in state base" in " ".join(outcome.output.replace("│", "").split())
    assert not directory.asked()


def test_before_the_lock_nothing_is_imported(tmp_path: Path) -> None:
    """Otherwise the rules could be fitted to the scores."""
    directory = an_audit(tmp_path, plan=LOGGED)
    with pytest.raises(PreconditionError, match="is not locked"):
        import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    assert not directory.asked()


def test_only_a_model_registered_as_asked_already_is_imported(tmp_path: Path) -> None:
    """A log in place of the registered run would be an amendment nobody made."""
    directory = a_locked_audit(tmp_path)
    with pytest.raises(PreconditionError, match="'other' is registered with engine 'transformers'"):
        import_into_audit(directory, "other", a_log_of(directory), BY_HAND)
    with pytest.raises(NotFoundError, match="'huge' is not registered in audit 'demo', only tiny, other"):
        import_into_audit(directory, "huge", a_log_of(directory), BY_HAND)
    with pytest.raises(NotFoundError, match="was locked without a control bank"):
        import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND, role=BankRole.CONTROL)


def test_a_form_changed_after_the_lock_is_seen(tmp_path: Path) -> None:
    """The log would be of other forms than those that were registered."""
    directory = a_locked_audit(tmp_path)
    path = directory.bank(BankRole.AUDIT)
    path.write_text(path.read_text().replace("Ana", "Eva"), encoding="utf-8")
    with pytest.raises(IntegrityError, match="was changed after the lock"):
        import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)


def test_the_command_finds_bank_and_place_by_itself(tmp_path: Path) -> None:
    """Whoever imports for an audit names the audit and the model, and nothing that the audit knows already."""
    directory = a_locked_audit(tmp_path)
    (log,) = a_log_of(directory).together
    outcome = run_import(
        *("--metric", "right", "--form-key", "form", "--together", str(log)),
        *("--audit", str(directory.root), "--model", "tiny"),
    )

    assert outcome.exit_code == 0, outcome.output
    assert directory.scores("tiny", bank=BankRole.AUDIT).is_file()


def test_whose_log_it_is_is_told_where_the_registration_says_another(tmp_path: Path) -> None:
    """Names differ between a log and a plan; the reader of the report judges whether these do."""
    directory = a_locked_audit(tmp_path)
    imported, path = import_into_audit(directory, "tiny", a_log_of(directory, model="llama-other"), BY_HAND)
    again, _ = import_into_audit(directory, "tiny", a_log_of(directory, model="llama-other"), BY_HAND)

    assert imported.notes() == [CHOSEN, "the log is of 'llama-other', and 'tiny' is registered as 'tiny' (1)"]
    assert again.notes() == imported.notes()
    assert json.loads(notes_path(path).read_text())["notes"] == imported.notes()


@pytest.mark.parametrize("model", ["tiny", "vendor/Tiny-v2"])
def test_a_name_that_holds_the_registered_one_needs_no_note(tmp_path: Path, model: str) -> None:
    """A log writes provider and version around it."""
    directory = a_locked_audit(tmp_path)
    imported, _ = import_into_audit(directory, "tiny", a_log_of(directory, model=model), BY_HAND)

    assert imported.notes() == [CHOSEN]


def test_one_log_is_not_that_of_two_models(tmp_path: Path) -> None:
    """Two rows of the panel would be one."""
    directory = an_audit(tmp_path, plan=LOGGED.replace('revision = "2"', 'revision = "2"\nengine = "log"'))
    lock_audit(directory, now=NOW)
    import_into_audit(directory, "tiny", a_log_of(directory, model="llama"), BY_HAND)
    with pytest.raises(ConflictError, match=r"model 'other': its log is that of 'scores/.*tiny\.base.*\(entry 3"):
        import_into_audit(directory, "other", a_log_of(directory, model="llama"), BY_HAND)
    imported, _ = import_into_audit(directory, "other", a_log_of(directory, right=0, model="llama"), BY_HAND)

    assert imported.notes()[-1] == "the log of 'tiny' names the same model"


def test_a_log_that_names_no_model_is_the_importers_word(tmp_path: Path) -> None:
    """A table of scores may be anybody's."""
    directory = a_locked_audit(tmp_path)
    imported, _ = import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)

    assert imported.notes() == [CHOSEN, "the log names no model; that it is 'tiny' is the importer's word"]


def test_logs_of_an_amendment_stand_beside_the_registered_ones(tmp_path: Path) -> None:
    """A run with a higher cap is another run; both are analyzed."""
    directory = a_locked_audit(tmp_path)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    amend_audit(directory, changes={"decoding.token_count_max": 1024}, reason="cut off", now=NOW)
    _, path = import_into_audit(directory, "tiny", a_log_of(directory, right=0), BY_HAND, variant="amendment-1")
    analysis, _ = analyze_audit(directory, variant="amendment-1")

    assert path == directory.scores("tiny", bank=BankRole.AUDIT, variant="amendment-1")
    assert [row.public for row in analysis.table("advantage").rows] == [0.0]


def test_an_amendment_of_the_inference_takes_the_registered_scores(tmp_path: Path) -> None:
    """Nobody is asked again because alpha is another; and nobody may be."""
    directory = an_audit(tmp_path, plan=LOGGED.replace('revision = "2"', 'revision = "2"\nengine = "log"'))
    lock_audit(directory, now=NOW)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    import_into_audit(directory, "other", a_log_of(directory, right=0), BY_HAND)
    amend_audit(directory, changes={"inference.alpha": 0.2}, reason="a wider look", now=NOW)
    with pytest.raises(PreconditionError, match="changes the inference alone"):
        import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND, variant="amendment-1")
    registered, amended = (analyze_audit(directory, variant=each)[0] for each in ("registered", "amendment-1"))

    assert amended.facts["scores"] == registered.facts["scores"]
    assert amended.facts["settings"]["alpha"] == 0.2


def test_what_comes_after_the_analysis_is_refused_before_it_is_written(tmp_path: Path) -> None:
    """It would have to be analyzed again, which nothing may be."""
    directory = an_audit(tmp_path, plan=LOGGED.replace('revision = "2"', 'revision = "2"\nengine = "log"'))
    lock_audit(directory, now=NOW)
    import_into_audit(directory, "tiny", a_log_of(directory), BY_HAND)
    import_into_audit(directory, "other", a_log_of(directory, right=0), BY_HAND)
    analyze_audit(directory)
    with pytest.raises(ConflictError, match=r"would be entered after the analysis of its variant .*entry 5"):
        import_into_audit(directory, "tiny", a_log_of(directory, right=-1), BY_HAND, kind=ScoreKind.CONFIDENCE)

    assert not directory.scores("tiny", bank=BankRole.AUDIT, kind=ScoreKind.CONFIDENCE).exists()
    analyze_audit(directory)


def registered_reading(**fields: object) -> str:
    """Return a plan that says how the log of its first model is read."""
    options = ", ".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())
    return LOGGED.replace('engine = "log"', f'engine = "log"\nengine_options = {{{options}}}')


def test_a_log_is_read_as_it_was_registered(tmp_path: Path) -> None:
    """With all numbers at hand, whoever may choose the metric chooses the result."""
    directory = an_audit(tmp_path, plan=registered_reading(metric="right", form_key="form"))
    lock_audit(directory, now=NOW)
    for selection, kind, field in (
        (Selection("text", form_key="form"), ScoreKind.CORRECT, "metric 'right', not 'text'"),
        (BY_HAND, ScoreKind.GRADED, "kind 'correct', not 'graded'"),
    ):
        with pytest.raises(ConflictError, match=f"registered to be read by {field}; import it as registered"):
            import_into_audit(directory, "tiny", a_log_of(directory, model="tiny"), selection, kind=kind)
    imported, _ = import_into_audit(directory, "tiny", a_log_of(directory, model="tiny"), BY_HAND)

    assert imported.notes() == []


def test_a_registered_log_is_that_file(tmp_path: Path) -> None:
    """Its digest can be fixed before anybody looks into it."""
    directory = an_audit(tmp_path, plan=registered_reading(metric="right", form_key="form", sha256=["0" * 64]))
    lock_audit(directory, now=NOW)
    with pytest.raises(ConflictError, match=r"file 'scores\.csv' \(SHA-256 .*is none of the registered ones"):
        import_into_audit(directory, "tiny", a_log_of(directory, model="tiny"), BY_HAND)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"filter": "none"}, "'metric': field required"),
        ({"metric": "right", "metrik": 1}, "metrik"),
        ({"metric": "right", "kind": "confidence"}, "'kind'"),
        ({"metric": "right", "sha256": ["x"]}, "'sha256.0'"),
    ],
)
def test_a_plan_that_says_it_wrongly_is_refused(tmp_path: Path, fields: dict[str, object], rule: str) -> None:
    """Before the lock."""
    directory = an_audit(tmp_path, plan=registered_reading(**fields))
    with pytest.raises(InvalidRequestError, match=rule):
        lock_audit(directory, now=NOW)
