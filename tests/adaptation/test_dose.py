"""A strength follows from a registered rule and from families that are not reported."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from peft import PeftModel
from torch.utils.data import Dataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Trainer, TrainingArguments

from leakscale.adaptation import AdaptationConfig, adapt, scale_adapter
from leakscale.adaptation.callback import EffectCallback
from leakscale.adaptation.choosing import choose_on_development
from leakscale.adaptation.development import Development, development_set, require_disjoint
from leakscale.adaptation.dose import Dose, StrengthRule, choose_strength, dose_response, dose_table
from leakscale.adaptation.identity import tensors_digest
from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.rendering import EncodedRecord
from leakscale.errors import ConflictError, InvalidRequestError, PreconditionError
from leakscale.models import TrainingRecord

from .conftest import a_family
from .test_corpus import FAMILIES, a_grant

CONFIG = AdaptationConfig(learning_rate=3e-3, repeat_count=12, batch_size=4, warmup_step_count=2)
RULE = StrengthRule(strengths=(0.5, 1.0), control_drift_max=1.0)


@pytest.fixture(scope="module")
def adapter(base_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter trained on a development grant, its effect watched."""
    folder = tmp_path_factory.mktemp("adapters") / "development"
    adapt(base_model, a_grant(), CONFIG, output_dir=folder, hook=a_callback(base_model, folder).hook)
    return folder


@pytest.fixture
def development(tokenizer: PreTrainedTokenizerBase) -> Development:
    """Two exposed and two control families."""
    return development_set(tokenizer, FAMILIES, a_grant(), seed=0)


def test_exposed_families_have_their_answer_and_controls_one_drawn_by_seed(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    """Nobody outside the server knows a control's answer, and the same draw must serve every measurement."""
    drawn = [development_set(tokenizer, FAMILIES, a_grant(), seed=seed) for seed in (0, 0, 1, 2, 3)]

    assert drawn[0] == drawn[1]
    assert drawn[0].counts == (2, 2)
    assert {family.reference for family in drawn[0].families if family.is_exposed} == {0}
    assert len({tuple(family.reference for family in one.families) for one in drawn}) > 1


def test_accuracy_is_the_conditional_probability_of_the_reference(base_model: Path, development: Development) -> None:
    """Against the definition, one answer a forward over full logits, so that no batching or masking can hide in it."""
    model = load(base_model)

    found = development.accuracy(model)

    for is_exposed, share in ((False, found.control), (True, found.exposed)):
        own = [family for family in development.families if family.is_exposed is is_exposed]
        by_hand = []
        for family in own:
            mass = [math.exp(log_probability(model, record)) for record in family.answers]
            by_hand.append(mass[family.reference] / sum(mass))
        assert share == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-4)


def test_doses_are_those_of_scaled_adapters_and_leave_the_model_as_it_was(
    base_model: Path, adapter: Path, development: Development, tmp_path: Path
) -> None:
    """The curve is over tensors in memory; the adapter that is used is written. They must be the same."""
    scale_adapter(adapter, tmp_path / "half", 0.5)
    model = with_adapter(base_model, adapter)
    before = digest(model)

    doses = dose_response(model, development, [1.0, 0.5])

    written = development.accuracy(core(with_adapter(base_model, tmp_path / "half")))
    assert [dose.strength for dose in doses] == [0.0, 0.5, 1.0]
    assert (doses[1].control, doses[1].exposed) == (written.control, written.exposed)
    assert doses[0].effect == doses[0].control_drift == 0.0
    assert doses[2].effect > 0.2
    assert digest(model) == before


def test_choice_is_written_with_the_rule_that_made_it(base_model: Path, adapter: Path, tmp_path: Path) -> None:
    """Another rule in the same folder is refused, so that the first look is the only one."""
    choice = choose(base_model, adapter, tmp_path / "choice")

    written = json.loads((tmp_path / "choice/dose.json").read_text())
    assert choice.strength == written["strength"]
    assert written["rule"] == RULE.digest
    assert written["mode"] == "exact-conditional"
    assert "| chosen |" in (tmp_path / "choice/dose.md").read_text()
    assert choose(base_model, adapter, tmp_path / "choice") == choice
    with pytest.raises(ConflictError, match="registers another rule"):
        choose(base_model, adapter, tmp_path / "choice", dataclasses.replace(RULE, effect_tolerance=0.5))


