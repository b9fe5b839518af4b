"""Logs that inspect_ai wrote, as they are and with one thing changed."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audit.log_builders import SCORES, changed_inspect_log, inspect_log, inspect_logs, the_bank

from leakscale.audit.importers import ImportOptions, LogPaths, PairingRule, Selection, import_scores, read_log
from leakscale.audit.scores import ScoreKind
from leakscale.errors import InvalidRequestError, NotFoundError

MATCH = Selection("match")


def test_scores_are_read_into_the_order_of_the_bank() -> None:
    """The log of a form knows neither its parents' order nor the other forms."""
    imported = import_scores(inspect_logs(), MATCH, bank=the_bank())

    assert imported.table.scores.tolist() == SCORES
    assert imported.table.parent_ids == ("w1", "w2", "w3", "w4")
    assert imported.table.model == "mockllm/model"
    assert imported.table.bank_digest == the_bank().digest
    assert imported.writers == ("inspect_ai 0.3.285",)
    assert [source.name for source in imported.table.sources] == ["original.eval", "fresh-1.eval", "fresh-2.eval"]


def test_without_a_bank_the_original_decides_the_order() -> None:
    """An auditor may have nothing but the logs."""
    table = import_scores(inspect_logs(), MATCH).table

    assert table.scores.tolist() == SCORES
    assert table.bank_digest == ""


def test_one_log_may_hold_all_forms() -> None:
    """One run is cheaper than three, and its keys say which form is which."""
    assert (
        import_scores(LogPaths(together=(inspect_log("together"),)), MATCH, bank=the_bank()).table.scores.tolist()
        == SCORES
    )


def test_the_form_may_stand_in_a_field_of_its_own(tmp_path: Path) -> None:
    """Benchmarks keep such things in metadata."""

    def split_ids(log: dict[str, Any]) -> None:
        for number, sample in enumerate(log["samples"]):
            parent_id, form = sample["id"].split("/")
            sample["metadata"] = {"item": parent_id, "wording": {"form": form}}
            sample["id"] = number

    selection = Selection("match", key="metadata.item", form_key="metadata.wording.form")
    table = import_scores(changed_inspect_log(tmp_path, split_ids), selection, bank=the_bank()).table

    assert table.scores.tolist() == SCORES


def test_answers_cut_at_the_token_limit_are_counted() -> None:
    """A cut answer counts as wrong, and more of one form than of another make a gap of their own."""
    imported = import_scores(inspect_logs(), MATCH, bank=the_bank())

    assert imported.truncated == {"original": 1}
    assert "1 of 4 answers to form original were cut at a limit" in imported.notes()[0]


def test_epochs_are_averaged_only_on_request() -> None:
    """A mean of two answers is no answer."""
    paths = LogPaths(together=(inspect_log("epochs"),))
    with pytest.raises(InvalidRequestError, match="form 'w1/original' is answered 2 times; pass --kind graded"):
        import_scores(paths, MATCH, bank=the_bank())

    assert import_scores(paths, MATCH, bank=the_bank(), kind=ScoreKind.GRADED).table.scores.tolist() == SCORES


def test_forms_under_two_templates_are_not_paired() -> None:
    """The gap would be the template's."""
    with pytest.raises(InvalidRequestError) as caught:
        import_scores(inspect_logs(second="other-template"), MATCH, bank=the_bank())

    message = str(caught.value)
    assert f"{PairingRule.PROMPT_TEMPLATE}: 'solver-1.prompt_template.template' is" in message
    assert message.startswith("form fresh-2 ('")
    assert "original.eval" in message


def test_a_template_that_may_be_declared_otherwise_is_still_seen_in_the_prompts() -> None:
    """What a log declares is words; what the model was shown counts."""
    options = ImportOptions(may_differ=frozenset({"solver-1.prompt_template.template"}))
    with pytest.raises(InvalidRequestError, match=r"the prompt of form 'w1/fresh-2' reads .*character 7"):
        import_scores(inspect_logs(second="other-template"), MATCH, bank=the_bank(), options=options)


