"""A lock freezes what it says, and each injected fault is refused under the name of its item and rule."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.audit.registration.builders import (
    CONTROL,
    NOW,
    PLAN,
    an_audit,
    control_line,
    edit_bank,
    parent_line,
    write_lines,
)

from leakscale.audit.checks import CheckSettings
from leakscale.audit.directory import BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.ledger import AuditLedger
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.readiness import readiness_of
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.audit.review import ReviewLog, Verdict, review_queue
from leakscale.errors import (
    AlreadyDoneError,
    ConflictError,
    InvalidRequestError,
    LeakScaleError,
    PreconditionError,
)
from leakscale.stats.errors import UnderpoweredGateError

GATE = """
[[gates]]
id = "deep"
about = "deep change minus fresh change"
bank = "audit"
parents = 4
standard_deviation = 0.01
tolerance = 0.05
"""


def test_what_was_locked_is_read_back_whole(tmp_path: Path) -> None:
    """Everything that decides a number has to survive the signature."""
    directory = an_audit(tmp_path, plan=PLAN + GATE, control_count=4)
    locked = lock_audit(directory, now=NOW)
    assert locked_registration(directory) == locked.registration
    assert locked_bank(directory, locked.registration).digest == locked.registration.bank.digest
    assert locked_bank(directory, locked.registration, BankRole.CONTROL).parents[0].parent_id == "c0"
    assert locked.registration.locked_at == "2026-03-01T12:00:00+00:00"
    assert locked.registration.design().population_size == 6
    assert locked.registration.gates[0].half_width < 0.05
    assert locked.notes == ()


def test_every_default_is_written_out(tmp_path: Path) -> None:
    """A default of a later version must not change what was registered by an earlier one."""
    directory = an_audit(tmp_path)
    registration = lock_audit(directory, now=NOW).registration
    written = registration.to_json()["plan"]
    assert written["inference"]["bound"] == "betting"
    assert written["decoding"] == {"token_count_max": 768, "temperature": 0.0, "answer_count": 1, "seed": 0}
    assert written["checks"]["similarity_max"] == 0.8


def test_the_registration_shows_no_private_form(tmp_path: Path) -> None:
    """It is published before the forms are retired."""
    directory = an_audit(tmp_path, control_count=4)
    lock_audit(directory, now=NOW)
    public = [path for path in directory.root.rglob("*") if path.is_file() and directory.private not in path.parents]
    assert {path.name for path in public} >= {"registration.json", "ledger.jsonl", "frame.jsonl", "draw.json"}
    bank = directory.bank(BankRole.AUDIT).read_text() + directory.bank(BankRole.CONTROL).read_text()
    assert "crates" in bank
    assert not any("crates" in path.read_text(encoding="utf-8") for path in public)
    assert directory.key.stat().st_mode & 0o077 == 0


def test_what_the_lock_publishes_tells_nothing_of_a_gold(tmp_path: Path) -> None:
    """Two control banks differ in every gold: but for what a nonce hides, and sizes too, their audits are the same."""
    published = []
    for name, gold in (("one", "31"), ("other", "13")):
        directory = an_audit(tmp_path / name, control_count=4)
        edit_bank(directory, partial(_set_golds, gold=gold), role=BankRole.CONTROL)
        items = review_queue(read_bank(directory.bank(BankRole.CONTROL)), CheckSettings(), role=BankRole.CONTROL)
        ReviewLog(directory).record({str(items[0].name): (Verdict.ACCEPT, "")}, items, reviewer="Ana", now=NOW)
        facts = lock_audit(directory, now=NOW).registration.to_json()
        hidden = [facts["bank"].pop("gold_commitment"), facts["control"].pop("gold_commitment")]
        published.append((facts, [*hidden, facts.pop("review_commitment")]))
    (facts, hidden), (other_facts, other_hidden) = published

    assert facts == other_facts
    assert not {*hidden} & {*other_hidden}
    assert {len(each) for each in hidden + other_hidden} == {64}


def _set_golds(lines: list[dict[str, Any]], *, gold: str) -> None:
    for each in lines:
        for form in (each["original"], *each["fresh"]):
            form["gold"] = gold


def test_a_plan_edited_after_the_lock_changes_nothing(tmp_path: Path) -> None:
    """The plan file is a draft; what was signed decides."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    directory.plan.write_text(PLAN.replace("tiny", "huge"), encoding="utf-8")
    assert locked_registration(directory).plan.models[0].id == "tiny"


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (
            lambda lines: lines[0]["fresh"].__setitem__(0, lines[0]["fresh"][0]["text"].replace("5", "6")),
            "numbers-differ",
        ),
        (lambda lines: lines[0]["fresh"][0].update(gold="7"), "gold-differs"),
        (
            lambda lines: lines[0]["fresh"].__setitem__(0, lines[0]["original"]["text"].replace("Tom buys", "Ed buys")),
            "near-copy",
        ),
        (lambda lines: lines[0]["fresh"].__setitem__(0, lines[0]["original"]["text"]), "form-repeated"),
        (lambda lines: lines[0]["fresh"].__setitem__(1, None), "form-missing"),
        (lambda lines: lines[0]["fresh"][0].update(text=lines[0]["fresh"][0]["text"] + " " * 4000), "too-long"),
        (
            lambda lines: lines[0]["fresh"][0].update(text=lines[0]["fresh"][0]["text"] + " and so on" * 20),
            "length-ratio",
        ),
    ],
)
def test_a_form_that_fails_a_check_stops_the_lock(tmp_path: Path, edit: Any, rule: str) -> None:
    """The message has to send its reader to the form and the rule."""
    directory = an_audit(tmp_path)
    edit_bank(directory, lambda lines: (lines[0].update(gold=lines[0]["original"]["gold"]), edit(lines)))
    with pytest.raises(PreconditionError, match=f"audit bank: p./fresh-[12]: {rule}: "):
        lock_audit(directory, now=NOW)
    assert not directory.registration.exists()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda lines: lines[0]["original"].update(text="What is 3 times 10?"),
            "original: the text is not the frame's",
        ),
        (
            lambda lines: [form.update(gold="7") for form in (lines[0]["original"], *lines[0]["fresh"])],
            "original: the gold answer '7' is not the frame's",
        ),
        (lambda lines: lines.append(dict(lines[0])), "row 5: parent 'p.' is row 1 already"),
        (lambda lines: lines.append(lines[0] | {"id": "px"}), "bank has 5 parents, 4 were drawn"),
        (lambda lines: lines.pop(), "bank has 3 parents, 4 were drawn"),
        (lambda lines: lines.reverse(), "bank, row 1: parent 'p.' stands where 'p.' was drawn"),
        (lambda lines: lines[0].update(stratum="easy"), "original: the stratum 'easy' is not the frame's"),
        (
            lambda lines: [each.update(fresh=each["fresh"][:1]) for each in lines],
            "bank has 1 fresh forms a parent, the audit was opened for 2",
        ),
    ],
)
def test_a_bank_that_is_not_the_draw_stops_the_lock(tmp_path: Path, edit: Any, message: str) -> None:
    """A gold changed in every form at once passes each check of a form; the frame still has the right one."""
    directory = an_audit(tmp_path)
    edit_bank(directory, edit)
    with pytest.raises(InvalidRequestError, match=message):
        lock_audit(directory, now=NOW)


