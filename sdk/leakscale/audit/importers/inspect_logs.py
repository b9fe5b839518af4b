"""Logs of inspect_ai: `.eval` (a zip archive, one member a sample) and `.json` (one object).

The fields read are those of log format 2: `status`, `eval`, `plan`, `results` in the header; `id`, `epoch`, `input`,
`messages`, `output`, `scores`, `metadata`, `error`, `limit`, `invalidation` of a sample. Events are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from leakscale.audit.importers.archives import open_archive
from leakscale.audit.importers.fields import field_of, flattened, parse_json, readable
from leakscale.audit.importers.marks import score_of
from leakscale.audit.importers.models import EvaluationLog, LoggedAnswer, PairingRule, Selection, Setting
from leakscale.audit.scores import ScoreSource
from leakscale.errors import InvalidRequestError

__all__ = ["read_inspect_log"]

_NO_MATTER: Final = frozenset(
    {"adaptive_connections", "attempt_timeout", "batch", "cache", "max_connections", "max_retries", "timeout"}
)
"""Settings of generation that decide when an answer comes, not what it is."""
_LIMITS: Final = ("epochs", "epochs_reducer", "message_limit", "token_limit", "time_limit", "working_limit")


def read_inspect_log(path: Path, selection: Selection) -> EvaluationLog:
    """Read a log that inspect_ai wrote.

    Raises:
        InvalidRequestError: If the file is none, was never finished, or has no such scorer or field.
    """
    if selection.filter:
        raise InvalidRequestError(
            f"log '{path}': filter '{selection.filter}' is named, and inspect_ai has none; name the "
            "scorer as the metric"
        )
    with readable(
        f"log '{path}'", "log of inspect_ai that this version reads", advice="convert it with `inspect log convert`"
    ):
        header, answers = _archived(path, selection) if path.suffix == ".eval" else _plain(path, selection)
        ids = [sample_id for sample_id, _ in answers]
        results = header.get("results") or {}
        return EvaluationLog(
            path=path,
            source=ScoreSource.of(path),
            writer=f"inspect_ai {header['eval'].get('packages', {}).get('inspect_ai', '')}".strip(),
            model=header["eval"]["model"],
            settings=tuple(_settings(header, selection)),
            answers=tuple(answer for _, answer in answers),
            incomplete_count=_incomplete(results, len(answers)),
            first_absent=_first_absent(header["eval"], ids),
        )


def _archived(path: Path, selection: Selection) -> tuple[dict[str, Any], list[tuple[str, LoggedAnswer]]]:
    with open_archive(path) as members:
        if "header.json" not in members:
            raise InvalidRequestError(
                f"log '{path}': status: it has no header.json, so its evaluation did not finish; run it to its end"
            )
        header = parse_json(members.read("header.json"), source=f"{path}, header.json")
        # Each sample is read and dropped in turn: its events are ten times what is kept.
        answers = [
            _identified(parse_json(members.read(name), source=f"{path}, {name}"), selection, path, name)
            for name in members.names(under="samples")
        ]
    return header, answers


def _plain(path: Path, selection: Selection) -> tuple[dict[str, Any], list[tuple[str, LoggedAnswer]]]:
    log = parse_json(path.read_bytes(), source=str(path))
    if not isinstance(log, dict) or "eval" not in log:
        raise InvalidRequestError(f"'{path}' is no log of inspect_ai: it has no field 'eval'")
    samples = log.get("samples") or []
    return log, [
        _identified(sample, selection, path, f"sample {number}") for number, sample in enumerate(samples, start=1)
    ]


def _identified(sample: Any, selection: Selection, path: Path, place: str) -> tuple[str, LoggedAnswer]:
    """Return a sample's own id and its answer."""
    with readable(f"log '{path}', {place}", "sample of inspect_ai"):
        return str(sample["id"]), _answer(sample, selection, path)


def _incomplete(results: Mapping[str, Any], found: int) -> int:
    """Return how many samples were not completed, or are not in the file: whoever drops some chooses the others."""
    total = results.get("total_samples") or 0
    return max(0, total - min(results.get("completed_samples") or 0, found))


def _first_absent(spec: Mapping[str, Any], ids: Sequence[str]) -> str:
    listed = (spec.get("dataset") or {}).get("sample_ids") or []
    return next((str(each) for each in listed if str(each) not in set(ids)), "")


def _settings(header: Mapping[str, Any], selection: Selection) -> Iterator[Setting]:
    spec, plan = header["eval"], header.get("plan") or {}
    status = "invalidated" if header.get("invalidated") else header.get("status")
    yield Setting(PairingRule.STATUS, "status", status)
    yield Setting(PairingRule.MODEL, "model", spec["model"])
    for name, value in flattened(spec.get("model_args"), "model_args"):
        yield Setting(PairingRule.MODEL, name, value)
    for name, value in flattened(spec.get("task_args"), "task_args"):
        rule = PairingRule.FEW_SHOT_COUNT if "shot" in name else PairingRule.TASK_ARGUMENT
        yield Setting(rule, name, value)
    yield Setting(PairingRule.SCORING, "task_version", spec.get("task_version"))
    yield Setting(PairingRule.SCORING, "model_roles", spec.get("model_roles") or None)
    yield from _prompt_settings(plan)
    yield from _decoding_settings(spec, plan)
    for scorer in spec.get("scorers") or []:
        if scorer["name"].rpartition("/")[2] == selection.metric.partition("/")[0]:
            yield Setting(PairingRule.SCORING, "scorer.options", scorer.get("options") or None)