def test_what_was_overlooked_is_said() -> None:
    """An exception that leaves no trace becomes the rule."""
    options = ImportOptions(frozenset({"solver-1.prompt_template.template"}), are_prompts_trusted=True)
    imported = import_scores(inspect_logs(second="other-template"), MATCH, bank=the_bank(), options=options)

    assert [each.name for each in imported.allowed] == ["solver-1.prompt_template.template"]
    assert any("prompt-template" in note and "(allowed)" in note for note in imported.notes())
    assert any(note.startswith("the prompts of a parent's forms were not compared (") for note in imported.notes())


def test_a_log_with_failed_samples_is_refused_by_name() -> None:
    """A provider that gave up is no wrong answer, and leaving it out is a choice."""
    with pytest.raises(InvalidRequestError, match=r"form fresh-2\): status: 1 of its samples did not complete \('w2'"):
        import_scores(inspect_logs(second="failed-sample"), MATCH, bank=the_bank())

    options = ImportOptions(is_missing_allowed=True)
    imported = import_scores(inspect_logs(second="failed-sample"), MATCH, bank=the_bank(), options=options)

    assert [str(name) for name in imported.table.missing()] == ["w2/fresh-2"]
    assert any(note.startswith("forms without a score: 1") for note in imported.notes())


def test_a_run_that_failed_is_refused_whatever_is_allowed() -> None:
    """What it holds was not chosen by anybody."""
    options = ImportOptions(is_missing_allowed=True)
    with pytest.raises(InvalidRequestError, match=r"form fresh-2\): status: it is 'error', not 'success'"):
        import_scores(inspect_logs(second="failed-run"), MATCH, bank=the_bank(), options=options)


def test_logs_in_the_wrong_order_are_seen() -> None:
    """Form 1 taken for form 2 changes no mean and ruins every comparison of depth."""
    first, second = inspect_logs().fresh
    with pytest.raises(
        InvalidRequestError, match="the prompt of form 'w1/fresh-1' does not hold its words 'After buying"
    ):
        import_scores(LogPaths(inspect_log("original"), (second, first)), MATCH, bank=the_bank())