def test_a_reordered_option_stops_the_lock(tmp_path: Path) -> None:
    """It moves the key, and a model that prefers a position with it."""
    options = [
        {"label": label, "text": text} for label, text in zip("ABCD", ("ice", "iron", "air", "oil"), strict=True)
    ]
    fields = {
        "id": "q1",
        "criterion": "choice",
        "gold": "A",
        "options": options,
        "original": "Which of these melts first when a room grows warm?",
        "fresh": ["As the temperature indoors rises, what turns liquid before the rest?"],
    }
    frame = write_lines(tmp_path / "frame.jsonl", [fields])
    directory, _ = open_audit(tmp_path / "audit", frame=frame, size=1, seed=1, rewrites=frame, now=NOW)
    directory.plan.write_text(PLAN, encoding="utf-8")
    edit_bank(directory, lambda lines: lines[0]["fresh"][0]["options"].reverse())
    with pytest.raises(PreconditionError, match="audit bank: q1/fresh-1: options-differ: "):
        lock_audit(directory, now=NOW)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda lines: lines[0].update(id="p5"), "parent 'p5' is parent 'p5' of the benchmark"),
        (
            lambda lines: lines[1]["original"].update(
                text="TOM buys 3 boxes of 12 shells and gives 5 away. How many shells does Tom keep?"
            ),
            "parent 'c1' is parent 'p2' of the benchmark",
        ),
    ],
)
def test_a_public_item_is_no_control(tmp_path: Path, edit: Any, message: str) -> None:
    """A control item that a model may have seen takes the exposure out of the difference."""
    directory = an_audit(tmp_path, control_count=3)
    edit_bank(directory, edit, role=BankRole.CONTROL)
    with pytest.raises(InvalidRequestError, match=message):
        lock_audit(directory, now=NOW)


def test_a_control_bank_and_its_table_go_together(tmp_path: Path) -> None:
    """One without the other is a bank that nobody vouches for, or a promise without a bank."""
    unsaid = an_audit(tmp_path / "unsaid")
    write_lines(unsaid.bank(BankRole.CONTROL), [control_line(0)])
    with pytest.raises(InvalidRequestError, match=r"the plan has no table \[control\]"):
        lock_audit(unsaid)
    missing = an_audit(tmp_path / "missing", plan=PLAN + CONTROL)
    with pytest.raises(LeakScaleError, match=r"control\.jsonl' does not exist"):
        lock_audit(missing)


