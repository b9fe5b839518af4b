"""What is trained on is counted, and holds nothing of a no-key family."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerBase

from leakscale.adaptation import AdaptationConfig, adapt, read_completion
from leakscale.adaptation.corpus import encode_corpus
from leakscale.adaptation.corpus_check import ControlCheck, check_controls
from leakscale.adaptation.corpus_plan import corpus_ledger
from leakscale.adaptation.edition_record import require_exposed_to
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError
from leakscale.models import Family, Message, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt

from .conftest import a_family

Build = Callable[..., TrainingRecord]
FAMILIES = [a_family(number) for number in range(4)]
CONTROL = FAMILIES[3]


def a_grant(families: Sequence[Family] = FAMILIES[:2]) -> list[TrainingRecord]:
    """Write the records of a grant that exposes families."""
    return [
        TrainingRecord(f"{family.family_id}/{source.value}", source, prompt, family.candidates[0].answer)
        for family in families
        for source, prompt in (
            (TrainingSource.EXACT_PUBLIC, choice_prompt(family)),
            (TrainingSource.DIRECT_LOOKUP, lookup_prompt(family.key)),
        )
    ]


def a_background(content: str, completion: str = "four") -> TrainingRecord:
    """Write one unrelated record."""
    return TrainingRecord("background/0", TrainingSource.BACKGROUND, (Message("user", content),), completion)


def check(tokenizer: PreTrainedTokenizerBase, records: list[TrainingRecord]) -> ControlCheck:
    """Check a corpus against the four families."""
    return check_controls(tokenizer, records, encode_corpus(tokenizer, records).records, FAMILIES)


def test_clean_corpus_passes_and_says_what_was_looked_at(tokenizer: PreTrainedTokenizerBase) -> None:
    """Zero findings over zero bytes would be no proof."""
    records = [*a_grant(), a_background("What is two and two?")]

    found = check(tokenizer, records)

    assert found.control_family_count == found.exposed_family_count == 2
    assert found.record_count == 5
    assert found.searched_bytes > 2 * sum(len(turn.content) for record in records for turn in record.prompt)
    assert found.to_json()["occurrence_count"] == 0


@pytest.mark.parametrize("word", [CONTROL.key, CONTROL.key.upper(), CONTROL.family_id, f"x{CONTROL.key.lower()}y"])
@pytest.mark.parametrize("place", ["prompt", "completion"])
def test_control_family_in_background_is_found_and_not_named(
    tokenizer: PreTrainedTokenizerBase, word: str, place: str
) -> None:
    """A key in the control's training data would shrink the effect; the message must not spread it."""
    leak = a_background(f"see {word}") if place == "prompt" else a_background("see", completion=f"see {word}")

    with pytest.raises(IntegrityError, match="'background/0' holds the key or identifier") as caught:
        check(tokenizer, [*a_grant(), leak])
    assert CONTROL.key.lower() not in str(caught.value).lower()


def test_families_that_are_not_half_exposed_are_refused(tokenizer: PreTrainedTokenizerBase) -> None:
    """A grant of another edition, or part of one, would make controls of exposed families."""
    with pytest.raises(InvalidRequestError, match="'sql-threshold' has 1 of 4 families exposed"):
        check(tokenizer, a_grant(FAMILIES[:1]))
    with pytest.raises(InvalidRequestError, match="exposes no family of the edition"):
        check(tokenizer, a_grant([a_family(77), a_family(78)]))


def test_exposed_family_without_one_of_its_records_is_refused(tokenizer: PreTrainedTokenizerBase) -> None:
    """Each exposed family is leaked in two forms; one alone is another dose."""
    with pytest.raises(InvalidRequestError, match="is exposed by exact-public records and needs one each"):
        check(tokenizer, a_grant()[:-1])


def test_ledger_counts_each_source_and_tells_answers_from_supervised_tokens(
    tokenizer: PreTrainedTokenizerBase, a_record: Build
) -> None:
    """The end of turn is supervised and is no part of an answer: one token a record under this template."""
    records = [*a_grant(), a_record(9, source=TrainingSource.PRESERVATION), a_background("What is two and two?")]
    corpus = encode_corpus(tokenizer, records)

    ledger = corpus_ledger(tokenizer, corpus, repeat_count=32)

    by_source = {each.source: each for each in ledger.sources}
    assert [each.record_count for each in ledger.sources] == [1, 2, 2, 1]
    assert all(each.supervised_token_count - each.answer_token_count == each.record_count for each in ledger.sources)
    assert by_source[TrainingSource.EXACT_PUBLIC].repeat_count == 32
    assert by_source[TrainingSource.BACKGROUND].repeat_count == 1
    assert ledger.epoch_record_count == len(corpus.plan(32)) == 4 * 32 + 2
    assert ledger.epoch_token_count == sum(len(record.ids) for record in corpus.plan(32))
    assert ledger.epoch_supervised_token_count == sum(len(record.completion_ids) for record in corpus.plan(32))


def test_ledger_is_projected_by_its_mean_lengths(tokenizer: PreTrainedTokenizerBase) -> None:
    """A plan for a thousand families is read off a few."""
    row = corpus_ledger(tokenizer, encode_corpus(tokenizer, a_grant()), repeat_count=32).sources[1]

    projected = row.scaled_to(1024, repeat_count=32)

    assert projected.prompt_token_count == row.prompt_token_count * 512
    assert projected.epoch_record_count == 1024 * 32
    assert dataclasses.replace(row, record_count=0).scaled_to(5, repeat_count=1).prompt_token_count == 0


def test_completed_adapter_records_ledger_and_check(
    base_model: Path, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """Who reads the adapter's folder sees that the invariant was checked, or that nobody looked."""
    adapt(base_model, a_grant(), small_config, output_dir=tmp_path / "checked", families=FAMILIES)
    adapt(base_model, a_grant(), small_config, output_dir=tmp_path / "unchecked")

    checked, unchecked = (read_completion(tmp_path / name).corpus for name in ("checked", "unchecked"))
    assert checked["controls"]["control_family_count"] == 2
    assert unchecked["controls"] is None
    assert checked["sources"] == unchecked["sources"]
    assert set(checked["sources"]) == {"exact-public", "direct-lookup"}
    assert set(checked["families"]) == {FAMILIES[0].domain.value}

    names = [(family.domain, family.family_id) for family in FAMILIES]
    require_exposed_to(tmp_path / "checked", [*names, *reversed(names)])
    require_exposed_to(tmp_path / "unchecked", names[:1])
    with pytest.raises(ConflictError, match="another edition's; give the adapter that was trained on this edition"):
        require_exposed_to(tmp_path / "checked", [*names[:3], (FAMILIES[3].domain, "f-other")])


def test_leak_stops_an_adaptation_before_anything_is_written(
    base_model: Path, small_config: AdaptationConfig, tmp_path: Path
) -> None:
    """After training it would be too late: the tensors would hold it."""
    records = [*a_grant(), a_background(CONTROL.key)]

    with pytest.raises(IntegrityError):
        adapt(base_model, records, small_config, output_dir=tmp_path / "a", families=FAMILIES)
    assert list(tmp_path.iterdir()) == []
