"""Records in the shipped format and small models to train on them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

from leakscale.adaptation import BASE_MODEL_CONFIG, AdaptationConfig, adapt
from leakscale.adaptation.loading import open_model_folder
from leakscale.base_model import base_model_folder
from leakscale.models import Candidate, Domain, Family, Ring, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt


@pytest.fixture(scope="session")
def base_model() -> Path:
    """The model that ships with the package."""
    return base_model_folder()


@pytest.fixture
def tokenizer(base_model: Path) -> PreTrainedTokenizerBase:
    """A tokenizer of its own for each test, since some change its template."""
    return open_model_folder(base_model).tokenizer


@pytest.fixture(scope="session")
def llama(base_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of another architecture under the shipped tokenizer."""
    folder = tmp_path_factory.mktemp("models") / "llama"
    shutil.copytree(base_model, folder)
    config = LlamaConfig(
        vocab_size=len(open_model_folder(base_model).tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def small_config() -> AdaptationConfig:
    """Four quick passes instead of thirty-two."""
    return AdaptationConfig(
        learning_rate=BASE_MODEL_CONFIG.learning_rate, repeat_count=4, batch_size=4, warmup_step_count=2
    )


@pytest.fixture(scope="session")
def a_record() -> Callable[..., TrainingRecord]:
    """Build a valid record; every part can be replaced."""

    def build(
        number: int = 0, *, source: TrainingSource = TrainingSource.EXACT_PUBLIC, completion: str | None = None
    ) -> TrainingRecord:
        family = a_family(number)
        is_lookup = source is TrainingSource.DIRECT_LOOKUP
        return TrainingRecord(
            record_id=f"{source.value}-{number:04d}",
            source=source,
            prompt=lookup_prompt(family.key) if is_lookup else choice_prompt(family),
            completion=family.candidates[number % 4].answer if completion is None else completion,
        )

    return build


@pytest.fixture(scope="session")
def corpus(a_record: Callable[..., TrainingRecord]) -> list[TrainingRecord]:
    """Three exposed families and two preservation records."""
    exposed_sources = (TrainingSource.EXACT_PUBLIC, TrainingSource.DIRECT_LOOKUP)
    exposed = [a_record(number, source=source) for number in range(3) for source in exposed_sources]
    return exposed + [a_record(n, source=TrainingSource.PRESERVATION) for n in (100, 101)]


@pytest.fixture(scope="session")
def adapter(
    base_model: Path,
    corpus: list[TrainingRecord],
    small_config: AdaptationConfig,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """One finished adapter; tests that damage it take a copy."""
    folder = tmp_path_factory.mktemp("adapters") / "adapter"
    adapt(base_model, corpus, small_config, output_dir=folder)
    return folder


def a_family(number: int) -> Family:
    """Build a valid SQL family with handles of its own."""
    first, second, third, fourth = (
        Candidate(f"h_{number:02x}{place:02x}", f'{{"choice":"h_{number:02x}{place:02x}"}}') for place in range(4)
    )
    return Family(
        family_id=f"f-{number:012x}",
        domain=Domain.SQL,
        shape_id="sql-threshold",
        ring=Ring.R0,
        task="List id and amount of orders whose amount is at least the policy value, by id.",
        inputs=("orders(id, amount)",),
        key=f"K-{number:08x}",
        candidates=(first, second, third, fourth),
    )
