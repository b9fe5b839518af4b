"""Every case is answered exactly once, whatever interrupts the run, and what is on disk proves it."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from leakscale.errors import ConflictError, IntegrityError, ModelError, NotFoundError, UnavailableError
from leakscale.inference import (
    Attempt,
    BankFiles,
    BankProgress,
    Case,
    FrozenBank,
    Mode,
    Outcome,
    PreflightReport,
    Question,
    answer_bank,
    verify_bank,
)
from leakscale.inference.engines import Check
from leakscale.inference.engines.exact import ExactEngine
from leakscale.models import Ring

from .builders import FakeEngine, a_question, write_bank

KILLED_RUN = """
import sys, time
from pathlib import Path
from leakscale.inference import BankFiles, FrozenBank, Mode, answer_bank
from tests_inference.builders import FakeEngine

stem, asked = Path(sys.argv[1]), Path(sys.argv[2]).open("a", buffering=1)

class Slow(FakeEngine):
    def attempt(self, case):
        asked.write(f"{case.index}\\n")
        time.sleep(0.0005)
        return super().attempt(case)

files = BankFiles.of(stem)
answer_bank(FrozenBank(files.plan), Slow(), files)
"""


@pytest.fixture
def files(tmp_path: Path) -> BankFiles:
    """A frozen bank of 50 questions and 4 draws, unanswered."""
    found = BankFiles.of(tmp_path / "bank")
    write_bank(found.plan, map(a_question, range(50)))
    return found


def frozen(files: BankFiles) -> FrozenBank:
    return FrozenBank(files.plan)


class Stopping(FakeEngine):
    """Breaks off before a case, as an endpoint that went away."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self._before = before

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        for case in cases:
            if case.index == self._before:
                yield Attempt(case.index, Outcome.TRANSPORT, detail="ConnectError")
                raise UnavailableError("endpoint is gone")
            yield self.attempt(case)


class Batched(FakeEngine):
    """Takes cases in groups and reports each group backwards."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        group: list[Case] = []
        for case in cases:
            group.append(case)
            if len(group) == self._size:
                yield from (self.attempt(each) for each in reversed(group))
                group.clear()
        yield from (self.attempt(each) for each in reversed(group))


def test_every_case_gets_one_result_in_case_order(files: BankFiles) -> None:
    """The results read like the bank."""
    binding = answer_bank(frozen(files), FakeEngine(), files)

    results = list(files.read_results())
    assert [result.case for result in results] == list(range(200))
    assert binding.case_count == binding.attempt_count == 200
    assert verify_bank(files) == binding


@pytest.mark.parametrize("size", [1, 3, 7, 64, 1000])
def test_results_are_the_same_bytes_whatever_the_batch_size(files: BankFiles, tmp_path: Path, size: int) -> None:
    """Grouping and order of ending are the machine's affair."""
    other = dataclasses.replace(BankFiles.of(tmp_path / "other"), plan=files.plan)
    answer_bank(frozen(files), FakeEngine(), files)

    answer_bank(frozen(files), Batched(size), other)

    assert other.results.read_bytes() == files.results.read_bytes()


def test_run_that_breaks_off_goes_on_where_it_stopped(files: BankFiles, tmp_path: Path) -> None:
    """What was answered is kept, the failed attempt too, and nothing is asked twice."""
    whole = dataclasses.replace(BankFiles.of(tmp_path / "whole"), plan=files.plan)
    answer_bank(frozen(files), FakeEngine(), whole)
    second = FakeEngine()

    with pytest.raises(UnavailableError):
        answer_bank(frozen(files), Stopping(before=77), files)
    answer_bank(frozen(files), second, files)

    assert second.asked == list(range(77, 200))
    assert files.results.read_bytes() == whole.results.read_bytes()
    assert [attempt.case for attempt in files.read_attempts() if attempt.outcome is Outcome.TRANSPORT] == [77]


def test_answered_bank_asks_nothing_and_needs_no_engine_that_works(files: BankFiles) -> None:
    """A study that is run again finds its banks done."""
    first = answer_bank(frozen(files), FakeEngine(), files)
    broken = FakeEngine(checks=[Check("adapter-active", False, "0 nats")])

    again = answer_bank(frozen(files), broken, files)

    assert broken.asked == []
    assert again == first


