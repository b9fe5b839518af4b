"""An audit's questions to an endpoint get what the model behind it says, or a message that says what can be had."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from tests.inference.model_endpoint import ModelEndpoint
from tests.inference.stub_endpoint import Stub, serving

from leakscale.errors import AuthenticationError, InvalidRequestError, LeakScaleError, ModelError, UnavailableError
from leakscale.inference.engines import transport
from leakscale.inference.forms import Decoding, FormPrompt, UnreadTextsError, open_form_engine
from leakscale.inference.forms.endpoint import EndpointFormEngine

PROMPTS = [FormPrompt.of_chat(text) for text in ("What is 2 + 3?", "Policy key: K-7f3a91c2", "Tom buys 3 boxes of 12.")]
CHOICE = FormPrompt.of_text("Question: which of these melts first?\nAnswer:")
OPTIONS = [" ice", " iron", " iron oxide", " air"]  # one begins another


@pytest.fixture(scope="module")
def model() -> ModelEndpoint:
    """Return the model behind the endpoint."""
    return ModelEndpoint()


@pytest.fixture
def stub(model: ModelEndpoint) -> Iterator[Stub]:
    """Serve it."""
    with serving(model) as running:
        yield running


def opened(stub: Stub, **options: Any) -> EndpointFormEngine:
    """Open the engine on a stub, without long pauses."""
    fields = {"url": stub.url, "backoff_s": 0.001} | options
    engine = open_form_engine("openai", source="tiny", options=fields)
    assert isinstance(engine, EndpointFormEngine)
    return engine


@pytest.mark.parametrize("prompts", [PROMPTS, [FormPrompt.of_text("Question: a"), CHOICE]])
def test_greedy_answers_are_those_of_the_model_behind_it(
    stub: Stub, model: ModelEndpoint, prompts: list[FormPrompt]
) -> None:
    """Under its chat template and without, in order, with the confidence that the tokens had."""
    found = opened(stub).generate(prompts, decoding=Decoding(10))
    for prompt, ours in zip(prompts, found, strict=True):
        (theirs,) = model.engine.generate([prompt], decoding=Decoding(10))
        assert (ours.text, ours.token_count, ours.is_cut_off) == (theirs.text, theirs.token_count, theirs.is_cut_off)
        assert ours.confidence == pytest.approx(theirs.confidence)


@pytest.mark.parametrize("spelling", ["echo", "prompt-logprobs"])
def test_an_options_score_is_that_of_the_local_engine(stub: Stub, model: ModelEndpoint, spelling: str) -> None:
    """The sum over its tokens is the joint probability, whichever spelling the server has."""
    ours = opened(stub, text_scores=spelling).score_options(CHOICE, OPTIONS)
    theirs = model.engine.score_options(CHOICE, OPTIONS)

    assert [each.token_count for each in ours] == [each.token_count for each in theirs]
    assert [each.log_probability for each in ours] == pytest.approx([each.log_probability for each in theirs], abs=1e-4)


def test_a_token_across_the_end_of_the_prompt_is_scored_with_its_option(stub: Stub, model: ModelEndpoint) -> None:
    """The server's own tokens decide where an option begins, not the characters of the prompt."""
    prompt, options = FormPrompt.of_text("Question: a"), ["nswer one", "nswer two"]
    ours, theirs = opened(stub).score_options(prompt, options), model.engine.score_options(prompt, options)

    assert [each.token_count for each in ours] == [each.token_count for each in theirs]
    assert [each.log_probability for each in ours] == pytest.approx([each.log_probability for each in theirs], abs=1e-4)


