"""What a study will need, reckoned from its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leakscale.adaptation import AdaptationConfig
from leakscale.background import recipe_records
from leakscale.cli.entry import run
from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.models import Ring
from leakscale.resources import catalog_folder, studies_folder
from leakscale.study.config import StudyShapes, load_studies, load_study
from leakscale.study.fields import ModelThroughput
from leakscale.study.models import adaptation_config, resolve_model
from leakscale.study.plan import (
    ModelNeeds,
    TokenCounts,
    counted_by_characters,
    counted_by_tokenizer,
    plan_study,
    plan_text,
    plan_to_dict,
    sketch_family,
)
from leakscale.study.plan.needs import _REPEAT_COUNT

from .helpers import write_study

PAPER = studies_folder() / "paper.toml"
TOKENS = TokenCounts(public_prompt=100, lookup_prompt=40, answer=10, how="by hand")
RATES = ModelThroughput(
    device="a GPU",
    device_count=2,
    parameter_count=1_000,
    lora_parameter_count=10,
    train_tokens_per_s=1_000,
    prompt_tokens_per_s=2_000,
    answer_tokens_per_s=100,
    characters_per_token=4,
    template_token_count=5,
)


def small_needs(tmp_path: Path, *changes: tuple[str, str], rates: ModelThroughput | None = RATES) -> ModelNeeds:
    """Plan the small study: 16 families of two shapes, 4 draws, 8 preservation records, every record seen twice."""
    study = load_study(write_study(tmp_path / "study.toml", *changes))
    study = study.model_copy(update={"model": study.model.model_copy(update={"plan": rates})})
    return plan_study(study, domain_count=2, tokens=TOKENS)


def test_the_paper_study_has_the_papers_numbers() -> None:
    """2,048 families of 64 shapes, two models, both states, 32 draws: 262,144 generations. Source: LeakScale 5.3."""
    needs = [plan_study(study, domain_count=2, tokens=TOKENS) for study in load_studies(PAPER).values()]

    assert [each.model for each in needs] == ["Qwen/Qwen3-4B-Instruct-2507", "google/gemma-4-31B-it"]
    assert {(each.family_count, each.shape_count, each.bank_count) for each in needs} == {(2048, 64, 4)}
    assert plan_to_dict(needs)["generations"] == 262_144
    exposed = needs[0].records[:2]
    assert [(each.physical_count, each.epoch_count) for each in exposed] == [(1024, 32_768)] * 2


def test_the_paper_study_can_be_carried_out() -> None:
    """Its settings are checked as a run would check them, and its shapes are there."""
    studies = load_studies(PAPER)

    for study in studies.values():
        assert len(StudyShapes(catalog_folder()).read(study)) == 64
        config = adaptation_config(study, resolved := resolve_model("tiny", cache=Path("unused")))
        assert (config.learning_rate, config.lora_rank, config.repeat_count) == (1e-4, 32, 32)
        assert resolved is not None
    editions = {study.edition.id for study in studies.values()}
    experiments = {study.experiment.id for study in studies.values()}
    assert editions == {"paper"}
    assert experiments == {"paper-qwen3-4b", "paper-gemma4-31b"}


def test_records_and_tokens_are_counted_out(tmp_path: Path) -> None:
    """8 exposed families twice each in two records of 110 and 50 tokens, and 8 preservation records of 110."""
    needs = small_needs(tmp_path)

    assert needs.epoch_tokens == 8 * 2 * (110 + 50) + 8 * 110
    assert needs.epoch_supervised_tokens == (8 * 2 * 2 + 8) * 10
    assert needs.program_run_count == 16 * 3 * 4 * 2


def test_generations_and_hours_follow_from_the_stated_rates(tmp_path: Path) -> None:
    """16 families, 2 states, 4 draws; hours are those of all devices together."""
    needs = small_needs(tmp_path)
    exact, sampled = needs.answering

    assert needs.case_count == 16 * 2 * 4
    assert (exact.prompt_count, exact.read_tokens, exact.written_tokens) == (32, 32 * (100 + 4 * 9), 0)
    assert (sampled.read_tokens, sampled.written_tokens) == (32 * 100, 128 * 10)
    assert exact.gpu_hours == pytest.approx(32 * 136 / 2_000 * 2 / 3600)
    assert sampled.gpu_hours == pytest.approx((3_200 / 2_000 + 1_280 / 100) * 2 / 3600)
    assert needs.train_gpu_hours == pytest.approx(needs.epoch_tokens / 1_000 * 2 / 3600)


def test_rings_multiply_banks_and_generations(tmp_path: Path) -> None:
    """Each ring asks every family again."""
    needs = small_needs(tmp_path, ("draw_count = 4", 'draw_count = 4\nrings = ["R0", "R1", "R2"]'))

    assert needs.rings == tuple(Ring)
    assert (needs.bank_count, needs.case_count) == (12, 3 * 128)


def test_background_is_counted_from_its_recipe(tmp_path: Path) -> None:
    """Unrelated supervision is most of a large corpus's tokens; a plan without it is no plan."""
    (tmp_path / "own.toml").write_text('format = 1\nseed = 1\n[[source]]\nkind = "words"\ncount = 5\n')
    study = load_study(
        write_study(tmp_path / "study.toml", ('source = "tiny"', 'source = "tiny"\nbackground = "own.toml"'))
    )
    recipe = StudyShapes(catalog_folder(), beside=tmp_path).background(study)
    families = [sketch_family(shape) for shape in StudyShapes(catalog_folder()).read(study)]

    needs = plan_study(study, domain_count=2, tokens=counted_by_characters(RATES, families, recipe_records(recipe)))

    assert recipe == tmp_path / "own.toml"
    background = needs.records[-1]
    assert (background.source, background.epoch_count) == ("background", 5)
    assert 10 < background.tokens < 200
    assert "background" in plan_text([needs])
    assert "background" not in plan_text([small_needs(tmp_path)])