def test_engine_that_fails_its_preflight_is_asked_no_case(files: BankFiles) -> None:
    """Otherwise a bank is full of answers that mean something else."""
    engine = FakeEngine(checks=[Check("one-bos", True, ""), Check("adapter-active", False, "0 nats")])

    with pytest.raises(ModelError, match=r"failed its preflight: adapter-active \(0 nats\); no case was asked"):
        answer_bank(frozen(files), engine, files)
    assert engine.asked == []
    assert sorted(path.name for path in files.plan.parent.iterdir()) == ["bank.plan.jsonl"]


def test_bank_is_not_begun_while_its_engine_is_tried(files: BankFiles) -> None:
    """Whoever is killed there leaves nothing that looks like a bank in progress."""
    found: list[str] = []

    class Looking(FakeEngine):
        def preflight(self, questions: Sequence[Question]) -> PreflightReport:
            found.extend(path.name for path in files.plan.parent.iterdir())
            return super().preflight(questions)

    answer_bank(frozen(files), Looking(), files)

    assert found == ["bank.plan.jsonl"]


def test_resumed_bank_tries_its_engine_again(files: BankFiles) -> None:
    """It may be served otherwise since."""
    with pytest.raises(UnavailableError):
        answer_bank(frozen(files), Stopping(before=77), files)
    broken = FakeEngine(checks=[Check("adapter-active", False, "0 nats")])

    with pytest.raises(ModelError, match="failed its preflight"):
        answer_bank(frozen(files), broken, files)
    assert broken.asked == []


def test_answers_of_another_engine_are_refused(files: BankFiles) -> None:
    """Half a bank of each of two models is a bank of none."""
    answer_bank(frozen(files), FakeEngine(), files)
    other = FakeEngine()
    other.identity = {"engine": "fake", "version": 2}

    with pytest.raises(ConflictError, match=r"engine\.version 1, now 2"):
        answer_bank(frozen(files), other, files)


def test_answers_to_another_bank_are_refused(files: BankFiles, tmp_path: Path) -> None:
    """The streams carry the bank's digest."""
    answer_bank(frozen(files), FakeEngine(), files)
    other = write_bank(tmp_path / "other", map(a_question, range(50)), bank_seed=1)

    with pytest.raises(ConflictError, match="bank "):
        answer_bank(other, FakeEngine(), files)


def test_engine_that_leaves_cases_out_is_found_out(files: BankFiles) -> None:
    """An engine's silence is not an answer."""

    class Lazy(FakeEngine):
        def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
            return (self.attempt(case) for case in cases if case.index != 40)

    with pytest.raises(IntegrityError, match="stopped after 40 of 200 cases"):
        answer_bank(frozen(files), Lazy(), files)
    with pytest.raises(NotFoundError, match="has no binding"):
        verify_bank(files)


def test_shards_answer_their_own_cases_and_no_others(files: BankFiles, tmp_path: Path) -> None:
    """Laid one after the other, shards are the local run: the same lines, under a header of their own."""
    answer_bank(frozen(files), FakeEngine(), files)
    lines = []
    for number, indices in enumerate([range(80), range(80, 136), range(136, 200)]):
        shard = dataclasses.replace(BankFiles.of(tmp_path / f"shard-{number}"), plan=files.plan)
        binding = answer_bank(frozen(files), FakeEngine(), shard, indices=indices)
        assert verify_bank(shard) == binding
        lines += shard.results.read_bytes().splitlines()[1:]

    assert lines == files.results.read_bytes().splitlines()[1:]


def test_progress_counts_cases_that_have_their_result(files: BankFiles) -> None:
    """A bar that counts failed attempts would pass its end."""
    seen: list[BankProgress] = []
    with pytest.raises(UnavailableError):
        answer_bank(frozen(files), Stopping(before=5), files, progress=seen.append)

    answer_bank(frozen(files), FakeEngine(), files, progress=seen.append)

    assert [at.done_count for at in seen] == [1, 2, 3, 4, 5, 5, *range(6, 201)]
    assert {at.case_count for at in seen} == {200}


