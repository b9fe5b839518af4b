"""The exact engine's cached, batched computation equals the plain one over whole sequences."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from transformers import DynamicCache

from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.rendering import encode_record
from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.inference import BankFiles, FrozenBank, Mode, Question, answer_bank, open_engine
from leakscale.inference.engines.exact import ExactEngine
from leakscale.inference.engines.local import LocalModel
from leakscale.inference.freezing import freeze_bank
from leakscale.inference.trie import followers
from leakscale.models import Domain, Family, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt

from .builders import write_bank
from .random_models import ARCHITECTURES, random_model


@pytest.fixture(params=list(Domain))
def questions(request: pytest.FixtureRequest, bank: FrozenBank) -> list[Question]:
    """Four questions of one domain."""
    return [question for question in bank.questions() if question.domain is request.param][::4]


def brute_force(model: torch.nn.Module, question: Question) -> tuple[list[float], list[float]]:
    """Return guided probabilities and log p of whole answers, from one uncached forward an answer."""
    guided, unconstrained = [], []
    for answer in question.answer_ids:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([question.prompt_ids + answer])).logits[0].double()
        rows = torch.log_softmax(logits, dim=-1)[len(question.prompt_ids) - 1 : -1]
        unconstrained.append(sum(float(rows[depth, token]) for depth, token in enumerate(answer)))
        guided.append(
            math.prod(
                float(torch.softmax(rows[depth, options], dim=0)[options.index(token)])
                for depth, token in enumerate(answer)
                for options in [followers(question.answer_ids, answer[:depth])]
            )
        )
    return guided, unconstrained


def test_distribution_equals_brute_force_over_full_sequences(
    base_model: Path, engine: ExactEngine, questions: list[Question]
) -> None:
    """Each answer in one uncached forward of its own; agreement to 1e-4 nats in float32."""
    model = open_model_folder(base_model).load(dtype="float32", attention="eager")

    for question in questions:
        found = engine.local.distribution(question)
        guided, unconstrained = brute_force(model, question)
        assert found.guided == pytest.approx(guided, rel=1e-4)
        assert found.unconstrained == pytest.approx(unconstrained, abs=1e-4)
        assert sum(found.guided) == pytest.approx(1.0)
        assert found.valid_mass <= 1.0 + 1e-9


@pytest.mark.parametrize("forward", ["own", "tree", "cache"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_distribution_equals_brute_force_on_every_architecture(
    architecture: str, forward: str, base_model: Path, families: list[Family], tmp_path: Path
) -> None:
    """Sliding windows shorter than the prompt, shared keys, soft-capped logits, whichever way it is read."""
    folder = random_model(architecture, base_model, tmp_path / "model")
    bank = freeze_bank(tmp_path / "plan", families[::6], model=folder, bank_seed=0, draw_count=1)
    opened = open_model_folder(folder)
    engine, model = ExactEngine(opened), opened.load(dtype="float32", attention="eager")
    assert engine.identity["forward"] == ("tree" if engine.local._window is not None else "shared-tree")

    if forward != "own":
        engine.local._forward = type(engine.local._forward)(forward)
    for question in bank.questions():
        guided, unconstrained = brute_force(model, question)
        found = engine.local.distribution(question)
        assert found.guided == pytest.approx(guided, rel=1e-3)
        assert found.unconstrained == pytest.approx(unconstrained, abs=1e-3)


def test_model_that_ignores_its_mask_is_read_by_its_cache(
    base_model: Path, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An architecture of tomorrow may drop what it is given; then every branch would see the others."""
    healthy = ExactEngine(open_model_folder(base_model))
    monkeypatch.setattr(LocalModel, "_masks", lambda self, tree, shared: None)

    engine = ExactEngine(open_model_folder(base_model))

    assert engine.identity["forward"] == "cache"
    found, wanted = (each.local.distribution(bank.question(0)) for each in (engine, healthy))
    assert found.guided == pytest.approx(wanted.guided, rel=1e-4)


def test_prompt_and_answers_agree_with_training_token_for_token(
    base_model: Path, families: list[Family], bank: FrozenBank
) -> None:
    """A model is exposed to one token sequence; asking about another would measure nothing."""
    tokenizer = open_model_folder(base_model).tokenizer
    by_id = {family.family_id: family for family in families}

    for question in bank.questions():
        family = by_id[question.family_id]
        for candidate, answer in zip(family.candidates, question.answer_ids, strict=True):
            record = TrainingRecord("r", TrainingSource.EXACT_PUBLIC, choice_prompt(family), candidate.answer)
            assert encode_record(tokenizer, record).ids == question.prompt_ids + answer