def test_a_gate_that_cannot_see_its_tolerance_is_refused(tmp_path: Path) -> None:
    """The paper's own gate of 20 parents fired on noise, and had to be followed."""
    directory = an_audit(tmp_path, plan=PLAN + GATE.replace("0.01", "0.35"))
    with pytest.raises(UnderpoweredGateError, match=r"gate 'deep': a gate of 4 parents has half-width 0\.343"):
        lock_audit(directory, now=NOW)


def test_a_gate_needs_the_parents_that_it_counts_on(tmp_path: Path) -> None:
    """A gate of 200 parents on a bank of 4 has another resolution than it says."""
    directory = an_audit(tmp_path, plan=PLAN + GATE.replace("parents = 4", "parents = 200"))
    with pytest.raises(InvalidRequestError, match="gate 'deep': needs 200 parents, the audit bank has 4"):
        lock_audit(directory, now=NOW)


def test_an_analysis_that_cannot_run_is_not_locked(tmp_path: Path) -> None:
    """A betting interval has no stratified form; after the lock it would be too late to find out."""
    lines = [parent_line(number) | {"stratum": "ab"[number % 2]} for number in range(6)]
    frame = write_lines(tmp_path / "frame.jsonl", lines)
    directory, _ = open_audit(tmp_path / "a", frame=frame, size={"a": 2, "b": 2}, seed=1, rewrites=frame, now=NOW)
    directory.plan.write_text(PLAN, encoding="utf-8")
    with pytest.raises(InvalidRequestError, match=r"plan 'demo': inference.bound 'betting' .* set bound = .hoeffding."):
        lock_audit(directory, now=NOW)
    directory.plan.write_text(PLAN + '[inference]\nbound = "hoeffding"\n', encoding="utf-8")
    assert lock_audit(directory, now=NOW).registration.draw.strata == {"a": 3, "b": 3}
    assert locked_registration(directory).design().weights == {"a": 0.5, "b": 0.5}


def test_nothing_is_locked_over_answers(tmp_path: Path) -> None:
    """A registration written after the answers registers nothing."""
    directory = an_audit(tmp_path)
    path = directory.scores("tiny", bank=BankRole.AUDIT)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with pytest.raises(PreconditionError, match=r"'scores/registered/audit/tiny\.base\.correct\.jsonl' was answered"):
        lock_audit(directory)


def test_an_audit_is_locked_once(tmp_path: Path) -> None:
    """A second lock would be a change without a reason."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    before = directory.registration.read_bytes()
    with pytest.raises(AlreadyDoneError, match="was locked at 2026-03-01T12:00:00"):
        lock_audit(directory)
    assert directory.registration.read_bytes() == before


def test_a_lock_that_broke_off_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power goes between two files."""
    directory = an_audit(tmp_path)

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(AuditLedger, "append", fail)
        with pytest.raises(KeyboardInterrupt):
            lock_audit(directory, now=NOW)
    assert directory.registration.exists()
    with pytest.raises(PreconditionError, match="is not locked"):
        locked_registration(directory)
    assert lock_audit(directory, now=NOW).registration == locked_registration(directory)


def test_two_processes_do_not_lock_at_once(tmp_path: Path) -> None:
    """Each would sign, and one would win."""
    directory = an_audit(tmp_path)
    with directory.held(), pytest.raises(ConflictError, match="is in use by process"):
        lock_audit(directory)


def test_a_lock_says_what_weakens_it(tmp_path: Path) -> None:
    """What is allowed and costs something is told at the lock, not in a footnote."""
    small = an_audit(tmp_path / "small", control_count=3)
    assert "has 3 parents, fewer than the 4 audited" in lock_audit(small, now=NOW).notes[0]
    log = PLAN.replace('revision = "2"', 'revision = "2"\nengine = "log"') + '[review]\nscope = "none"\n'
    bare = lock_audit(an_audit(tmp_path / "bare", plan=log), now=NOW)
    assert [note.partition(":")[0] for note in bare.notes] == [
        "no control bank",
        "answers of a log are older than this lock",
        "no reading was asked for",
    ]
    assert bare.registration.is_retrospective


def test_a_prompt_that_shows_a_form_stops_the_lock(tmp_path: Path) -> None:
    """That form would be answered by its own example."""
    directory = an_audit(tmp_path)
    form = read_bank(directory.bank(BankRole.AUDIT)).parents[1]
    example = f"Q: {form.original.text.upper()}\nA: {form.original.gold}"
    plan = directory.plan.read_text(encoding="utf-8") + f"\n[prompt]\nfew_shot = [{json.dumps(example)}]\n"
    directory.plan.write_text(plan, encoding="utf-8")
    message = f"prompt.few_shot, example 1 holds form '{form.parent_id}/original'"
    with pytest.raises(InvalidRequestError, match=message):
        lock_audit(directory, now=NOW)
    assert any(message in obstacle for obstacle in readiness_of(directory).obstacles)