def _prompt_settings(plan: Mapping[str, Any]) -> Iterator[Setting]:
    steps = plan.get("steps") or []
    yield Setting(PairingRule.PROMPT_TEMPLATE, "solvers", [step["solver"] for step in steps])
    for number, step in enumerate(steps, start=1):
        for name, value in flattened(step.get("params"), f"solver-{number}.{step['solver']}"):
            rule = PairingRule.FEW_SHOT_COUNT if "shot" in name else PairingRule.PROMPT_TEMPLATE
            yield Setting(rule, name, value)


def _decoding_settings(spec: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Setting]:
    config = (spec.get("model_generate_config") or {}) | (plan.get("config") or {})
    for name, value in config.items():
        if name not in _NO_MATTER:
            yield Setting(PairingRule.DECODING, f"config.{name}", value)
    for name in _LIMITS:
        yield Setting(PairingRule.DECODING, name, (spec.get("config") or {}).get(name))


def _answer(sample: Mapping[str, Any], selection: Selection, path: Path) -> LoggedAnswer:
    subject = f"log '{path}': sample '{sample['id']}'"
    key = str(field_of(sample, selection.key or "id", subject=subject))
    if selection.form_key:
        key = f"{key}/{field_of(sample, selection.form_key, subject=subject)}"
    text = field_of(sample, selection.text_key, subject=subject) if selection.text_key else _text(sample["input"])
    score, failure = _score(sample, selection, subject)
    answered_by = (sample.get("output") or {}).get("model")
    return LoggedAnswer(
        key=key,
        score=score,
        failure=failure,
        epoch=sample.get("epoch", 1),
        prompt=_prompt(sample),
        text=text,
        is_truncated=bool(sample.get("limit")) or _stop_reason(sample) in {"max_tokens", "model_length"},
        settings=(Setting(PairingRule.MODEL, "output.model", answered_by),) if answered_by else (),
        target=_target(sample.get("target")),
        oddities=tuple(_oddities(sample)),
    )


def _score(sample: Mapping[str, Any], selection: Selection, subject: str) -> tuple[float | None, str]:
    if error := sample.get("error"):
        return None, f"error: {str(error.get('message', ''))[:80]}"
    if sample.get("invalidation"):
        return None, "invalidated by hand"
    if _stop_reason(sample) == "content_filter":
        return None, "stopped by a content filter"
    scores = sample.get("scores") or {}
    if not scores:
        return None, "not scored"
    scorer, _, part = selection.metric.partition("/")
    if scorer not in scores:
        raise InvalidRequestError(f"{subject} has no score '{scorer}', only {_listed(scores)}; name one as the metric")
    if scores[scorer].get("history"):
        return None, f"score '{scorer}' was edited by hand"
    value = scores[scorer]["value"]
    if isinstance(value, dict):
        if part not in value:
            named = ", ".join(f"'{scorer}/{each}'" for each in value)
            raise InvalidRequestError(f"{subject}: score '{scorer}' has parts; name one of {named} as the metric")
        value = value[part]
    elif part:
        raise InvalidRequestError(f"{subject}: score '{scorer}' has no parts; name '{scorer}' as the metric")
    score = score_of(value, subject=f"{subject}: score '{selection.metric}'")
    return score, "" if score is not None else "no score"


def _target(target: Any) -> str | None:
    if target is None or target == "":
        return None
    return target if isinstance(target, str) else "\n".join(map(str, target))


def _oddities(sample: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a score does not show: a second question after the first answer, a run that failed before."""
    roles = [message["role"] for message in sample.get("messages") or [] if message.get("source") != "input"]
    first = roles.index("assistant") if "assistant" in roles else len(roles)
    if "user" in roles[first:]:
        yield "asked again after an answer"
    if sample.get("error_retries"):
        yield "run again after an error"


def _stop_reason(sample: Mapping[str, Any]) -> str | None:
    choices = (sample.get("output") or {}).get("choices") or [{}]
    reason: str | None = choices[0].get("stop_reason")
    return reason


def _prompt(sample: Mapping[str, Any]) -> str | None:
    """Return what stood before the first generated message, with the role of each."""
    shown = []
    for message in sample.get("messages") or []:
        if message["role"] == "assistant" and message.get("source") != "input":
            break
        shown.append(f"<{message['role']}>\n{_content(message['content'])}")
    return "\n".join(shown) or None


def _text(value: Any) -> str | None:
    """Return the words of an input: text, or the last message that a user wrote."""
    if isinstance(value, str):
        return value
    asked = [_content(message["content"]) for message in value if message["role"] == "user"]
    return asked[-1] if asked else None


def _content(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "\n".join(part.get("text") or f"<{part.get('type')}>" for part in value)


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(f"'{name}'" for name in names)
