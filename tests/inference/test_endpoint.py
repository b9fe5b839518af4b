"""An endpoint is asked for exactly what is meant, its failures are told apart, and its tricks are seen first."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leakscale.errors import (
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    LeakScaleError,
    ModelError,
    NotFoundError,
    PermissionDeniedError,
    UnavailableError,
)
from leakscale.inference import BankFiles, FrozenBank, Mode, Outcome, answer_bank, open_engine, verify_bank
from leakscale.inference.answering import preflight_questions
from leakscale.inference.attempts import Attempt
from leakscale.inference.engines.endpoint import EndpointEngine, EndpointOptions

from .builders import a_question, write_bank
from .stub_endpoint import Faults, Stub, serving

TRANSPORT_FAULTS = ("429", "500", "dropped", "truncated", "not-json", "no-choices")


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A healthy server."""
    with serving() as running:
        yield running


@pytest.fixture
def files(tmp_path: Path) -> BankFiles:
    """A frozen bank of 20 questions and 4 draws, unanswered."""
    found = BankFiles.of(tmp_path / "bank")
    write_bank(found.plan, map(a_question, range(20)))
    return found


@pytest.fixture
def bank(files: BankFiles) -> FrozenBank:
    """The frozen bank."""
    return FrozenBank(files.plan)


def an_engine(stub: Stub, **options: Any) -> EndpointEngine:
    """Open a base engine that does not wait long."""
    chosen: dict[str, Any] = {"url": stub.url, "backoff_s": 0.001, "timeout_s": 20.0, "concurrency": 4} | options
    return EndpointEngine("base", adapter=None, options=EndpointOptions(**chosen))


def adapted(stub: Stub, monkeypatch: pytest.MonkeyPatch, strength: float = 1.0) -> EndpointEngine:
    """Open an engine on the served adapter, whose folder is taken as read."""
    monkeypatch.setattr("leakscale.inference.engines.endpoint.adapter_facts", lambda folder: ("d" * 64, strength))
    options = EndpointOptions(url=stub.url, served_adapter="adapted", backoff_s=0.001)
    return EndpointEngine("base", adapter=Path("adapter"), options=options)


def by_name(engine: EndpointEngine, bank: FrozenBank) -> dict[str, bool]:
    """Return which preflight checks passed."""
    report = engine.preflight([bank.question(index) for index in range(3)])
    return {check.name: check.passed for check in report.checks}


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_request_says_everything_that_decides_the_answer(stub: Stub, bank: FrozenBank) -> None:
    """What is not said, a server takes from the model's generation config, and samples another distribution."""
    list(an_engine(stub).answer([bank.case(5)]))

    (body,) = stub.requests
    assert body["path"] == "/v1/completions"
    assert body["prompt"] == list(bank.question(1).prompt_ids)
    assert body["structured_outputs"] == {"choice": list(bank.question(1).answers)}
    assert body["seed"] == int.from_bytes(bank.case(5).seed[:8], "big") >> 11
    assert (body["temperature"], body["top_p"], body["top_k"], body["min_p"]) == (1, 1, -1, 0)
    assert body["repetition_penalty"] == 1
    assert (body["model"], body["max_tokens"]) == ("base", 64)


def test_every_case_has_a_seed_of_its_own_that_json_can_hold(stub: Stub, bank: FrozenBank) -> None:
    """Readers round integers above 2**53, and two seeds could become one."""
    list(an_engine(stub).answer(bank.cases()))

    seeds = [body["seed"] for body in stub.requests]
    assert len(set(seeds)) == bank.case_count == 80
    assert all(0 <= seed < 2**53 for seed in seeds)


@pytest.mark.parametrize("constraint", ["structured-outputs", "guided-choice", "json-schema"])
@pytest.mark.parametrize("prompts", ["tokens", "messages"])
def test_every_dialect_gets_one_of_the_four_strings(
    stub: Stub, bank: FrozenBank, constraint: str, prompts: str
) -> None:
    """Old and new vLLM and the OpenAI API spell the same constraint differently."""
    engine = an_engine(stub, constraint=constraint, prompts=prompts)

    attempts = list(engine.answer(bank.cases()))

    assert all(attempt.text in bank.case(attempt.case).question.answers for attempt in attempts)
    assert {body["path"] for body in stub.requests} == {
        "/v1/completions" if prompts == "tokens" else "/v1/chat/completions"
    }


