"""Progress where there is no terminal."""

from __future__ import annotations

import json
import threading

import pytest

from leakscale import progress
from leakscale.cli.console import Console
from leakscale.progress import LineProgress, terminal_progress


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def ran(*, total: int | None, steps: int, step_s: float) -> list[str]:
    """Run a task of equal steps and return the lines that it wrote."""
    clock = Clock()
    lines: list[str] = []
    progress = LineProgress("certify", total=total, unit="families", write=lines.append, clock=clock)
    for _ in range(steps):
        clock.now += step_s
        progress.advance()
    progress.finish()
    return lines


def test_short_task_says_nothing() -> None:
    """A log of instant steps is noise."""
    assert ran(total=10, steps=10, step_s=0.1) == []


def test_long_task_says_about_ten_lines_and_a_total() -> None:
    """Whoever watches a log sees that it moves, how fast, and how long it will take."""
    lines = ran(total=128, steps=128, step_s=0.2)

    assert 8 <= len(lines) <= 12
    assert lines[0] == "certify: 13/128 families (10 %), 5/s, 23 s left"
    assert lines[-1] == "certify: 128/128 families in 25.6 s (5/s)"


def test_slow_steps_are_reported_every_five_seconds() -> None:
    """A task that needs a minute for a tenth of its work must not look dead."""
    lines = ran(total=1000, steps=60, step_s=1.0)

    assert len(lines) == 13


def test_what_an_earlier_run_did_counts_for_neither_rate_nor_time_left() -> None:
    """A run that goes on at four fifths has not done them in its first second."""
    clock = Clock()
    lines: list[str] = []
    progress = LineProgress("adapt", total=100_000, unit="tokens", write=lines.append, clock=clock)
    for done in range(80_500, 100_001, 500):
        clock.now += 2.0
        progress.update(done)
    progress.finish()

    assert lines[:2] == [
        "adapt: 80500/100000 tokens (80 %)",
        "adapt: 82000/100000 tokens (82 %), 250/s, 72 s left",
    ]
    assert lines[-1] == "adapt: 100000/100000 tokens in 80.0 s (250/s)"


def test_unknown_total_still_counts() -> None:
    """Nobody knows the length of a stream."""
    lines = ran(total=None, steps=12, step_s=1.0)

    assert lines[0] == "certify: 5 families, 1/s"


def test_a_task_of_which_no_step_ends_says_that_it_is_under_way() -> None:
    """A model that is being loaded, or one long batch, looks like a hung command otherwise."""
    clock = Clock()
    lines: list[str] = []
    answered = LineProgress("answer", total=None, unit="answers", write=lines.append, clock=clock)
    for _ in range(20):
        clock.now += 1.0
        answered.remind()
    answered.update(0, 210)
    for _ in range(10):
        clock.now += 1.0
        answered.remind()

    assert lines == [
        "answer: under way for 8 s",
        "answer: under way for 16 s",
        "answer: 0/210 answers (0 %), under way for 24 s",
    ]


def test_a_silent_task_is_reminded_of_by_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No step calls; one that counted nothing has no total to say in the end."""
    monkeypatch.setattr(progress, "_SILENT_S", 0.01)
    monkeypatch.setattr(progress, "_QUIET_S", 0.0)
    lines: list[str] = []
    said = threading.Event()

    def write(line: str) -> None:
        lines.append(line)
        said.set()

    with progress.shown_progress("open the model", total=None, unit="", write=write):
        assert said.wait(30)

    assert set(lines) == {"open the model: under way for 0 s"}


def test_console_without_a_terminal_writes_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """No color codes and no carriage returns in a log."""
    console = Console()

    with console.progress("adapt", total=2, unit="steps") as progress:
        progress.update(1)
    console.result({"a": 1}, text="done")

    captured = capsys.readouterr()
    assert captured.out == "done\n"
    assert "\x1b" not in captured.err + captured.out


def test_json_result_is_exactly_one_value(capsys: pytest.CaptureFixture[str]) -> None:
    """`leakscale … --json | jq` must not meet a stray word."""
    Console(as_json=True).result({"a": "−1"}, text="never shown")

    assert json.loads(capsys.readouterr().out) == {"a": "−1"}


def test_bar_of_a_terminal_takes_the_same_calls() -> None:
    """A task does not know where it is shown."""
    with terminal_progress("certify", total=10, unit="families") as bar:
        bar.advance(3)
        bar.update(10, total=10)