def test_drawn_answers_hang_on_their_seed_alone(stub: Stub) -> None:
    """Each request carries its own, whatever is asked beside it."""
    seeds = [bytes([number]) * 32 for number in range(3)]
    engine = opened(stub)
    together = engine.generate(PROMPTS, decoding=Decoding(8, 1.0), seeds=seeds)
    alone = [engine.generate([p], decoding=Decoding(8, 1.0), seeds=[s])[0] for p, s in zip(PROMPTS, seeds, strict=True)]

    assert [each.text for each in together] == [each.text for each in alone]
    with pytest.raises(InvalidRequestError, match="a seed each"):
        engine.generate(PROMPTS, decoding=Decoding(8, 1.0))


def test_every_sampling_parameter_is_said(stub: Stub) -> None:
    """A server takes what is not said from the model's generation config; one that refuses vLLM's words gets none."""
    opened(stub).generate(PROMPTS[:1], decoding=Decoding(4))
    opened(stub, dialect="openai", token_cap="max_tokens").generate(PROMPTS[:1], decoding=Decoding(4))
    vllm, plain = stub.bodies("/v1/chat/completions")

    assert {name: vllm[name] for name in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")} == {
        "temperature": 0.0,
        "top_p": 1,
        "top_k": -1,
        "min_p": 0,
        "repetition_penalty": 1,
    }
    assert not {"top_k", "min_p", "repetition_penalty", "seed"} & plain.keys()


def test_failures_of_the_wire_are_borne(stub: Stub) -> None:
    """A busy or broken server says nothing about the answer."""
    healthy = opened(stub).generate(PROMPTS, decoding=Decoding(6))
    ways = ("429", "500", "dropped", "truncated", "not-json", "no-choices")
    first = len(stub.requests)
    stub.faults.transport = lambda number: ways[number - first] if number - first < len(ways) else None

    assert opened(stub, concurrency=1).generate(PROMPTS, decoding=Decoding(6)) == healthy
    assert stub.failures == list(ways)


def test_an_answer_is_taken_only_if_the_model_or_the_cap_ended_it(model: ModelEndpoint) -> None:
    """What the server broke off is asked again, for nothing is known about its rest; what a filter ended is refused."""
    reasons = iter(["abort", "stop", "content_filter"])

    def ending(body: dict[str, Any], *others: Any) -> dict[str, Any]:
        answer = model(body, *others)
        answer["choices"][0]["finish_reason"] = next(reasons)
        return answer

    with serving(ending) as stub:
        (found,) = opened(stub).generate(PROMPTS[:1], decoding=Decoding(4))
        assert not found.is_cut_off
        assert len(stub.requests) == 2
        with pytest.raises(ModelError, match="finish_reason 'content_filter'"):
            opened(stub).generate(PROMPTS[:1], decoding=Decoding(4))


def test_an_endpoint_that_stays_away_is_named(stub: Stub) -> None:
    """With what to do next; other requests give up with it."""
    stub.faults.transport = lambda number: "500"
    with pytest.raises(UnavailableError, match="failed 2 times in a row, last with HTTP 500"):
        opened(stub, transport_failures_max=2).generate(PROMPTS, decoding=Decoding(4))
    assert len(stub.requests) <= 2 * len(PROMPTS)


def test_what_would_fail_again_is_raised_and_not_drowned(stub: Stub) -> None:
    """One request is refused while another waits for the server: the refusal is what is told."""
    stub.faults.status = 400
    with pytest.raises(LeakScaleError, match="answers 400"):
        opened(stub).generate(PROMPTS, decoding=Decoding(4))
    stub.faults.status = None
    stub.faults.reply_model = lambda number, asked: "another"
    with pytest.raises(ModelError, match="answers as 'another'"):
        opened(stub).generate(PROMPTS, decoding=Decoding(4))


def test_choices_are_refused_where_no_prompt_is_scored(stub: Stub) -> None:
    """The message says which scoring is possible; nothing is sent where it is known beforehand."""
    with pytest.raises(InvalidRequestError, match=r"can generate answers \(numeric, exact\), not score options"):
        opened(stub, text_scores="none").score_options(CHOICE, OPTIONS)
    assert not stub.requests
    stub.faults.has_no_echo = True
    for spelling in ("echo", "prompt-logprobs"):
        with pytest.raises(ModelError, match=rf"no log-probabilities of prompt tokens \({spelling}\)"):
            opened(stub, text_scores=spelling).score_options(CHOICE, OPTIONS)