@pytest.mark.parametrize(
    ("name", "old", "new", "rule"),
    [
        ("results", b'"draw":1,', b'"draw":2,', r"results\.jsonl' line 3 has a result of case 1 that does not follow"),
        ("attempts", b'"case":9,', b'"case":8,', r"attempts\.jsonl' line 11 has digest .*; restore the file"),
        ("plan", b"Question 7?", b"Question 8?", r"plan\.jsonl' line 9 has digest .*; it was changed since"),
        ("binding", b'"attempt_count":200', b'"attempt_count":201', "names another attempt_count than the files"),
        ("binding", b'"plan":"', b'"plan":"0', r"binding\.json' belongs to the bank with SHA-256 0"),
    ],
)
def test_any_change_after_the_binding_is_found(files: BankFiles, name: str, old: bytes, new: bytes, rule: str) -> None:
    """One byte of one line."""
    answer_bank(frozen(files), FakeEngine(), files)
    path: Path = getattr(files, name)
    before = path.read_bytes()
    path.write_bytes(before.replace(old, new, 1))
    assert path.read_bytes() != before  # the attack happened

    with pytest.raises(IntegrityError, match=rule):
        verify_bank(files)


def test_plan_that_another_took_the_place_of_is_named_and_not_its_answers(files: BankFiles) -> None:
    """Three files agree, and the one that is blamed is the one to put back."""
    answer_bank(frozen(files), FakeEngine(), files)
    write_bank(files.plan, map(a_question, range(50)), bank_seed=1)

    with pytest.raises(IntegrityError, match=r"bank .*plan\.jsonl' has SHA-256 .* were given to .*; restore the plan"):
        verify_bank(files)


def test_log_that_breaks_a_rule_is_named_with_its_line(files: BankFiles) -> None:
    """Deleting the healthy files beside it would not help."""
    answer_bank(frozen(files), FakeEngine(), files)
    lines = files.attempts.read_bytes().splitlines(keepends=True)
    files.attempts.write_bytes(b"".join([*lines[:5], lines[3], *lines[5:]]))

    with pytest.raises(
        IntegrityError,
        match=r"attempts\.jsonl' line 6 breaks a rule: the attempt at case 2 .* follows a terminal one; re",
    ):
        answer_bank(frozen(files), FakeEngine(), files)


def test_result_that_was_left_out_is_found(files: BankFiles) -> None:
    """A bank of 199 results out of 200 would move an accuracy."""
    answer_bank(frozen(files), FakeEngine(), files)
    files.results.write_bytes(b"".join(files.results.read_bytes().splitlines(keepends=True)[:-1]))

    with pytest.raises(IntegrityError, match="is not complete; answer the bank again, it goes on"):
        verify_bank(files)


def test_results_that_do_not_follow_from_the_attempts_are_found_even_with_a_new_binding(files: BankFiles) -> None:
    """Digests alone could be written anew by whoever changed an answer; the derivation could not."""
    answer_bank(frozen(files), FakeEngine(), files)
    lines = files.results.read_bytes().splitlines(keepends=True)
    fields = json.loads(lines[9]) | {"text": '{"choice":"mine"}'}
    lines[9] = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    files.results.write_bytes(b"".join(lines))

    with pytest.raises(IntegrityError, match="result of case 8 that does not follow from the attempts"):
        answer_bank(frozen(files), FakeEngine(), files)


def test_lost_results_are_derived_again_and_nothing_is_asked(files: BankFiles) -> None:
    """The attempts hold everything."""
    answer_bank(frozen(files), FakeEngine(), files)
    before, engine = files.results.read_bytes(), FakeEngine()
    files.results.unlink()

    answer_bank(frozen(files), engine, files)

    assert files.results.read_bytes() == before
    assert engine.asked == []


def test_exact_mode_draws_as_often_as_the_distribution_says(tmp_path: Path) -> None:
    """Chi-square of 4,000 draws against the four probabilities, at a level that a right sampler fails once in 1e5."""
    files = BankFiles.of(tmp_path / "bank")
    bank = write_bank(files.plan, [a_question()], draw_count=4000)

    answer_bank(bank, FakeEngine(Mode.EXACT_GUIDED), files)

    counts = Counter(result.text for result in files.read_results())
    found = [counts[answer] for answer in bank.question(0).answers]
    expected = [4000 * probability for probability in (0.1, 0.2, 0.3, 0.4)]
    assert sum((one - other) ** 2 / other for one, other in zip(found, expected, strict=True)) < 25.9


