# mypy: ignore-errors
# What it imports is no dependency of this project.
"""Write the logs of this folder anew, with the real inspect_ai and lm-evaluation-harness.

Their models (mock, dummy) need no network.

    pip install inspect-ai lm-eval
    cd tests/audit/logs && python make.py

Ids and times in the logs are new each time; scores are not, except that the harness draws the choices at random.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tiktoken
import yaml

HERE = Path(__file__).parent
PARENTS = [json.loads(line) for line in (HERE / "bank.jsonl").read_text().splitlines()]
FORMS = ("original", "fresh-1", "fresh-2")
TEMPLATE = "Solve the problem. End with 'ANSWER: n'.\n\n{prompt}"
RIGHT = {"original": "w1 w2 w4", "fresh-1": "w1 w4", "fresh-2": "w2 w4"}
OPTIONS = ["31", "80", "70", "lol"]


def text(parent: dict[str, Any], form: str) -> str:
    """Return the words of a form."""
    words: str = parent["original"] if form == "original" else parent["fresh"][int(form[-1]) - 1]
    return words


class Words:
    """Counts tokens without the tables that tiktoken would download."""

    def encode(self, words: str, **_: object) -> list[str]:
        """Return one token a word."""
        return words.split()


def make_inspect_logs(folder: Path) -> None:
    """Ask the mock model, right or wrong as `RIGHT` says."""
    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Words()
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate, prompt_template

    answers = {
        text(parent, form): parent["gold"] if parent["id"] in RIGHT[form] else "0"
        for parent in PARENTS
        for form in FORMS
    }

    def answer(messages: Any, *_: Any) -> Any:
        asked = messages[-1].text
        if "FAIL" in asked:
            raise RuntimeError("the provider is not there")
        found = next(answers[words] for words in answers if words in asked)
        reason = "max_tokens" if "Lea" in asked else "stop"
        return ModelOutput.from_content("mockllm/model", f"ANSWER: {found}", stop_reason=reason)

    def ask(name: str, samples: list[Any], template: str = TEMPLATE, suffix: str = "eval", **options: Any) -> None:
        task = Task(
            name="word-problems",
            dataset=MemoryDataset(samples, name=name),
            solver=[prompt_template(template), generate()],
            scorer=match(location="end"),
        )
        model = get_model("mockllm/model", custom_outputs=answer)
        log = evaluate(task, model=model, log_dir="made", display="none", log_format=suffix, **options)[0]
        written = read_eval_log(log.location)
        for sample in written.samples:  # tracebacks name the folders of whoever ran this
            if sample.error:
                sample.error.traceback = sample.error.traceback_ansi = ""
            if sample.error or suffix == "json":  # events repeat all of it, and nobody reads them here
                sample.events, sample.events_data, sample.attachments = [], None, {}
        if written.error:
            written.error.traceback = written.error.traceback_ansi = ""
        write_eval_log(written, str(folder / f"{name}.{suffix}"))

    def sample(parent: dict[str, Any], form: str, **fields: Any) -> Any:
        return Sample(**{"id": parent["id"], "input": text(parent, form), "target": parent["gold"]} | fields)

    for form in FORMS:
        ask(form, [sample(parent, form) for parent in PARENTS])
    ask("other-template", [sample(parent, "fresh-2") for parent in PARENTS], template="{prompt}\nEnd with 'ANSWER: n'.")
    broken = [sample(parent, "fresh-2") for parent in PARENTS]
    broken[1].input += " FAIL"
    ask("failed-sample", broken, fail_on_error=False)
    ask("failed-run", broken)
    together = [sample(parent, form, id=f"{parent['id']}/{form}") for parent in PARENTS for form in FORMS]
    ask("together", together, suffix="json")
    ask("epochs", together, suffix="json", epochs=2)


def make_lm_eval_logs(folder: Path) -> None:
    """Ask the dummy model, which says `lol` and draws log-probabilities at random."""
    for form in FORMS:
        lines = [
            {"id": each["id"], "question": text(each, form), "answer": each["gold"], "choices": OPTIONS}
            for each in PARENTS
        ]
        Path(f"{form}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    Path("examples.jsonl").write_text(json.dumps({"id": "x", "question": "What is 1 + 1?", "answer": "2"}) + "\n")
    tasks = Path("tasks")
    tasks.mkdir()
    for form in FORMS:
        for shots in (0, 1):
            (tasks / f"{form}-{shots}.yaml").write_text(yaml.safe_dump(generation(form, shots)))
        (tasks / f"{form}-choice.yaml").write_text(yaml.safe_dump(choice(form)))
    names = [f"words-{form}" for form in FORMS] + ["words-fresh-1-unaided"] + [f"choice-{form}" for form in FORMS]
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", ",".join(names)]
    command += ["--include_path", "tasks", "--output_path", "out", "--log_samples"]
    subprocess.run(command, check=True, env={**os.environ, "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"})
    for path in Path("out").glob("*/*"):
        shutil.copy(path, folder / path.name)


def generation(form: str, shots: int) -> dict[str, Any]:
    """Return a task that reads an answer from what was generated."""
    return {
        "task": f"words-{form}" if shots else f"words-{form}-unaided",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{form}.jsonl", "train": "examples.jsonl"}},
        "test_split": "test",
        "fewshot_split": "train",
        "fewshot_config": {"sampler": "first_n"},
        "num_fewshot": shots,
        "output_type": "generate_until",
        "doc_to_text": "Question: {{question}}\nAnswer:",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["Question:"], "do_sample": False},
        "filter_list": [
            {"name": "strict-match", "filter": [regex("#### (.+)"), {"function": "take_first"}]},
            {"name": "flexible-extract", "filter": [regex("([a-z0-9]+)"), {"function": "take_first"}]},
        ],
        "metric_list": [{"metric": "exact_match"}],
    }


def regex(pattern: str) -> dict[str, str]:
    """Return a filter of the harness."""
    return {"function": "regex", "regex_pattern": pattern}


def choice(form: str) -> dict[str, Any]:
    """Return a task that compares the log-probabilities of four options."""
    return {
        "task": f"choice-{form}",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{form}.jsonl"}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "Question: {{question}}\nAnswer:",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{choices.index(answer)}}",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for made in ("inspect_ai", "lm_eval"):
            shutil.rmtree(HERE / made, ignore_errors=True)
            (HERE / made).mkdir()
        os.chdir(scratch)
        make_inspect_logs(HERE / "inspect_ai")
        make_lm_eval_logs(HERE / "lm_eval")