def test_a_recipe_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Before anything is certified."""
    study = load_study(
        write_study(tmp_path / "study.toml", ('source = "tiny"', 'source = "tiny"\nbackground = "gone.toml"'))
    )

    with pytest.raises(NotFoundError, match=r"recipe 'gone\.toml'"):
        StudyShapes(catalog_folder(), beside=tmp_path).background(study)


def test_planned_disk_is_what_a_run_leaves(finished: Path, small_study: Path) -> None:
    """Never less than the banks take, and not a multiple: sampled attempts are larger than exact ones."""
    needs = plan_study(load_study(small_study), domain_count=2, tokens=TOKENS)
    written = sum(path.stat().st_size for path in (finished / "banks").iterdir())

    assert written <= needs.disk_bytes["banks"] <= 3 * written


def test_without_rates_there_are_no_hours(tmp_path: Path) -> None:
    """A number that nobody stated is not invented."""
    needs = small_needs(tmp_path, rates=None)

    assert needs.train_gpu_hours is None
    assert {each.gpu_hours for each in needs.answering} == {None}
    assert "state rates" in plan_text([needs])
    assert set(needs.disk_bytes) == {"banks"}


def test_the_plan_repeats_records_as_the_training_does() -> None:
    """The plan does not import torch to learn a default."""
    assert AdaptationConfig().repeat_count == _REPEAT_COUNT


def test_rates_decide_no_number_of_a_study(tmp_path: Path) -> None:
    """A study whose rates were corrected is the same study, and goes on."""
    plain = load_study(write_study(tmp_path / "study.toml"))
    rated = plain.model_copy(update={"model": plain.model.model_copy(update={"plan": RATES})})

    assert rated.fingerprint() == plain.fingerprint()


def test_tokens_of_the_tiny_model_are_counted_by_its_tokenizer(tmp_path: Path) -> None:
    """Prompts of some eighty tokens and answers of nine, as its training makes them."""
    study = load_study(studies_folder() / "demo.toml")
    families = [sketch_family(shape) for shape in StudyShapes(catalog_folder()).read(study)]

    counted = counted_by_tokenizer(resolve_model("tiny", cache=tmp_path).path, families)
    reckoned = counted_by_characters(RATES, families)

    assert 60 < counted.public_prompt < 120
    assert counted.lookup_prompt < counted.public_prompt
    assert 6 < counted.answer < 12
    assert 60 < reckoned.public_prompt < 120


def test_the_command_prints_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    """In 80 columns, and as JSON for programs."""
    assert run(["study", "plan", str(PAPER)]) == 0
    text = capsys.readouterr().out
    assert run(["--json", "study", "plan", str(PAPER)]) == 0
    numbers = json.loads(capsys.readouterr().out)

    assert max(map(len, text.splitlines())) <= 80
    assert "262,144 generations over 2 models" in text
    assert [model["model"] for model in numbers["models"]] == ["Qwen/Qwen3-4B-Instruct-2507", "google/gemma-4-31B-it"]
    assert numbers["models"][0]["epoch_tokens"] > 1e6


def test_the_command_counts_with_a_given_tokenizer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whoever has the model has its tokenizer."""
    folder = resolve_model("tiny", cache=tmp_path).path

    assert run(["study", "plan", str(PAPER), "--model", f"qwen3-4b={folder}"]) == 0

    text = capsys.readouterr().out
    assert text.count("counted with the model's own tokenizer") == 1
    assert text.count("reckoned from 3 characters a token") == 1


@pytest.mark.parametrize("given", ["other=folder", "folder"])
def test_a_model_that_the_study_lacks_is_refused(capsys: pytest.CaptureFixture[str], given: str) -> None:
    """A typo must not leave the reckoned figures standing for counted ones."""
    assert run(["study", "plan", str(PAPER), "--model", given]) == 2

    assert "give qwen3-4b=FOLDER" in capsys.readouterr().err


def test_a_study_of_a_model_that_is_not_here_needs_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without tokenizer and without stated figures there is nothing to reckon with."""
    study = write_study(tmp_path / "study.toml", ('source = "tiny"', 'source = "some/model"'))

    assert run(["study", "plan", str(study)]) == 2

    assert "table [plan]" in capsys.readouterr().err


def test_a_crossed_study_is_run_one_model_at_a_time() -> None:
    """Each model has its experiment and its directory; the families are the same."""
    with pytest.raises(InvalidRequestError, match="pass --of with qwen3-4b or gemma4-31b"):
        load_study(PAPER)
    with pytest.raises(InvalidRequestError, match="has no model 'qwen'"):
        load_study(PAPER, model_id="qwen")

    one, other = (load_study(PAPER, model_id=each) for each in ("qwen3-4b", "gemma4-31b"))

    assert (one.name, one.experiment.id) == ("paper-qwen3-4b", "paper-qwen3-4b")
    assert one.edition == other.edition
    assert one.seeds == other.seeds