def test_distribution_does_not_depend_on_what_was_asked_before(engine: ExactEngine, questions: list[Question]) -> None:
    """No cache may carry over: the bits are a function of the question."""
    forward = [engine.local.distribution(question) for question in questions]
    backward = [engine.local.distribution(question) for question in questions[::-1]][::-1]

    assert forward == backward


def test_shared_beginning_is_read_once_and_the_same_whether_it_was_kept(
    base_model: Path, bank: FrozenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resumed run reads it again; its bits must be those of the run that broke off."""
    engine = ExactEngine(open_model_folder(base_model))
    read: list[tuple[int, ...]] = []
    plain = engine.local._prefixes._read

    def counted(tokens: tuple[int, ...]) -> DynamicCache:
        read.append(tokens)
        return plain(tokens)

    monkeypatch.setattr(engine.local._prefixes, "_read", counted)

    kept = [engine.local.distribution(question) for question in bank.questions()]
    count_kept = len(read)
    again = []
    for question in bank.questions():
        engine.local._prefixes._kept.clear()
        again.append(engine.local.distribution(question))

    assert (count_kept, len(read)) == (1, 1 + bank.question_count)
    assert again == kept


def test_questions_of_a_bank_begin_with_the_same_tokens(bank: FrozenBank) -> None:
    """The system turn and the user's header; never the whole prompt, for something must be read after it."""
    beginnings = {question.prompt_ids[: question.shared_length] for question in bank.questions()}

    assert len(beginnings) == 1
    assert all(10 < question.shared_length < len(question.prompt_ids) for question in bank.questions())


def test_all_draws_of_a_question_are_one_attempt(engine: ExactEngine, bank: FrozenBank) -> None:
    """What the draws are taken from is kept once, and is what the study reports without sampling noise."""
    attempts = list(engine.answer(bank.cases(range(24))))

    assert [(attempt.case, attempt.case_count) for attempt in attempts] == [(0, 8), (8, 8), (16, 8)]
    assert all(attempt.distribution is not None for attempt in attempts)


def test_mode_is_named_in_every_result(base_model: Path, bank: FrozenBank, tmp_path: Path) -> None:
    """Two ways to condition on a valid answer give two distributions; whoever reads a result must know which."""
    files = BankFiles.of(tmp_path / "bank")
    engine = open_engine("exact", model=base_model, options={"mode": "exact-conditional"})

    answer_bank(bank, engine, files, indices=range(16))

    assert {result.mode for result in files.read_results()} == {Mode.EXACT_CONDITIONAL}


def test_bank_of_another_tokenizer_is_refused(engine: ExactEngine, bank: FrozenBank, tmp_path: Path) -> None:
    """Its token ids would spell another question."""
    other = write_bank(tmp_path / "plan", bank.questions())

    with pytest.raises(ConflictError, match="frozen for tokenizer aaaaaaaaaaaa, the engine has"):
        answer_bank(other, engine, BankFiles.of(tmp_path / "bank"))


@pytest.mark.parametrize(
    ("name", "options", "rule"),
    [
        ("oracle", {}, "engine 'oracle' is not one of exact, transformers, openai"),
        ("exact", {"mode": "sampled-guided"}, "has no mode 'sampled-guided'"),
        ("exact", {"mode": "guess"}, "has no mode 'guess'"),
        ("exact", {"batch": 4}, "option 'batch' does not exist; choose among attention, device"),
    ],
)
def test_engine_that_does_not_exist_is_refused(
    base_model: Path, name: str, options: dict[str, object], rule: str
) -> None:
    """A setting that is silently ignored would be reported as if it had been used."""
    with pytest.raises(InvalidRequestError, match=rule):
        open_engine(name, model=base_model, options=options)


def test_prompts_stay_short(bank: FrozenBank) -> None:
    """The tokenizer's vocabulary covers the catalogs: adaptation's minute is counted in these tokens."""
    assert max(len(question.prompt_ids) for question in bank.questions()) <= 140
