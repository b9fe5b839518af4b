"""Every fault that an audit has to catch, by name: the message says which item it is and which rule it breaks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.builders import choice
from tests.audit.log_builders import inspect_logs, the_bank
from tests.audit.registration.builders import NOW, PLAN, an_audit, edit_bank, write_lines

from leakscale.audit.analysis import analyze_audit
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.importers import Selection, import_scores
from leakscale.audit.registration.amending import amend_audit
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.verifying import locked_registration
from leakscale.errors import LeakScaleError

Lines = list[dict[str, Any]]


def locked_after(edit: Callable[[Lines], object]) -> Callable[[Path], object]:
    """Return a lock of a bank that somebody edited."""

    def attempt(folder: Path) -> object:
        directory = an_audit(folder)
        edit_bank(directory, edit)
        return lock_audit(directory, now=NOW)

    return attempt


def first_text(change: Callable[[str], str]) -> Callable[[Lines], object]:
    """Return an edit of the first fresh form of the first parent."""
    return lambda lines: lines[0]["fresh"][0].update(text=change(lines[0]["fresh"][0]["text"]))


def with_reordered_options(folder: Path) -> object:
    """Lock choices of which one fresh form shows its options in another order."""
    folder.mkdir(exist_ok=True)
    frame = write_lines(folder / "frame.jsonl", [choice("c1")])
    directory, _ = open_audit(folder / "audit", frame=frame, size=1, seed=1, rewrites=frame, now=NOW)
    directory.plan.write_text(PLAN, encoding="utf-8")

    def reverse(lines: Lines) -> None:
        form = lines[0]["fresh"][0]
        form["options"] = list(reversed(lines[0]["original"]["options"]))

    edit_bank(directory, reverse)
    return lock_audit(directory, now=NOW)


def with_a_byte_changed_after_signing(folder: Path) -> object:
    """Read a registration in which one byte is another."""
    directory = an_audit(folder)
    lock_audit(directory, now=NOW)
    content = bytearray(directory.registration.read_bytes())
    content[len(content) // 2] ^= 1
    directory.registration.write_bytes(content)
    return locked_registration(AuditDirectory(directory.root))


def amended_without_a_reason(folder: Path) -> object:
    """Change a locked plan and do not say why."""
    directory = an_audit(folder)
    lock_audit(directory, now=NOW)
    return amend_audit(directory, changes={"decoding.token_count_max": 1024}, reason="  ")


def imported(second: str) -> Callable[[Path], object]:
    """Return an import of logs of which that of the second fresh form is another one."""
    return lambda folder: import_scores(inspect_logs(second=second), Selection("match"), bank=the_bank())


def answered(folder: Path) -> AuditDirectory:
    """Return an audit whose models were asked: both know the public wording by heart."""
    directory = locked_audit(folder)
    for model in ("tiny", "other"):
        answer_audit(directory, model, engine=SpokenEngine(lambda _: "The answer is 1."))
    return directory


def without(name: str) -> Callable[[Path], object]:
    """Return an analysis of an audit of which somebody removed a file that was entered."""

    def attempt(folder: Path) -> object:
        directory = answered(folder)
        (directory.root / "scores" / "registered" / "audit" / name).unlink()
        return analyze_audit(directory)

    return attempt


def answered_twice(folder: Path) -> object:
    """Remove a run that nobody likes, with all it said, and ask again."""
    directory = answered(folder)
    shutil.rmtree(directory.root / "scores")
    shutil.rmtree(directory.private / "answers")
    return answer_audit(directory, "tiny", engine=SpokenEngine(lambda _: "The answer is 25."))


def with_an_analysis_removed(folder: Path) -> object:
    """Analyze once more, as if it were the first time."""
    directory = answered(folder)
    analyze_audit(directory)
    shutil.rmtree(directory.analysis)
    return analyze_audit(directory)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed number": (locked_after(first_text(lambda text: text.replace("5", "6"))), r"p\d/fresh-1: numbers-differ: "),
    "changed gold": (
        locked_after(lambda lines: lines[0]["fresh"][0].update(gold="7")),
        r"p\d/fresh-1: gold-differs: ",
    ),
    "reordered options": (with_reordered_options, r"c1/fresh-1: options-differ: "),
    "near copy": (
        locked_after(
            lambda lines: lines[0]["fresh"][0].update(text=lines[0]["original"]["text"].replace("Tom buys", "Ed buys"))
        ),
        r"p\d/fresh-1: near-copy: ",
    ),
    "missing form": (
        locked_after(lambda lines: lines[0]["fresh"].__setitem__(1, None)),
        r"p\d/fresh-2: form-missing: ",
    ),
    "duplicate id": (locked_after(lambda lines: lines.append(dict(lines[0]))), r"row 5: parent 'p\d' is row 1 already"),
    "form longer than the bound": (
        locked_after(first_text(lambda text: text + " " * 4000)),
        r"p\d/fresh-1: too-long: ",
    ),
    "lock edited after signing": (with_a_byte_changed_after_signing, r"registration.*restore"),
    "amendment without a reason": (amended_without_a_reason, r"amendment.*reason"),
    "scores removed": (without("tiny.base.correct.jsonl"), r"correct\.jsonl' is missing, and entry 3 .*restore it"),
    "how the run went removed": (
        without("tiny.base.quality.json"),
        r"quality\.json' is missing, and entry .*restore it",
    ),
    "confidences removed": (without("other.base.confidence.jsonl"), r"confidence\.jsonl' is missing, and .*restore it"),
    "answered twice": (answered_twice, r"the ledger has entered another one \(entry .*restore that one"),
    "analysis removed": (with_an_analysis_removed, r"analysis\.json' is missing, and entry .*restore it"),
    "log with failed samples": (imported("failed-sample"), r"form fresh-2\): status: 1 of its samples .*'w2'"),
    "log whose prompt differs between forms": (
        imported("other-template"),
        r"form fresh-2 .*prompt-template: 'solver-1\.prompt_template\.template' is",
    ),
}


@pytest.mark.parametrize(("attempt", "message"), FAULTS.values(), ids=list(FAULTS))
def test_an_injected_fault_is_caught_with_item_and_rule(
    tmp_path: Path, attempt: Callable[[Path], object], message: str
) -> None:
    """One line, which sends its reader to the place and says what to do."""
    with pytest.raises(LeakScaleError, match=message) as caught:
        attempt(tmp_path)
    assert "\n" not in str(caught.value)


def test_without_a_fault_the_same_bank_locks_and_the_same_logs_are_read(tmp_path: Path) -> None:
    """Otherwise everything would be refused, and the test above show nothing."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)

    assert locked_registration(directory).name == "demo"
    assert json.loads(directory.registration.read_text("utf-8"))
    assert import_scores(inspect_logs(), Selection("match"), bank=the_bank()).table.scores.shape[1] == 3
