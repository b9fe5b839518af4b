"""Logs that lm-evaluation-harness wrote, as they are and with one thing changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audit.log_builders import LOGS, changed_lm_eval_logs, lm_eval_log, lm_eval_logs, the_bank

from leakscale.audit.importers import ImportOptions, LogPaths, Selection, import_scores, read_log
from leakscale.errors import InvalidRequestError, NotFoundError

FLEXIBLE = Selection("exact_match", filter="flexible-extract")

Change = Callable[[list[dict[str, Any]], dict[str, Any]], object]


def test_scores_of_the_named_filter_are_read() -> None:
    """The harness writes a line a filter; mixing them would count every document twice."""
    right = import_scores(lm_eval_logs(), FLEXIBLE, bank=the_bank()).table
    strict = import_scores(lm_eval_logs(), Selection("exact_match", filter="strict-match"), bank=the_bank()).table

    assert right.scores.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert strict.scores.sum() == 0
    assert (right.metric, right.model) == ("exact_match,flexible-extract", "dummy")


def test_choices_are_read_as_the_harness_scored_them() -> None:
    """Its normalised accuracy is the primary metric of many benchmarks."""
    paths = lm_eval_logs("choice")
    table = import_scores(paths, Selection("acc_norm", filter="none"), bank=the_bank()).table
    assert paths.original is not None

    lines = [json.loads(line) for line in paths.original.read_text().splitlines()]
    assert table.original.tolist() == [line["acc_norm"] for line in lines]


def test_without_a_bank_the_question_is_found_in_the_document() -> None:
    """The prompts of all forms are compared even where nobody wrote down the forms."""
    assert import_scores(lm_eval_logs(), FLEXIBLE).table.scores.shape == (4, 3)


def test_another_number_of_examples_is_refused() -> None:
    """The classic way to make a gap."""
    paths = LogPaths(
        lm_eval_log("words-original"), (lm_eval_log("words-fresh-1-unaided"), lm_eval_log("words-fresh-2"))
    )
    with pytest.raises(InvalidRequestError, match="few-shot-count: 'num_fewshot' is 0 here and 1 there"):
        import_scores(paths, FLEXIBLE, bank=the_bank())

    options = ImportOptions(may_differ=frozenset({"num_fewshot"}))
    with pytest.raises(InvalidRequestError, match="the prompt of form 'w1/fresh-1' reads 'Question: □"):
        import_scores(paths, FLEXIBLE, bank=the_bank(), options=options)


def _in_config(name: str, value: Any) -> Change:
    def change(_: list[dict[str, Any]], results: dict[str, Any]) -> None:
        results["configs"]["words-fresh-1"][name] = value

    return change


def _in_sample(name: str, value: Any) -> Change:
    def change(samples: list[dict[str, Any]], _: dict[str, Any]) -> None:
        next(sample for sample in samples if sample["filter"] == "flexible-extract")[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_in_config("doc_to_text", "{{question}}"), "prompt-template: 'doc_to_text' is \"{{question}}\" here"),
        (_in_config("description", "Think."), "prompt-template: 'description' is \"Think.\" here and absent there"),
        (_in_config("generation_kwargs", {"do_sample": True}), "decoding: 'generation_kwargs.do_sample' is true"),
        (_in_config("filter_list", []), "scoring: 'filter.flexible-extract' is absent here"),
        (_in_config("repeats", 8), "scoring: 'repeats' is 8 here and 1 there"),
        (_in_sample("exact_match", None), r"form 'w1/fresh-1' failed \(no score\), 1 of 4 did"),
        (_in_sample("exact_match", 0.5), "form 'w1/fresh-1' has the score 0.5 from dummy"),
        (_in_sample("filter", "other"), r"status: 1 of its samples did not complete"),
        (_in_sample("doc", {"question": "?"}), "has no field 'doc.id', only 'question'"),
        (_in_sample("doc", {"id": "w2"}), "form 'w2/fresh-1' is answered twice"),
        (
            _in_sample(
                "arguments", {"gen_args_0": {"arg_0": "Q?", "arg_1": {"do_sample": False, "until": ["Question:"]}}}
            ),
            "prompt of form 'w1/fresh-1' does not hold its words",
        ),
        (_in_sample("arguments", {}), r"line 5 is no sample of lm-evaluation-harness \(it is of another form"),
        (_in_sample("target", "99"), "form 'w1/fresh-1' was scored against '99', and its original against '31'"),
        (
            _in_sample(
                "arguments",
                {"gen_args_0": {"arg_0": "Q", "arg_1": {"do_sample": True, "until": ["Question:"]}}},
            ),
            "decoding: 'request.do_sample' is",
        ),
        (lambda samples, _: samples.clear(), "has no filter 'flexible-extract', only no line at all"),
        (lambda _, results: results["configs"].pop("words-fresh-1"), "has no task 'words-fresh-1', only"),
        (lambda _, results: results.pop("configs"), "is no results file"),
        (lambda _, results: results.update(config=[]), "is no log of lm-evaluation-harness"),
    ],
)
def test_a_log_that_cannot_be_used_says_why(tmp_path: Path, change: Change, message: str) -> None:
    """Each of these would otherwise become a score."""
    with pytest.raises(InvalidRequestError) as caught:
        import_scores(changed_lm_eval_logs(tmp_path, change), FLEXIBLE, bank=the_bank())
    assert caught.match(message) if "\\" in message else message in str(caught.value)


def a_run_of_its_own(folder: Path, **fields: Any) -> LogPaths:
    """Return the three logs, fresh form 1 from another run with other results."""
    paths = changed_lm_eval_logs(folder, lambda *_: None)
    results = json.loads(next(folder.glob("results_*.json")).read_text())
    moved = paths.fresh[0].rename(folder / "samples_words-fresh-1_2026-01-01T00-00-00.0.jsonl")
    (folder / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results | fields))
    return LogPaths(paths.original, (moved, paths.fresh[1]))


def test_two_models_are_not_paired(tmp_path: Path) -> None:
    """Logs of two evenings are easily mixed."""
    config = {"model": "dummy", "model_args": {"pretrained": "big"}, "fewshot_seed": 1234, "numpy_seed": 1234}
    paths = a_run_of_its_own(tmp_path, model_name="big", config=config)

    with pytest.raises(InvalidRequestError, match=r"model: 'model_args\.pretrained' is \"big\" here and absent there"):
        import_scores(paths, FLEXIBLE, bank=the_bank())
    assert read_log(paths.fresh[0], FLEXIBLE).model == "big"


def test_chat_template_and_system_prompt_belong_to_the_template(tmp_path: Path) -> None:
    """The harness keeps their digests with the run, not with the task."""
    with pytest.raises(
        InvalidRequestError, match="prompt-template: 'chat_template_sha' is \"ab\" here and absent there"
    ):
        import_scores(a_run_of_its_own(tmp_path, chat_template_sha="ab"), FLEXIBLE, bank=the_bank())


def test_samples_without_their_results_are_refused(tmp_path: Path) -> None:
    """Without them nobody knows the model."""
    source = lm_eval_log("words-original")
    (tmp_path / source.name).write_bytes(source.read_bytes())
    with pytest.raises(NotFoundError, match="beside it, which says model, template and few-shot count"):
        read_log(tmp_path / source.name, FLEXIBLE)
    (tmp_path / "samples.jsonl").write_bytes(source.read_bytes())
    with pytest.raises(InvalidRequestError, match="keep the name"):
        read_log(tmp_path / "samples.jsonl", FLEXIBLE)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection("exact_match"), "no filter is named"),
        (Selection("exact_match", filter="lenient"), "only 'strict-match', 'flexible-extract'"),
        (Selection("acc", filter="strict-match"), "has no metric 'acc', only exact_match"),
        (Selection("exact_match", filter="strict-match", key="doc_id"), "its ids read '0', the sample's 'w1'"),
    ],
)
def test_filter_and_metric_are_never_guessed(selection: Selection, message: str) -> None:
    """The harness's own table shows both filters; picking one after seeing them is a choice."""
    with pytest.raises(InvalidRequestError, match=message):
        import_scores(lm_eval_logs(), selection, bank=the_bank())