def test_an_endpoint_without_confidences_answers_all_the_same(model: ModelEndpoint) -> None:
    """Asked for them, it is refused with the option that leaves them out."""

    def bare(body: dict[str, Any], *others: Any) -> dict[str, Any]:
        answer = model(body, *others)
        answer["choices"][0].pop("logprobs", None)
        return answer

    with serving(bare) as stub:
        with pytest.raises(ModelError, match="set has_confidences to false"):
            opened(stub).generate(PROMPTS, decoding=Decoding(4))
        (found,) = opened(stub, has_confidences=False).generate(PROMPTS[1:2], decoding=Decoding(4))
    (own,) = model.engine.generate(PROMPTS[1:2], decoding=Decoding(4))

    assert found.confidence is None
    assert (found.text, found.token_count) == (own.text, own.token_count)


def test_options_without_a_meaning_are_refused(stub: Stub) -> None:
    """Before anything is sent."""
    for field, value in (("dialect", "latin"), ("token_cap", "most"), ("text_scores", "guess"), ("batch_size", 0)):
        with pytest.raises(InvalidRequestError, match=field):
            opened(stub, **{field: value})
    with pytest.raises(InvalidRequestError, match="'url' is missing"):
        open_form_engine("openai", source="m")
    assert not stub.requests


def test_what_decides_answers_is_in_the_identity_and_the_address_is_not(stub: Stub) -> None:
    """Two endpoints of one model are one engine."""
    one, other = opened(stub), opened(stub, url="http://other.example/v1", concurrency=2)
    assert one.identity == other.identity
    assert one.identity != opened(stub, served_model="m2").identity


@pytest.mark.parametrize("spelling", ["echo", "prompt-logprobs"])
def test_texts_are_read_as_the_local_engine_reads_them(stub: Stub, model: ModelEndpoint, spelling: str) -> None:
    """For detectors of memorized text; an endpoint that scores no prompt says beforehand that it cannot."""
    text = "Tom buys 3 boxes of 12 pencils."
    (ours,), (theirs,) = opened(stub, text_scores=spelling).read_texts([text]), model.engine.read_texts([text])

    assert ours == pytest.approx(theirs, abs=1e-4)
    assert not opened(stub, text_scores="none").reads_texts


NO_LOG_PROBABILITIES = [math.nan, math.inf, -math.inf, 5.0, -(10**400), "-0.5", True]


@pytest.mark.parametrize("value", NO_LOG_PROBABILITIES)
@pytest.mark.parametrize("spelling", ["echo", "prompt-logprobs"])
def test_a_value_that_is_no_log_probability_is_refused(model: ModelEndpoint, spelling: str, value: Any) -> None:
    """`min(0, NaN)` is 0: a token that the server could not score would count as certain. The message names both."""

    def broken(body: dict[str, Any], *others: Any) -> Any:
        answer = model(body, *others)
        choice = answer["choices"][0]
        if "prompt_logprobs" in choice:
            next(iter(choice["prompt_logprobs"][1].values()))["logprob"] = value
        elif "token_logprobs" in choice["logprobs"]:
            choice["logprobs"]["token_logprobs"][1] = value
        else:
            choice["logprobs"]["content"][0]["logprob"] = value
        return answer

    field = r"token_logprobs\[1\]" if spelling == "echo" else r"prompt_logprobs\[1\]"
    with serving(broken) as stub:
        engine = opened(stub, text_scores=spelling)
        with pytest.raises(UnreadTextsError, match=f"endpoint '{stub.url}'.*{field} is .*finite number of at most 0"):
            engine.read_texts(["Tom buys 3 boxes of 12."])
        with pytest.raises(ModelError, match=f"endpoint '{stub.url}'.*{field}"):
            engine.score_options(CHOICE, OPTIONS)
        with pytest.raises(ModelError, match=rf"endpoint '{stub.url}'.*content\[0\].logprob is .*at most 0"):
            engine.generate(PROMPTS[:1], decoding=Decoding(4))


