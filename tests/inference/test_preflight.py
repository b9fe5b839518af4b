"""A local model is tried by the way it will answer: an adapter that does nothing never reaches a bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from leakscale.adaptation import AdaptationConfig, adapt
from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.strength import scale_adapter
from leakscale.errors import ConflictError, InvalidRequestError, ModelError
from leakscale.inference import BankFiles, FrozenBank, answer_bank
from leakscale.inference.engines import Check, PreflightReport
from leakscale.inference.engines.exact import ExactEngine
from leakscale.inference.engines.local import LocalOptions
from leakscale.inference.engines.preflight import parse_options
from leakscale.inference.engines.sampling import SamplingEngine
from leakscale.models import Family, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt

from .random_models import random_model


@pytest.fixture(scope="module")
def adapter(base_model: Path, families: list[Family], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter after a few steps: enough to act."""
    records = [
        TrainingRecord(f"r{number}", TrainingSource.EXACT_PUBLIC, choice_prompt(family), family.candidates[0].answer)
        for number, family in enumerate(families[:4])
    ]
    folder = tmp_path_factory.mktemp("adapters") / "adapter"
    config = AdaptationConfig(learning_rate=3e-3, repeat_count=2, batch_size=4, warmup_step_count=0)
    adapt(base_model, records, config, output_dir=folder)
    return folder


def checks_of(engine: ExactEngine | SamplingEngine, bank: FrozenBank) -> dict[str, bool]:
    report = engine.preflight([bank.question(place) for place in (0, 10, 20)])
    return {check.name: check.passed for check in report.checks}


@pytest.mark.parametrize("kind", [ExactEngine, SamplingEngine])
def test_acting_adapter_passes_every_check(
    kind: type[ExactEngine] | type[SamplingEngine], base_model: Path, adapter: Path, bank: FrozenBank
) -> None:
    """Both local engines are asked by their own way of answering."""
    found = checks_of(kind(open_model_folder(base_model), adapter=adapter), bank)

    assert found == dict.fromkeys(
        ["one-bos", "choice-constraint", "seed-repeatable", "order-independent", "adapter-active"], True
    )


def test_adapter_that_is_loaded_and_ignored_is_caught_before_the_first_case(
    base_model: Path, adapter: Path, bank: FrozenBank, tmp_path: Path
) -> None:
    """It would measure an exposure effect of exactly zero."""
    engine = ExactEngine(open_model_folder(base_model), adapter=adapter)
    engine.local.model.disable_adapter_layers()
    files = BankFiles.of(tmp_path / "bank")

    with pytest.raises(ModelError, match=r"failed its preflight: adapter-active .*largest: 0"):
        answer_bank(bank, engine, files)
    assert not files.attempts.exists()
    assert not files.results.exists()


def test_adapter_of_strength_zero_passes_by_changing_nothing(
    base_model: Path, adapter: Path, bank: FrozenBank, tmp_path: Path
) -> None:
    """The foot of a dose-response curve is the base model, exactly."""
    scale_adapter(adapter, tmp_path / "zero", 0.0)
    engine = ExactEngine(open_model_folder(base_model), adapter=tmp_path / "zero")
    base = ExactEngine(open_model_folder(base_model))

    assert checks_of(engine, bank)["adapter-active"]
    question = bank.question(0)
    assert engine.local.distribution(question) == base.local.distribution(question)


def test_base_model_has_no_adapter_to_try(base_model: Path, bank: FrozenBank) -> None:
    """A check that cannot fail is not reported."""
    assert "adapter-active" not in checks_of(ExactEngine(open_model_folder(base_model)), bank)


def test_adapter_of_another_model_is_refused(base_model: Path, adapter: Path, tmp_path: Path) -> None:
    """peft would attach it all the same."""
    other = random_model("qwen3", base_model, tmp_path / "other")

    with pytest.raises(ConflictError, match="was trained on another model"):
        ExactEngine(open_model_folder(other), adapter=adapter)


def test_identity_names_what_decides_the_numbers(base_model: Path, adapter: Path) -> None:
    """Two runs whose identities agree may share a bank's files, so everything that moves a number is in it."""
    base = ExactEngine(open_model_folder(base_model))
    changed: list[ExactEngine | SamplingEngine] = [
        ExactEngine(open_model_folder(base_model), adapter=adapter),
        ExactEngine(open_model_folder(base_model), options=LocalOptions(attention="eager")),
        ExactEngine(open_model_folder(base_model), options=LocalOptions(dtype="bfloat16")),
        ExactEngine(open_model_folder(base_model), options=LocalOptions(thread_count=1)),
        SamplingEngine(open_model_folder(base_model)),
    ]

    identities = [str(sorted(engine.identity.items(), key=str)) for engine in (base, *changed)]

    assert len(set(identities)) == 6
    assert str(base_model) not in "".join(identities)


def test_report_names_every_failed_check_and_no_other() -> None:
    """The user mends all of them before the next try."""
    report = PreflightReport((Check("a", False, "1 of 2"), Check("b", True, "fine"), Check("c", False, "0 nats")))

    with pytest.raises(ModelError, match=r"preflight: a \(1 of 2\); c \(0 nats\); no case was asked"):
        report.require()
    assert not report.passed


def test_option_of_no_engine_is_refused_with_those_there_are() -> None:
    """A misspelt option that is ignored would be believed."""
    with pytest.raises(InvalidRequestError, match="'dytpe' does not exist; choose among attention, device, dtype"):
        parse_options(LocalOptions, {"dytpe": "bfloat16"})