def test_rule_is_registered_even_if_nothing_satisfies_it(base_model: Path, adapter: Path, tmp_path: Path) -> None:
    """Otherwise a rule could be tried, forgotten and replaced."""
    strict = dataclasses.replace(RULE, control_drift_max=0.0)

    with pytest.raises(PreconditionError, match="at every strength the control drifts by more than 0 points"):
        choose(base_model, adapter, tmp_path / "choice", strict)
    assert json.loads((tmp_path / "choice/rule.json").read_text())["digest"] == strict.digest


def test_adapter_of_other_records_or_strength_is_not_measured(base_model: Path, adapter: Path, tmp_path: Path) -> None:
    """Its effect on these families would be about nothing, and a strength would be chosen all the same."""
    scale_adapter(adapter, tmp_path / "half", 0.5)

    with pytest.raises(ConflictError, match="was not trained on exactly these records"):
        choose(base_model, adapter, tmp_path / "a", records=a_grant(FAMILIES[2:]))
    with pytest.raises(ConflictError, match="unscaled"):
        choose(base_model, tmp_path / "half", tmp_path / "b")


def test_reported_families_are_no_development_families() -> None:
    """A strength fitted to the reported families inflates their effect."""
    require_disjoint(FAMILIES, [a_family(50)])

    with pytest.raises(InvalidRequestError, match=r"1 development families are also reported \(same family_id\)"):
        require_disjoint(FAMILIES, [a_family(3), a_family(50)])
    with pytest.raises(InvalidRequestError, match="same key"):
        require_disjoint(FAMILIES, [dataclasses.replace(a_family(3), family_id="f-other")])


def test_rule_takes_the_smallest_strength_within_tolerance_of_the_best_steady_one() -> None:
    """Stronger than needed moves everything else too."""
    doses = [a_dose(0, 0, 0), a_dose(0.25, 0.2, 0), a_dose(0.5, 0.495, 0.05), a_dose(0.75, 0.5, -0.05)]
    wild = [*doses, a_dose(1.0, 0.9, -0.11)]

    assert choose_strength(StrengthRule(), wild) == 0.5
    assert choose_strength(StrengthRule(effect_tolerance=0.0), wild) == 0.75
    assert choose_strength(StrengthRule(control_drift_max=0.2), wild) == 1.0


def test_rule_is_applied_to_its_own_strengths_only() -> None:
    """Strength 0 is measured as a base and is no candidate; a candidate that was not measured is a fault."""
    assert choose_strength(StrengthRule(strengths=(0.5,)), [a_dose(0, 0, 0), a_dose(0.5, -0.2, 0)]) == 0.5
    with pytest.raises(PreconditionError, match="strength 1 of the rule was not measured"):
        choose_strength(StrengthRule(strengths=(0.5, 1.0)), [a_dose(0.5, 0.1, 0)])


@given(st.lists(st.tuples(st.floats(-0.2, 0.9), st.floats(-0.3, 0.3)), min_size=4, max_size=4))
def test_chosen_strength_keeps_the_rule(measured: list[tuple[float, float]]) -> None:
    """Whatever the curve looks like."""
    rule = StrengthRule()
    doses = [a_dose(strength, *pair) for strength, pair in zip(rule.strengths, measured, strict=True)]
    steady = [dose for dose in doses if abs(dose.control_drift) <= rule.control_drift_max]
    assume(steady)

    chosen = choose_strength(rule, doses)

    best = max(dose.effect for dose in steady)
    allowed = [dose.strength for dose in steady if dose.effect >= best - rule.effect_tolerance]
    assert chosen == min(allowed)


@pytest.mark.parametrize(
    "fields",
    [
        {"strengths": ()},
        {"strengths": (1.0, 0.5)},
        {"strengths": (0.5, 0.5)},
        {"strengths": (0.0, 1.0)},
        {"strengths": (1.0, math.inf)},
        {"control_drift_max": -0.1},
        {"effect_tolerance": 1.5},
    ],
)
def test_rule_that_is_none_is_refused(fields: dict[str, Any]) -> None:
    """It would be registered and could not be followed."""
    with pytest.raises(InvalidRequestError):
        StrengthRule(**fields)


def test_table_is_in_points_and_marks_the_choice() -> None:
    """Golden: the table goes into reports as it is."""
    table = dose_table([a_dose(0, 0, 0), a_dose(0.5, 0.25, -0.0125)], chosen=0.5)

    assert table.splitlines()[2:] == [
        "| 0 | 25.00 | 25.00 | +0.00 | +0.00 |  |",
        "| 0.5 | 23.75 | 48.75 | -1.25 | +25.00 | chosen |",
    ]