def test_more_draws_leave_the_first_ones_as_they_were(tmp_path: Path) -> None:
    """Draw d is a function of its own identity, so a bank can be enlarged without being another experiment."""
    texts = []
    for count in (4, 32):
        files = BankFiles.of(tmp_path / str(count))
        bank = write_bank(files.plan, map(a_question, range(5)), draw_count=count)
        answer_bank(bank, FakeEngine(Mode.EXACT_GUIDED), files)
        texts.append({(each.family_id, each.draw): each.text for each in files.read_results()})

    assert texts[0] == {key: text for key, text in texts[1].items() if key[1] < 4}


def test_another_bank_seed_draws_other_answers(tmp_path: Path) -> None:
    """Base and adapted banks share a seed on purpose; two banks that must differ, do."""
    texts = []
    for seed in (1, 2):
        files = BankFiles.of(tmp_path / str(seed))
        bank = write_bank(files.plan, map(a_question, range(20)), bank_seed=seed)
        answer_bank(bank, FakeEngine(Mode.EXACT_GUIDED), files)
        texts.append([result.text for result in files.read_results()])

    assert texts[0] != texts[1]


def test_a_family_in_two_rings_is_two_questions(tmp_path: Path) -> None:
    """How much transfers to a reworded form is read off draws with seeds of their own."""
    files = BankFiles.of(tmp_path / "bank")
    asked = [a_question(place, family_id="f-01", ring=ring) for place, ring in enumerate((Ring.R0, Ring.R1))]

    answer_bank(write_bank(files.plan, asked, draw_count=2), FakeEngine(), files)

    assert [(each.ring, each.draw) for each in files.read_results()] == [
        (Ring.R0, 0), (Ring.R0, 1), (Ring.R1, 0), (Ring.R1, 1),
    ]  # fmt: skip


def test_bank_killed_at_twenty_random_points_is_answered_exactly_once(tmp_path: Path) -> None:
    """SIGKILL, twenty times: nothing lost, nothing asked again after its result was on disk, and the same bytes."""
    files = BankFiles.of(tmp_path / "bank")
    bank = write_bank(files.plan, map(a_question, range(300)), draw_count=8)
    reference = dataclasses.replace(BankFiles.of(tmp_path / "reference"), plan=files.plan)
    answer_bank(bank, FakeEngine(), reference)
    package = tmp_path / "path" / "tests_inference"
    package.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("builders.py"), package)
    asked, rng, killed = tmp_path / "asked", random.Random(7), 0
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(package.parent), *filter(None, sys.path)])}
    command = [sys.executable, "-c", KILLED_RUN, str(tmp_path / "bank"), str(asked)]
    for _ in range(20):
        durable = _cases(files.results)
        already = asked.read_text().splitlines() if asked.exists() else []
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None and _line_count(asked) <= len(already):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.08))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        again = {int(line) for line in asked.read_text().splitlines()[len(already) :]}
        assert not again & durable
    assert killed >= 15  # the attack happened

    answer_bank(bank, FakeEngine(), files)

    assert files.results.read_bytes() == reference.results.read_bytes()
    assert files.attempts.read_bytes() == reference.attempts.read_bytes()
    assert verify_bank(files).case_count == 2400


def test_shipped_model_answers_the_same_bytes_after_a_resume(
    engine: ExactEngine, bank: FrozenBank, tmp_path: Path
) -> None:
    """A real model, in two halves of an odd length against one go."""
    whole, halves = (dataclasses.replace(BankFiles.of(tmp_path / name), plan=bank.path) for name in ("whole", "halves"))
    answer_bank(bank, engine, whole)
    cut = whole.attempts.read_bytes().splitlines(keepends=True)[:12]
    halves.attempts.write_bytes(b"".join(cut)[:-7])

    answer_bank(bank, engine, halves)

    assert halves.results.read_bytes() == whole.results.read_bytes()
    assert halves.attempts.read_bytes() == whole.attempts.read_bytes()


def _line_count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _cases(results: Path) -> set[int]:
    lines = results.read_bytes().split(b"\n")[1:-1] if results.exists() else []
    return {json.loads(line)["case"] for line in lines}