def test_chat_prompts_are_json_in_the_log(tmp_path: Path) -> None:
    """Endpoints get a list of messages, in which line ends and quotes are escaped."""

    def to_chat(samples: list[dict[str, Any]], _: dict[str, Any]) -> None:
        for sample in samples:
            arguments = sample["arguments"]["gen_args_0"]
            arguments["arg_0"] = json.dumps([{"role": "user", "content": arguments["arg_0"]}])

    with pytest.raises(InvalidRequestError, match="prompt-template: around its words"):
        import_scores(changed_lm_eval_logs(tmp_path, to_chat), FLEXIBLE, bank=the_bank())


def test_older_logs_list_their_arguments(tmp_path: Path) -> None:
    """Versions before 0.4.3 wrote a list where later ones write an object."""

    def to_lists(samples: list[dict[str, Any]], _: dict[str, Any]) -> None:
        for sample in samples:
            sample["arguments"] = [list(sample["arguments"]["gen_args_0"].values())]

    table = import_scores(changed_lm_eval_logs(tmp_path, to_lists), FLEXIBLE, bank=the_bank()).table
    assert table.fresh[:, 0].tolist() == [0, 0, 0, 1]


def test_the_stored_logs_hold_no_path_of_a_machine() -> None:
    """They are published."""
    for path in (LOGS / "lm_eval").iterdir():
        assert b"/home/" not in path.read_bytes()
        assert b"/tmp/" not in path.read_bytes()