def test_effect_is_logged_at_the_first_every_nth_and_last_step(adapter: Path) -> None:
    """Twelve steps, measured every five: it starts at exactly zero and grows."""
    effects = [json.loads(line) for line in log_of(adapter).read_text().splitlines()]

    assert [effect["step"] for effect in effects] == [0, 5, 10, 12]
    assert effects[0]["effect"] == 0.0
    assert effects[-1]["effect"] > effects[0]["effect"]


def test_watching_changes_no_tensor(base_model: Path, adapter: Path, tmp_path: Path) -> None:
    """A measurement that moved the model would be part of the treatment."""
    adapt(base_model, a_grant(), CONFIG, output_dir=tmp_path / "unwatched")

    watched, unwatched = (folder / "adapter_model.safetensors" for folder in (adapter, tmp_path / "unwatched"))
    assert watched.read_bytes() == unwatched.read_bytes()


def test_interrupted_log_goes_on_after_its_last_whole_line(base_model: Path, adapter: Path, tmp_path: Path) -> None:
    """A killed run leaves half a line; nothing is measured twice and nothing is lost."""
    log = tmp_path / "effect.jsonl"
    lines = log_of(adapter).read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:2]) + lines[2][:9])
    callback = a_callback(base_model, tmp_path / "ignored", log=log)

    for step in (0, 5, 10):
        callback.hook(step, 12, with_adapter(base_model, adapter))

    steps = [json.loads(line)["step"] for line in log.read_text().splitlines()]
    assert steps == [effect.step for effect in callback.effects] == [0, 5, 10]


def test_callback_serves_the_trainer_of_transformers(base_model: Path, tmp_path: Path) -> None:
    """People with a Trainer of their own add it and change nothing else."""
    from leakscale.adaptation.lora import with_lora

    model = with_lora(load(base_model), CONFIG)
    callback = a_callback(base_model, tmp_path / "ignored", every_step_count=2)
    arguments = TrainingArguments(
        output_dir=str(tmp_path),
        max_steps=3,
        per_device_train_batch_size=4,
        learning_rate=1e-2,
        use_cpu=True,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=OneRecord(), callbacks=[callback]).train()

    assert [effect.step for effect in callback.effects] == [0, 2, 3]
    assert callback.effects[0].effect == 0.0
    assert callback.effects[-1].effect != 0.0


class OneRecord(Dataset[dict[str, torch.Tensor]]):
    """The same few tokens, again and again."""

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        ids = torch.arange(10, 20)
        return {"input_ids": ids, "labels": ids}


def a_dose(strength: float, effect: float, drift: float) -> Dose:
    """Build a dose that started at chance."""
    return Dose(strength, 0.25 + drift, 0.25 + drift + effect, drift, effect)


def a_callback(
    base_model: Path, adapter: Path, *, log: Path | None = None, every_step_count: int = 5
) -> EffectCallback:
    """Watch the four families."""
    development = development_set(open_model_folder(base_model).tokenizer, FAMILIES, a_grant(), seed=0)
    return EffectCallback(development, log=log or log_of(adapter), every_step_count=every_step_count)


def log_of(adapter: Path) -> Path:
    """Say where an adapter's effect is logged."""
    adapter.parent.mkdir(exist_ok=True)
    return adapter.with_name(f"{adapter.name}.effect.jsonl")


def choose(
    base_model: Path,
    adapter: Path,
    output: Path,
    rule: StrengthRule = RULE,
    records: Sequence[TrainingRecord] | None = None,
) -> Any:
    """Choose a strength on the four families."""
    return choose_on_development(base_model, adapter, FAMILIES, records or a_grant(), rule, output=output)


def load(base_model: Path) -> PreTrainedModel:
    """Load the bare model."""
    return open_model_folder(base_model).load(dtype="float32", attention="sdpa")


def with_adapter(base_model: Path, adapter: Path) -> PeftModel:
    """Load the model with an adapter on it."""
    return PeftModel.from_pretrained(load(base_model), str(adapter))


def core(model: PeftModel) -> PreTrainedModel:
    """Return the model under an adapter."""
    return cast("PreTrainedModel", model.get_base_model())


def digest(model: PeftModel) -> str:
    """Hash every parameter."""
    return tensors_digest(sorted(model.named_parameters()))


@torch.no_grad()
def log_probability(model: PreTrainedModel, record: EncodedRecord) -> float:
    """Score one answer on full logits."""
    ids = torch.tensor([record.ids])
    scores = torch.log_softmax(model(input_ids=ids).logits[0].double(), dim=-1)
    return sum(float(scores[at - 1, record.ids[at]]) for at in range(record.prompt_length, len(record.ids)))
