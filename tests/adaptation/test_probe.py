"""An engine that ignores an adapter is caught before its first answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from leakscale.adaptation.probe import PROBED_COUNT, probe_adapter
from leakscale.adaptation.rendering import EncodedRecord
from leakscale.errors import ModelError

RECORDS = [EncodedRecord(f"r-{number}", (1, 2, 3, 4), 2) for number in range(20)]


class Engine:
    """Scores every token alike, and moves the last one by a shift when the adapter is on."""

    def __init__(self, shift: float, *, token_count: int | None = None) -> None:
        self.shift, self.token_count = shift, token_count
        self.asked: list[tuple[int, bool]] = []

    def target_log_probabilities(self, records: Sequence[EncodedRecord], *, adapter: bool) -> Sequence[float]:
        """Answer, and remember what was asked."""
        self.asked.append((len(records), adapter))
        count = sum(len(record.completion_ids) for record in records) if self.token_count is None else self.token_count
        return [-2.0] * (count - 1) + [-2.0 + self.shift * adapter]


def test_engine_is_asked_with_the_adapter_on_and_off() -> None:
    """By the interface it answers with, over a few records."""
    engine = Engine(0.25)

    report = probe_adapter(engine, RECORDS)

    assert engine.asked == [(PROBED_COUNT, True), (PROBED_COUNT, False)]
    assert report.activity == 0.25
    assert report.token_count == 2 * PROBED_COUNT


@pytest.mark.parametrize("shift", [0.0, 1e-7 / 2, float("nan")])
def test_engine_that_ignores_its_adapter_is_refused(shift: float) -> None:
    """Both known causes report success when they load it: module names that do not match, requests that name none."""
    with pytest.raises(ModelError, match="changes no target token by more than 1e-07 nats"):
        probe_adapter(Engine(shift), RECORDS)


def test_smallest_activity_counts_in_both_directions() -> None:
    """The rule is on the absolute change."""
    assert probe_adapter(Engine(-2e-7), RECORDS).activity == pytest.approx(2e-7)


def test_strength_zero_must_change_nothing_at_all() -> None:
    """An engine that shows any change there answers from another adapter, or not the same twice."""
    assert probe_adapter(Engine(0.0), RECORDS, strength=0.0).activity == 0.0
    with pytest.raises(ModelError, match="must be exactly 0"):
        probe_adapter(Engine(1e-12), RECORDS, strength=0.0)


def test_engine_that_scores_other_tokens_than_asked_is_refused() -> None:
    """A server that drops the first token, or adds the prompt's, would be compared with itself wrongly."""
    with pytest.raises(ModelError, match="scored 5 and 5 target tokens of 16"):
        probe_adapter(Engine(1.0, token_count=5), RECORDS)