def test_a_form_of_the_bank_without_a_log_is_missing() -> None:
    """Choosing the forms after the answers is choosing the answer."""
    paths = LogPaths(inspect_log("original"), inspect_logs().fresh[:1])
    with pytest.raises(InvalidRequestError, match="form fresh-2 has no log"):
        import_scores(paths, MATCH, bank=the_bank())


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one field of a log; `samples.0.id` leads into lists as well."""

    def change(log: dict[str, Any]) -> None:
        *folders, last = path.split(".")
        place: Any = log
        for folder in folders:
            place = place[int(folder)] if isinstance(place, list) else place[folder]
        place[last] = value

    return change


def _drop(first: int) -> Callable[[dict[str, Any]], object]:
    """Leave samples out of the file, as somebody who does not like them would."""
    return lambda log: log["samples"].__delitem__(slice(first, None))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("invalidated", True), "it is 'invalidated', not 'success'"),
        (_set("status", "started"), "it is 'started', not 'success'"),
        (_set("samples.1.id", "w1/original"), "form 'w1/original' is answered twice in epoch 1"),
        (_set("samples.0.id", "w1"), "key 'w1' names no form"),
        (_set("samples.0.id", "w1/fresh"), "key 'w1/fresh' names no form"),
        (_set("samples.0.scores", None), r"form 'w1/original' failed \(not scored\), 1 of 4 did"),
        (_set("samples.0.invalidation", {"author": "x"}), r"failed \(invalidated by hand\)"),
        (_set("samples.0.scores.match.value", float("nan")), r"failed \(no score\)"),
        (_set("samples.0.scores.match.value", "E"), "score 'match' is 'E', which is no score"),
        (_set("samples.0.scores.match.value", "P"), "has the score 0.5 from mockllm/model, which is out of range"),
        (_set("samples.0.scores.match.value", {"a": 1}), "name one of 'match/a' as the metric"),
        (_set("samples.0.scores.match.value", [1, 2]), "which is no score"),
        (_set("samples.0.id", "w9/original"), r"form 'w1/original' is missing \(1 of 4 are\)"),
        (_set("samples.1.messages.0.content", "Another"), "the prompt of form 'w1/fresh-1' does not hold its words"),
        (_set("samples.0.messages", []), "holds no prompt of form 'w1/original'"),
        (_set("samples", []), "form original has no log"),
        (_set("samples", [1]), "sample 1 is no sample of inspect_ai"),
        (_set("samples.0.scores.match.value", 10**400), "which is no score"),
        (_set("samples.0.scores.match.history", [{"value": "I"}]), r"failed \(score 'match' was edited by hand\)"),
        (_set("samples.0.output.choices.0.stop_reason", "content_filter"), r"failed \(stopped by a content filter\)"),
        (_set("samples.1.output.model", "other/model"), "model: 'output.model' is"),
        (_set("samples.1.target", "99"), "form 'w1/fresh-1' was scored against '99', and its original against '31'"),
        (_drop(9), r"3 of its samples did not complete \('w4/original' is not in the file\)"),
        (_set("samples", [{}]), r"sample 1 is no sample of inspect_ai \(it lacks 'id'\)"),
        (_set("eval", {}), "is no log of inspect_ai that this version reads"),
    ],
)
def test_a_log_that_cannot_be_used_says_why(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    """Each of these would otherwise become a score."""
    with pytest.raises(InvalidRequestError, match=message):
        import_scores(changed_inspect_log(tmp_path, change), MATCH, bank=the_bank())


def test_partial_marks_are_graded_scores(tmp_path: Path) -> None:
    """Half marks are data where the scores are said to be graded."""
    paths = changed_inspect_log(tmp_path, _set("samples.0.scores.match.value", "P"))
    assert import_scores(paths, MATCH, bank=the_bank(), kind=ScoreKind.GRADED).table.scores[0, 0] == 0.5


def test_a_part_of_a_score_is_named_with_its_scorer(tmp_path: Path) -> None:
    """Scorers return tables of several marks."""

    def to_parts(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            score = sample["scores"]["match"]
            score["value"] = {"strict": 0, "lenient": score["value"]}

    paths = changed_inspect_log(tmp_path, to_parts)
    assert import_scores(paths, Selection("match/lenient"), bank=the_bank()).table.scores.tolist() == SCORES


def test_few_shot_examples_count_as_prompt_and_answers_do_not(tmp_path: Path) -> None:
    """An example in the input is shown to the model; what it generates is not."""
    example = [{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "source": "input", "content": "2"}]

    def add_example(log: dict[str, Any], count: int) -> None:
        for sample in log["samples"][:count]:
            sample["messages"] = [*example, *sample["messages"]]

    everywhere = changed_inspect_log(tmp_path, lambda log: add_example(log, len(log["samples"])))
    assert import_scores(everywhere, MATCH, bank=the_bank()).table.scores.tolist() == SCORES

    once = changed_inspect_log(tmp_path, lambda log: add_example(log, 1))
    with pytest.raises(InvalidRequestError, match="prompt-template: around its words, the prompt of form 'w1/fresh-1'"):
        import_scores(once, MATCH, bank=the_bank())


def test_a_metric_or_field_that_is_not_there_is_answered_with_those_that_are() -> None:
    """Nobody remembers how a scorer was called."""
    with pytest.raises(InvalidRequestError, match="has no score 'choice', only 'match'"):
        read_log(inspect_log("original"), Selection("choice"))
    with pytest.raises(InvalidRequestError, match=r"has no field 'metadata\.item'"):
        read_log(inspect_log("original"), Selection("match", key="metadata.item"))
    with pytest.raises(InvalidRequestError, match="filter 'strict' is named, and inspect_ai has none"):
        read_log(inspect_log("original"), Selection("match", filter="strict"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.eval", b"no zip", "is no zip archive"),
        ("a.json", b"{", "no JSON"),
        ("a.json", b"[]", "is no log of inspect_ai"),
        ("a.json", b"[" * 100_000, "no JSON"),
        ("a.txt", b"", r"ends in '\.txt'"),
    ],
)
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """Never a traceback, whatever is in the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidRequestError, match=message):
        read_log(tmp_path / name, MATCH)