def test_key_of_the_environment_is_sent_and_kept_out_of_the_identity(
    stub: Stub, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The identity is written into every log."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    engine = an_engine(stub)
    list(engine.answer([bank.case(0)]))

    assert stub.requests[0]["authorization"] == "Bearer sk-secret"
    assert "secret" not in str(dict(engine.identity))
    assert stub.url not in str(dict(engine.identity))


# --- what may go wrong on the way ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", TRANSPORT_FAULTS)
def test_transport_failure_is_recorded_and_asked_again(stub: Stub, bank: FrozenBank, fault: str) -> None:
    """It says nothing about what the model would have answered."""
    healthy = list(an_engine(stub).answer([bank.case(3)]))
    failing = set(range(len(stub.requests), len(stub.requests) + 3))
    stub.faults.transport = lambda number: fault if number in failing else None

    attempts = list(an_engine(stub).answer([bank.case(3)]))

    assert stub.failures == [fault] * 3  # the attack happened
    assert [attempt.outcome for attempt in attempts] == [Outcome.TRANSPORT] * 3 + [Outcome.COMPLETED]
    assert all(attempt.detail for attempt in attempts[:3])
    assert attempts[3:] == healthy


def test_bank_answered_through_a_storm_of_faults_has_the_same_results(
    stub: Stub, bank: FrozenBank, files: BankFiles, tmp_path: Path
) -> None:
    """Every third request fails in some way, in random order; no answer is lost, repeated or changed."""
    calm = BankFiles(files.plan, tmp_path / "a", tmp_path / "r", tmp_path / "b")
    answer_bank(bank, an_engine(stub), calm)
    rng = random.Random(3)
    kinds = [rng.choice(TRANSPORT_FAULTS) if rng.random() < 0.3 else None for _ in range(10_000)]
    stub.faults.transport = lambda number: kinds[number]

    answer_bank(bank, an_engine(stub, concurrency=8, transport_failures_max=50), files)

    assert set(stub.failures) == set(TRANSPORT_FAULTS)  # the attack happened
    assert files.results.read_bytes() == calm.results.read_bytes()
    assert verify_bank(files).attempt_count > 80


@pytest.mark.parametrize("concurrency", [1, 3, 16, 64])
def test_results_do_not_depend_on_concurrency(
    stub: Stub, bank: FrozenBank, files: BankFiles, tmp_path: Path, concurrency: int
) -> None:
    """Who ends first is the network's affair."""
    alone = BankFiles(files.plan, tmp_path / "a", tmp_path / "r", tmp_path / "b")
    answer_bank(bank, an_engine(stub, concurrency=1), alone)

    answer_bank(bank, an_engine(stub, concurrency=concurrency), files)

    assert files.results.read_bytes() == alone.results.read_bytes()


def test_endpoint_that_stays_away_is_unavailable_and_the_bank_goes_on_later(
    stub: Stub, bank: FrozenBank, files: BankFiles
) -> None:
    """The failed attempts are on record; what was answered before is not asked again."""
    engine = an_engine(stub, transport_failures_max=3)
    engine.preflight(preflight_questions(bank, range(bank.case_count))).require()
    asked = len(stub.requests)
    stub.faults.transport = lambda number: "500" if number >= 2 * asked + 40 else None

    with pytest.raises(UnavailableError, match=r"failed 3 times in a row, last with HTTP 500.*goes on from here"):
        answer_bank(bank, engine, files)
    answered = {attempt.case for attempt in files.read_attempts() if attempt.is_terminal}
    failed = Counter(attempt.case for attempt in files.read_attempts() if attempt.outcome is Outcome.TRANSPORT)
    stub.faults, stub.requests = Faults(), []
    answer_bank(bank, engine, files)

    assert 20 < len(answered) < 80
    assert max(failed.values()) == 3
    assert verify_bank(files).case_count == 80
    prompts_asked = [tuple(body["prompt"]) for body in stub.bodies("/v1/completions") if "echo" not in body]
    assert len(prompts_asked) >= 80 - len(answered)


@pytest.mark.parametrize(
    ("status", "raised", "next_step"),
    [
        (400, InvalidRequestError, "change the engine's options"),
        (401, AuthenticationError, "set NO_SUCH_KEY to a key that it accepts; none was sent, for it is not set"),
        (403, PermissionDeniedError, "give NO_SUCH_KEY a key that may use this model"),
        (404, NotFoundError, "check the URL, and that served_model and served_adapter are names that it serves"),
        (422, InvalidRequestError, "change the engine's options"),
    ],
)
def test_refusal_is_an_error_and_is_not_asked_again(
    stub: Stub, bank: FrozenBank, status: int, raised: type[LeakScaleError], next_step: str
) -> None:
    """A wrong key or model name stays wrong; the endpoint's own words are passed on in one line."""
    stub.faults.status = status

    with pytest.raises(raised, match=rf"answers {status}: no such.*; {next_step}"):
        list(an_engine(stub, concurrency=1, api_key_variable="NO_SUCH_KEY").answer(bank.cases()))
    assert len(stub.requests) == 1


def test_nobody_listening_is_unavailable(bank: FrozenBank) -> None:
    """The first thing that goes wrong for everybody."""
    with serving() as stopped:
        pass

    with pytest.raises(UnavailableError, match="ConnectError"):
        list(an_engine(stopped, transport_failures_max=2).answer([bank.case(0)]))


def test_reader_that_leaves_early_stops_the_asking(stub: Stub, bank: FrozenBank) -> None:
    """Ctrl-C must not go on spending."""
    attempts = an_engine(stub).answer(bank.cases())

    next(attempts)
    attempts.close()  # type: ignore[attr-defined]

    assert len(stub.requests) < 20


# --- what is terminal ------------------------------------------------------------------------------------------------


def test_malformed_answer_is_asked_once(stub: Stub, bank: FrozenBank, files: BankFiles) -> None:
    """Asking until it is well-formed would select answers."""
    engine = an_engine(stub, constraint="none")

    answer_bank(bank, engine, files)

    results = list(files.read_results())
    assert {result.text for result in results} == {"The first one, I think."}
    assert {result.mode for result in results} == {Mode.SAMPLED_FREE}
    assert {attempt.outcome for attempt in files.read_attempts()} == {Outcome.COMPLETED}


def test_whitespace_loop_is_cut_twice_and_then_final(stub: Stub, bank: FrozenBank) -> None:
    """The registered transition, and no third try."""
    stub.faults.loops_in_whitespace = True

    attempts = list(an_engine(stub, constraint="none", concurrency=1).answer([bank.case(0)]))

    assert [(attempt.outcome, attempt.tier, attempt.is_terminal) for attempt in attempts] == [
        (Outcome.LENGTH, 0, False),
        (Outcome.LENGTH, 1, True),
    ]
    assert [body["max_tokens"] for body in stub.requests] == [64, 256]
    assert len({body["seed"] for body in stub.requests}) == 1


def test_case_that_was_cut_off_before_a_kill_goes_on_in_the_second_tier(stub: Stub, bank: FrozenBank) -> None:
    """The first tier is not asked twice."""
    attempts = list(an_engine(stub).answer([bank.case(0, tier=1)]))

    assert attempts == [Attempt(0, Outcome.COMPLETED, tier=1, text=attempts[0].text)]
    assert stub.requests[0]["max_tokens"] == 256


@pytest.mark.parametrize("reason", [None, "abort", "error"])
def test_answer_that_the_server_broke_off_is_asked_again(stub: Stub, bank: FrozenBank, reason: str | None) -> None:
    """Its text is what had been written when the request was dropped, and would count as malformed."""
    stub.faults.finish_reason = lambda number: reason if number < 2 else "stop"

    attempts = list(an_engine(stub).answer([bank.case(3)]))

    assert [attempt.outcome for attempt in attempts] == [Outcome.TRANSPORT] * 2 + [Outcome.COMPLETED]
    assert attempts[0].detail == f"answer broken off: finish_reason {reason or 'missing'}"
    assert attempts[0].text is None


@pytest.mark.parametrize("reason", ["content_filter", "tool_calls", "function_call", "repetition", "anything else"])
def test_answer_that_something_else_than_the_model_ended_stops_the_bank(
    stub: Stub, bank: FrozenBank, files: BankFiles, reason: str
) -> None:
    """Asked again it would end in the same way, and taken as an answer it would count as wrong."""
    engine = an_engine(stub)
    engine.preflight(preflight_questions(bank, range(bank.case_count))).require()
    begun = len(stub.requests)
    stub.faults.finish_reason = lambda number: reason if number >= 2 * begun + 10 else "stop"

    with pytest.raises(ModelError, match=f"finish_reason '{reason}', and only 'stop' and 'length' are the model's own"):
        answer_bank(bank, engine, files)
    assert all(attempt.text in bank.case(attempt.case).question.answers for attempt in files.read_attempts())


# --- what is seen on the way ------------------------------------------------------------------------------------------


def test_constraint_that_is_lost_on_the_way_stops_the_bank_and_keeps_what_was_answered(
    stub: Stub, bank: FrozenBank, files: BankFiles
) -> None:
    """A server started again without the constraint answers the rest as willingly, and all of it is malformed."""
    engine = an_engine(stub)
    engine.preflight(preflight_questions(bank, range(bank.case_count))).require()
    stub.faults.ignores_constraint_from = 2 * len(stub.requests) + 20

    with pytest.raises(ModelError, match=r"\d of \d+ answers of this run are none of their four.* allows 5: .*goes on"):
        answer_bank(bank, engine, files, invalid_max=5)
    before = list(files.read_attempts())
    stub.faults.ignores_constraint_from = None
    binding = answer_bank(bank, engine, files, invalid_max=5)

    malformed = [each for each in before if each.text not in bank.case(each.case).question.answers]
    assert len(before) - len(malformed) == 20
    assert 6 <= len(malformed) <= 6 + engine.options.concurrency
    assert list(files.read_attempts())[: len(before)] == before
    assert binding.valid_count == 80 - len(malformed)
    assert binding.validity == f"{80 - len(malformed)} of 80 answers valid"
    assert verify_bank(files) == binding


def test_run_with_another_allowance_is_another_run(stub: Stub, bank: FrozenBank, files: BankFiles) -> None:
    """How many malformed answers are borne is registered before the first one is seen."""
    answer_bank(bank, an_engine(stub), files)

    with pytest.raises(ConflictError, match="invalid_max 16, now 99"):
        answer_bank(bank, an_engine(stub), files, invalid_max=99)


def test_waiting_for_an_endpoint_is_said_at_once(bank: FrozenBank, caplog: pytest.LogCaptureFixture) -> None:
    """A minute of silence looks like work."""
    caplog.set_level("INFO", logger="leakscale")
    with serving() as stopped:
        pass

    with pytest.raises(UnavailableError):
        an_engine(stopped, transport_failures_max=3, backoff_s=0.002).preflight([bank.question(0)])

    first, second = (record.getMessage() for record in caplog.records[:2])
    assert first == (
        f"asking endpoint '{stopped.url}' for model 'base': each request up to 3 times, 20 s at most for each"
    )
    assert second.startswith(
        f"endpoint '{stopped.url}' failed with ConnectError, try 1 of 3; again in 0.0 s, and given"
    )


# --- what is seen before the first case -----------------------------------------------------------------------------


def test_healthy_endpoint_passes_every_check(stub: Stub, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the checks below would prove nothing."""
    found = by_name(adapted(stub, monkeypatch), bank)

    assert found == dict.fromkeys(
        ["one-bos", "choice-constraint", "seed-repeatable", "order-independent", "adapter-active"], True
    )


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ({"ignores_constraint": True}, "choice-constraint"),
        ({"loops_in_whitespace": True}, "choice-constraint"),
        ({"ignores_adapter": True}, "adapter-active"),
        ({"ignores_seed": True}, "seed-repeatable"),
        ({"adds_a_bos": True}, "one-bos"),
        ({"shifts_by_order": 1e-3}, "order-independent"),
        ({"has_no_echo": True}, "order-independent"),
        ({"has_no_echo": True}, "adapter-active"),
    ],
)
def test_each_trick_is_caught_by_its_check(
    stub: Stub, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any], check: str
) -> None:
    """Each is a server that answers as willingly as a healthy one."""
    engine = adapted(stub, monkeypatch)
    assert by_name(engine, bank)[check]

    stub.faults = Faults(**fault)

    assert not by_name(engine, bank)[check]


def test_adapter_of_strength_zero_must_change_nothing(
    stub: Stub, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that serves another adapter under its name is found by what it should not do."""
    engine = adapted(stub, monkeypatch, strength=0.0)
    acting = by_name(engine, bank)["adapter-active"]

    stub.faults.ignores_adapter = True

    assert (acting, by_name(engine, bank)["adapter-active"]) == (False, True)


def test_bank_is_not_begun_on_an_endpoint_that_ignores_the_constraint(
    stub: Stub, bank: FrozenBank, files: BankFiles
) -> None:
    """The user reads which check failed and by how much, and pays for a dozen requests."""
    stub.faults.ignores_constraint = True

    with pytest.raises(ModelError, match=r"choice-constraint \(\d+ of \d+ draws are none of the four answers\)"):
        answer_bank(bank, an_engine(stub), files)
    assert not files.attempts.exists()
    assert not files.results.exists()


def test_endpoint_without_log_probabilities_takes_a_base_bank_only(
    stub: Stub, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be tried is said; an adapter that cannot be tried is refused."""
    stub.faults.has_no_echo = True
    monkeypatch.setattr("leakscale.inference.engines.endpoint.adapter_facts", lambda folder: ("d" * 64, 1.0))
    options = EndpointOptions(url=stub.url, served_adapter="adapted", has_log_probabilities=False)

    base = by_name(an_engine(stub, has_log_probabilities=False), bank)
    found = by_name(EndpointEngine("base", adapter=Path("adapter"), options=options), bank)

    assert all(base.values())
    assert [name for name, passed in found.items() if not passed] == ["adapter-active"]


def test_bank_is_not_begun_on_an_endpoint_that_answers_as_another_model(
    stub: Stub, bank: FrozenBank, files: BankFiles
) -> None:
    """A gateway that routes to what it has gives a whole bank of another model's answers."""
    stub.faults.reply_model = lambda number, asked: "other/model"

    with pytest.raises(ModelError, match=r"asked for model 'base' and answers as 'other/model'; set served_model"):
        answer_bank(bank, an_engine(stub), files)
    assert not files.attempts.exists()


def test_run_ends_where_the_endpoint_goes_on_as_another_model(stub: Stub, bank: FrozenBank, files: BankFiles) -> None:
    """A model that was swapped in the middle leaves what was answered before, and the same command goes on."""
    engine = an_engine(stub)
    answered_by = 100
    stub.faults.reply_model = lambda number, asked: asked if number < answered_by else "swapped"

    with pytest.raises(ModelError, match="answers as 'swapped'"):
        answer_bank(bank, engine, files)
    assert 0 < len(list(files.read_attempts())) < bank.case_count
    stub.faults.reply_model = lambda number, asked: asked

    assert answer_bank(bank, engine, files).valid_count == bank.case_count


@pytest.mark.parametrize(("named", "options"), [(None, {}), ("/models/base", {"any_reply_model": True}), ("base", {})])
def test_reply_of_the_asked_model_is_taken(
    stub: Stub, bank: FrozenBank, named: str | None, options: dict[str, bool]
) -> None:
    """Some servers name no model, some a path: what is allowed by name is taken, and the files say so."""
    stub.faults.reply_model = lambda number, asked: named

    engine = an_engine(stub, **options)
    attempts = list(engine.answer(bank.cases(range(4))))

    assert [attempt.outcome for attempt in attempts] == [Outcome.COMPLETED] * 4
    assert engine.identity.get("any_reply_model", False) is bool(options)


# --- what cannot be asked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, "engine option 'url' is missing; give it, e.g. --option url=VALUE"),
        ({"url": 8000}, "'url' is 8000, a int; give a str"),
        ({"url": "http://x", "concurrency": "many"}, "'concurrency' is 'many', a str; give a int"),
        ({"url": "http://x", "has_log_probabilities": 1}, "'has_log_probabilities' is 1, a int; give a bool"),
        ({"url": "http://x", "tokens_max": True}, "'tokens_max' is True, a bool; give a int"),
        ({"url": "http://x", "prompts": "text"}, "'prompts' is 'text'; choose among tokens, messages"),
        ({"url": "http://x", "constraint": "hope"}, "'constraint' is 'hope'"),
        ({"url": "http://x", "tokens_max": 64, "tokens_max_second": 64}, "the second must be longer"),
        ({"url": "http://x", "concurrency": 0}, "'concurrency' is 0; it is at least 1"),
        ({"url": "http://x", "served_adapter": "a"}, "needs both the adapter's folder and 'served_adapter'"),
        ({"url": "http://x", "temperature": 0}, "option 'temperature' does not exist"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], rule: str) -> None:
    """Before anything is sent."""
    with pytest.raises(InvalidRequestError, match=rule):
        open_engine("openai", model="base", options=options)


def test_address_that_is_no_url_is_refused(bank: FrozenBank) -> None:
    """It would otherwise be tried eight times."""
    engine = open_engine("openai", model="base", options={"url": "localhost:8000"})

    with pytest.raises(InvalidRequestError, match="is no http URL"):
        list(engine.answer([bank.case(0)]))