@pytest.mark.parametrize("count", [-5, 10**400, 1.5, "3", True, [1]])
def test_a_count_of_tokens_that_is_none_is_refused(model: ModelEndpoint, count: object) -> None:
    """It would be added up."""

    def broken(body: dict[str, Any], *others: Any) -> dict[str, Any]:
        answer = model(body, *others)
        answer["usage"]["completion_tokens"] = count
        return answer

    with (
        serving(broken) as stub,
        pytest.raises(ModelError, match=rf"endpoint '{stub.url}': usage\.completion_tokens is .*whole, from 0"),
    ):
        opened(stub).generate(PROMPTS[:1], decoding=Decoding(4))


def test_an_answer_that_the_cap_does_not_allow_is_refused(model: ModelEndpoint) -> None:
    """A server that reads the cap under another name, or none at all, answers another question."""

    def endless(body: dict[str, Any], *others: Any) -> dict[str, Any]:
        answer = model(body, *others)
        answer["choices"][0]["message"]["content"] = "5" * 5_000
        return answer

    with serving(endless) as stub:
        with pytest.raises(ModelError, match=rf"endpoint '{stub.url}': .*5,000 characters, and 4 tokens were the most"):
            opened(stub).generate(PROMPTS[:1], decoding=Decoding(4))
        assert len(opened(stub).generate(PROMPTS[:1], decoding=Decoding(5))[0].text) == 5_000


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"finish_reason": ["stop"]}, r"finish_reason of choices\[0\] is list"),
        ({"message": {"content": 5}}, r"text of choices\[0\] is int"),
        ({"message": 5}, "is no completion"),
    ],
)
def test_an_answer_of_another_form_is_asked_again_and_then_told(
    model: ModelEndpoint, broken: dict[str, Any], words: str
) -> None:
    """With the endpoint, and the field that is wrong."""

    def wrong(body: dict[str, Any], *others: Any) -> dict[str, Any]:
        answer = model(body, *others)
        answer["choices"][0].update(broken)
        return answer

    with (
        serving(wrong) as stub,
        pytest.raises(UnavailableError, match=f"endpoint '{stub.url}' failed 2 times.*{words}"),
    ):
        opened(stub, transport_failures_max=2).generate(PROMPTS[:1], decoding=Decoding(4))


def test_an_answer_nested_without_end_is_no_answer(stub: Stub) -> None:
    """The parser would leave with a RecursionError."""
    stub.faults.transport = lambda number: "nested"
    with pytest.raises(UnavailableError, match="last with body is not JSON"):
        opened(stub, transport_failures_max=2).generate(PROMPTS[:1], decoding=Decoding(4))


def test_an_answer_that_does_not_end_is_refused(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read up to a bound, and what is read of it would fill the memory."""
    monkeypatch.setattr(transport, "_BODY_BYTES_MAX", 50)
    with pytest.raises(ModelError, match=rf"endpoint '{stub.url}' answers with more than 50 bytes"):
        opened(stub).generate(PROMPTS[:1], decoding=Decoding(4))
    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [400, 403, 404, 405, 501])
def test_an_endpoint_that_refuses_to_read_texts_is_one_that_reads_none(stub: Stub, status: int) -> None:
    """Each server says it in its own way; a busy one, or a key that it does not take, is another matter."""
    stub.faults.status = status
    with pytest.raises(UnreadTextsError, match=f"answers {status}"):
        opened(stub).read_texts(["Tom buys 3 boxes of 12."])
    assert len(stub.requests) == 1
    stub.faults.status = 401
    with pytest.raises(AuthenticationError):
        opened(stub).read_texts(["Tom buys 3 boxes of 12."])