def test_a_log_that_does_not_exist_is_not_found(tmp_path: Path) -> None:
    """A typo is no damaged log."""
    with pytest.raises(NotFoundError, match="does not exist"):
        read_log(tmp_path / "a.eval", MATCH)


def test_an_archive_without_a_header_did_not_finish(tmp_path: Path) -> None:
    """inspect_ai writes the header last."""
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2}))
    with pytest.raises(InvalidRequestError, match=r"status: it has no header\.json"):
        read_log(path, MATCH)


def test_old_archives_are_deflated_and_read_as_well(tmp_path: Path) -> None:
    """Older versions wrote ordinary zip archives."""
    log = json.loads(inspect_log("together").read_text())
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, sample in enumerate(log.pop("samples")):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))

    table = import_scores(LogPaths(together=(path,)), MATCH, bank=the_bank()).table
    np.testing.assert_array_equal(table.scores, SCORES)


def test_how_a_score_came_to_be_is_told(tmp_path: Path) -> None:
    """A second try, and a run that failed before, are no faults of a log, and change what a score means."""

    def ask_again(log: dict[str, Any]) -> None:
        again = [{"role": "user", "content": "Wrong, try again."}, {"role": "assistant", "content": "ANSWER: 31"}]
        log["samples"][0]["messages"] += again
        log["samples"][1]["error_retries"] = [{"message": "the provider was away"}]

    notes = import_scores(changed_inspect_log(tmp_path, ask_again), MATCH, bank=the_bank()).notes()

    assert "answers that were asked again after an answer: 1 of form original" in notes
    assert "answers that were run again after an error: 1 of form fresh-1" in notes


def test_every_epoch_is_held_against_the_first(tmp_path: Path) -> None:
    """A hint in the second one is a hint."""
    log = json.loads(inspect_log("epochs").read_text(encoding="utf-8"))
    second = next(sample for sample in log["samples"] if sample["epoch"] == 2)
    message = second["messages"][0]
    message["content"] = f"HINT: the answer is 31.\n{message['content']}"
    path = tmp_path / "hinted.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(InvalidRequestError, match=r"prompt-template: around its words.*that of epoch 1 reads"):
        import_scores(LogPaths(together=(path,)), MATCH, bank=the_bank(), kind=ScoreKind.GRADED)


def test_an_archive_that_holds_one_part_many_times_is_refused(tmp_path: Path) -> None:
    """A few kilobytes would unpack to as many gigabytes as somebody likes."""
    whole = inspect_log("original").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = archive.infolist()
        sample = next(member for member in members if member.filename.startswith("samples/"))
        start, count = archive.start_dir, len(members)
    entry = whole[start:].index(sample.filename.encode()) + start - 46
    length = 46 + sum(struct.unpack_from("<HHH", whole, entry + 28))
    copies = b"".join(
        whole[entry : entry + 46]
        + f"samples/x{number:0{len(sample.filename) - 9}}".encode()
        + whole[entry + 46 + len(sample.filename) : entry + length]
        for number in range(3)
    )
    end = whole.rindex(b"PK\x05\x06")
    directory = whole[start:end] + copies
    tail = struct.pack("<4s4HIIH", b"PK\x05\x06", 0, 0, count + 3, count + 3, len(directory), start, 0)
    path = tmp_path / "bomb.eval"
    path.write_bytes(whole[:start] + directory + tail)
    with pytest.raises(InvalidRequestError, match=r"members 'samples/.*' and 'samples/.*' overlap"):
        read_log(path, MATCH)