def _other_option(samples: list[dict[str, Any]]) -> None:
    samples[0]["arguments"]["gen_args_2"]["arg_1"] = " WRONG"


def _fewer_options(samples: list[dict[str, Any]]) -> None:
    del samples[0]["arguments"]["gen_args_3"]


def _hint_for_an_option(samples: list[dict[str, Any]]) -> None:
    request = samples[0]["arguments"]["gen_args_1"]
    request["arg_0"] = f"HINT: it is not this one.\n{request['arg_0']}"


@pytest.mark.parametrize("change", [_other_option, _fewer_options, _hint_for_an_option])
def test_every_request_of_a_choice_is_compared(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], object]
) -> None:
    """Options are in the requests after the first one, and so may be other words around the question."""
    for path in (LOGS / "lm_eval").iterdir():
        shutil.copy(path, tmp_path / path.name)
    paths = LogPaths(
        tmp_path / lm_eval_log("choice-original").name,
        tuple(tmp_path / lm_eval_log(f"choice-fresh-{number}").name for number in (1, 2)),
    )
    selection = Selection("acc_norm", filter="none")
    import_scores(paths, selection, bank=the_bank())
    samples = [json.loads(line) for line in paths.fresh[0].read_text().splitlines()]
    change(samples)
    paths.fresh[0].write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="prompt-template: around its words, the prompt of form 'w1/fresh-1'"):
        import_scores(paths, selection, bank=the_bank())


def test_the_results_file_is_among_the_sources(tmp_path: Path) -> None:
    """It alone says model, template and few-shot count; of two, nobody knows which one is meant."""
    paths = changed_lm_eval_logs(tmp_path, lambda _samples, _results: None)
    table = import_scores(paths, FLEXIBLE, bank=the_bank()).table
    results = next(tmp_path.glob("results_*.json"))
    assert [source.name for source in table.sources].count(results.name) == 1
    other = results.with_name(f"a{results.name}")
    results.rename(other)
    shutil.copy(other, results.with_name(f"b{results.name}"))
    with pytest.raises(InvalidRequestError, match="has several results files beside it"):
        import_scores(paths, FLEXIBLE, bank=the_bank())
