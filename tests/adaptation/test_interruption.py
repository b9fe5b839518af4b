"""Ctrl-C, SIGTERM and failures after the epoch: every step that was taken is kept, and the words say so."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leakscale.adaptation import AdaptationConfig, AdaptProgress, adapt, read_completion
from leakscale.adaptation.interruption import interruptions_put_off
from leakscale.errors import ModelError
from leakscale.models import TrainingRecord

LONG_S = 3600.0


@dataclasses.dataclass
class Run:
    """Trains with no checkpoint due for an hour."""

    model: Path
    corpus: list[TrainingRecord]
    config: AdaptationConfig
    output: Path
    steps: list[int] = dataclasses.field(default_factory=list)
    """Taken by the last call."""
    notes: list[str] = dataclasses.field(default_factory=list)

    def __call__(self, *signals: int) -> None:
        """Train, and send this process signals after step three."""
        self.steps = []

        def progress(at: AdaptProgress) -> None:
            self.steps.append(at.step)
            for number in signals if at.step == 3 else ():
                os.kill(os.getpid(), number)

        adapt(
            self.model,
            self.corpus,
            self.config,
            output_dir=self.output,
            progress=progress,
            note=self.notes.append,
            checkpoint_interval_s=LONG_S,
        )


@pytest.fixture
def run(
    base_model: Path, corpus: list[TrainingRecord], small_config: AdaptationConfig, tmp_path: Path
) -> Iterator[Run]:
    """A run of seven steps, after which signals do what they did before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield Run(base_model, corpus, small_config, tmp_path / "adapter")
    for number, handler in before.items():
        signal.signal(number, handler)


def test_ctrl_c_before_the_first_checkpoint_keeps_every_step(run: Run, adapter: Path) -> None:
    """The first minutes of a run are where its user sees what is wrong, and they count like any others."""
    with pytest.raises(KeyboardInterrupt, match=r"^training is kept up to step 3 of 7$"):
        run(signal.SIGINT)

    assert run.notes == ["stopping after this step, which is kept; once more stops at once"]
    run()
    assert run.steps == [4, 5, 6, 7]
    assert read_completion(run.output) == read_completion(adapter)


def test_sigterm_keeps_every_step_and_then_does_what_it_does(run: Run) -> None:
    """A scheduler that takes a node back says SIGTERM first."""

    def end(_number: int, _frame: object) -> None:
        raise SystemExit(143)

    signal.signal(signal.SIGTERM, end)
    with pytest.raises(SystemExit):
        run(signal.SIGTERM)

    assert signal.getsignal(signal.SIGTERM) is end
    run()
    assert run.steps == [4, 5, 6, 7]


def test_the_second_ctrl_c_does_not_wait_and_does_not_promise(run: Run) -> None:
    """A step of a large model takes minutes; whoever insists is obeyed, and told what it costs."""
    with pytest.raises(KeyboardInterrupt, match=r"^the steps since the last checkpoint are lost$"):
        run(signal.SIGINT, signal.SIGINT)

    run()
    assert run.steps == [1, 2, 3, 4, 5, 6, 7]


def test_a_handler_that_lets_a_run_go_on_is_heeded(run: Run) -> None:
    """A program that embeds the training has its own idea of a signal."""
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: seen.append(number))

    run(signal.SIGINT)
    assert run.steps == [1, 2, 3, 4, 5, 6, 7]
    assert seen == [signal.SIGINT]


def test_an_ignored_signal_stays_ignored(run: Run) -> None:
    """A job started with nohup and & is not to end at somebody else's Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    run(signal.SIGINT)
    assert run.steps == [1, 2, 3, 4, 5, 6, 7]


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    """Python takes them in the main thread only, and refuses handlers elsewhere."""
    before = signal.getsignal(signal.SIGINT)

    def look() -> object:
        with interruptions_put_off():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(look).result() is before


def test_what_fails_after_the_epoch_costs_no_step(run: Run) -> None:
    """Probing and writing a large adapter take minutes, and may be interrupted too."""
    run.config = dataclasses.replace(run.config, learning_rate=0.0)

    with pytest.raises(ModelError, match="changes no target token"):
        run()
    assert run.steps == [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(ModelError, match="changes no target token"):
        run()
    assert run.steps == []
