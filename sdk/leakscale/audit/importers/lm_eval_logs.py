"""Logs of lm-evaluation-harness: `samples_<task>_<date>.jsonl` and the results file of the same run beside it.

A document has one line for each answer filter. The results file says which model answered, from which template, with
how many examples; without it nothing is known but the prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from leakscale.audit.importers.fields import field_of, flattened, parse_json, readable
from leakscale.audit.importers.marks import score_of
from leakscale.audit.importers.models import EvaluationLog, LoggedAnswer, PairingRule, Selection, Setting
from leakscale.audit.scores import ScoreSource
from leakscale.errors import InvalidRequestError, NotFoundError

__all__ = ["read_lm_eval_log"]

_NAME: Final = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
_TEMPLATE: Final = (
    "description",
    "doc_to_text",
    "doc_to_choice",
    "doc_to_target",
    "fewshot_config",
    "fewshot_delimiter",
    "gen_prefix",
    "process_docs",
    "target_delimiter",
)
_RUN_TEMPLATE: Final = ("system_instruction_sha", "chat_template_sha", "fewshot_as_multiturn")
_MODEL: Final = ("model", "model_args", "model_revision", "model_sha", "model_dtype")
_SEEDS: Final = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed", "gen_kwargs")


def read_lm_eval_log(path: Path, selection: Selection) -> EvaluationLog:
    """Read the samples of one task and what the results file says of them.

    Raises:
        NotFoundError: If there is no results file beside the samples.
        InvalidRequestError: If a file is malformed, or there is no such filter, metric or field.
    """
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise InvalidRequestError(
            f"log '{path}': a file of samples is named samples_TASK_DATE.jsonl, which leads to its results file; keep "
            "the name that lm-evaluation-harness gave it"
        )
    if not selection.filter:
        raise InvalidRequestError(f"log '{path}': no filter is named; name one, e.g. --filter strict-match")
    results, companion = _results(path, match["date"])
    with readable(f"log '{path}'", "log of lm-evaluation-harness that this version reads"):
        answers = tuple(_answers(path, selection))
        return EvaluationLog(
            path=path,
            source=ScoreSource.of(path),
            writer=f"lm_eval {results.get('lm_eval_version', '')}".strip(),
            model=_model(results),
            settings=tuple(_settings(results, match["task"], selection, path)),
            answers=answers,
            incomplete_count=max(0, _effective(results, match["task"]) - len(answers)),
            companions=(companion,),
        )


def _results(path: Path, date: str) -> tuple[dict[str, Any], ScoreSource]:
    """Return what the results file of a run says, and the file."""
    exact = path.with_name(f"results_{date}.json")
    found = [exact] if exact.is_file() else sorted(path.parent.glob(f"*{date}.json"))
    if not found:
        raise NotFoundError(
            f"log '{path}' has no results_{date}.json beside it, which says model, template and few-shot count; copy "
            "both files"
        )
    if len(found) > 1:
        raise InvalidRequestError(
            f"log '{path}' has several results files beside it, {', '.join(each.name for each in found)}; keep the one "
            "of its run"
        )
    results = parse_json(found[0].read_bytes(), source=str(found[0]))
    if not isinstance(results, dict) or "configs" not in results:
        raise InvalidRequestError(f"'{found[0]}' is no results file of lm-evaluation-harness; copy it again")
    return results, ScoreSource.of(found[0])


def _model(results: Mapping[str, Any]) -> str:
    """Return the name that the arguments give the model; without one the harness invents a name for each run."""
    config = results["config"]
    name = results.get("model_name")
    named = str(name) if name and str(name) in str(config.get("model_args")) else str(config["model"])
    revision = config.get("model_sha") or config.get("model_revision")
    return f"{named}@{revision}" if revision else named


def _settings(results: Mapping[str, Any], task: str, selection: Selection, path: Path) -> Iterator[Setting]:
    if task not in results["configs"]:
        raise InvalidRequestError(
            f"log '{path}': its results file has no task '{task}', only {', '.join(results['configs'])}; keep the "
            "files of a run together"
        )
    config, run = results["configs"][task], results["config"]
    yield Setting(PairingRule.STATUS, "status", "success")
    for name in _MODEL:
        for dotted, value in _flat(name, run.get(name)):
            yield Setting(PairingRule.MODEL, dotted, value)
    count = results.get("n-shot", {}).get(task, config.get("num_fewshot"))
    yield Setting(PairingRule.FEW_SHOT_COUNT, "num_fewshot", count)
    for source, names in ((config, _TEMPLATE), (results, _RUN_TEMPLATE)):
        for name in names:
            for dotted, value in _flat(name, source.get(name)):
                yield Setting(PairingRule.PROMPT_TEMPLATE, dotted, value or None)
    for dotted, value in flattened(config.get("generation_kwargs"), "generation_kwargs"):
        yield Setting(PairingRule.DECODING, dotted, value)
    for name in _SEEDS:
        yield Setting(PairingRule.DECODING, name, run.get(name) or None)
    yield Setting(PairingRule.TASK_ARGUMENT, "limit", run.get("limit"))
    yield Setting(PairingRule.SCORING, "output_type", config.get("output_type"))
    yield Setting(PairingRule.SCORING, "repeats", config.get("repeats"))
    yield Setting(PairingRule.SCORING, "version", results.get("versions", {}).get(task))
    named = [each for each in config.get("filter_list") or [] if each.get("name") == selection.filter]
    yield Setting(PairingRule.SCORING, f"filter.{selection.filter}", named or None)


def _effective(results: Mapping[str, Any], task: str) -> int:
    """Return how many documents the run was to answer; 0 where an older version does not say."""
    return int(results.get("n-samples", {}).get(task, {}).get("effective") or 0)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    return flattened(value, name) if isinstance(value, Mapping) else iter([(name, value)])


def _answers(path: Path, selection: Selection) -> Iterator[LoggedAnswer]:
    filters: dict[str, None] = {}
    is_met = False
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            sample = parse_json(line, source=f"{path}, line {number}")
            with readable(f"log '{path}', line {number}", "sample of lm-evaluation-harness"):
                found = sample.get("filter", "none")
            filters[found] = None
            if found == selection.filter:
                is_met = True
                with readable(f"log '{path}', line {number}", "sample of lm-evaluation-harness"):
                    answer = _answer(sample, selection, f"log '{path}', line {number}")
                yield answer
    if not is_met:
        listed = ", ".join(f"'{name}'" for name in filters) or "no line at all"
        raise InvalidRequestError(f"log '{path}' has no filter '{selection.filter}', only {listed}; name one")


def _answer(sample: Mapping[str, Any], selection: Selection, subject: str) -> LoggedAnswer:
    if selection.metric not in sample:
        known = sample.get("metrics") or [name for name, value in sample.items() if isinstance(value, float)]
        raise InvalidRequestError(f"{subject} has no metric '{selection.metric}', only {', '.join(known)}; name one")
    key = field_of(sample, selection.key or "doc.id", subject=subject)
    if selection.form_key:
        key = f"{key}/{field_of(sample, selection.form_key, subject=subject)}"
    requests = _requests(sample["arguments"])
    context = requests[0][0] if isinstance(requests[0][0], str) else None
    found = field_of(sample, selection.text_key, subject=subject) if selection.text_key else None
    score = score_of(sample[selection.metric], subject=f"{subject}: metric '{selection.metric}'")
    target = sample.get("target")
    return LoggedAnswer(
        key=key,
        score=score,
        failure="" if score is not None else "no score",
        prompt=_prompt(requests),
        text=found or _text(sample["doc"], context),
        settings=tuple(_request_settings(requests)),
        target=None if target is None else str(target),
    )


def _requests(arguments: Any) -> list[tuple[Any, ...]]:
    """Return the arguments of each request: context and option of a choice, context and settings of a generation."""
    if isinstance(arguments, Mapping):
        return [tuple(each.values()) for each in arguments.values()]
    return [tuple(each) for each in arguments]


def _prompt(requests: Sequence[tuple[Any, ...]]) -> str | None:
    """Return all that the model was shown: the context, and of a choice each option, with a context that differs."""
    first = requests[0][0]
    if not isinstance(first, str):
        return None
    shown = [first]
    for context, *rest in requests:
        option = rest[0] if rest and isinstance(rest[0], str) else None
        if context != first:
            shown.append(str(context))
        if option is not None:
            shown.append(f"<option>{option}")
    return "\n".join(shown)


def _request_settings(requests: Sequence[tuple[Any, ...]]) -> Iterator[Setting]:
    """Yield what a single generation was asked with, beside what the task declares."""
    for _context, *rest in requests[:1]:
        if rest and isinstance(rest[0], Mapping):
            for dotted, value in flattened(rest[0], "request"):
                yield Setting(PairingRule.DECODING, dotted, value)


def _text(document: Any, prompt: str | None) -> str | None:
    """Return the longest text of a document that its prompt shows: the question, unless `text_key` says otherwise."""
    if prompt is None or not isinstance(document, Mapping):
        return None
    shown = [value for value in document.values() if isinstance(value, str) and value.strip() and value in prompt]
    return max(shown, key=len, default=None)
