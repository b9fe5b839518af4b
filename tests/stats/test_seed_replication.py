"""Effects over training seeds."""

from __future__ import annotations

import json
import math

import pytest

from leakscale.stats import EmptyCellError, ParameterError, seed_replication

RUNS = {
    "s0": {"public": 0.49, "deep": 0.238},
    "s1": {"public": 0.47, "deep": 0.2},
    "s2": {"public": 0.45, "deep": 0.179},
}


def test_all_seeds_are_reported_and_the_registered_one_is_placed() -> None:
    """A reader is entitled to know which end of the range the registered run landed on."""
    result = seed_replication(RUNS, registered_seed="s0")

    deep = result.forms["deep"]
    assert dict(deep.effects) == {"s0": 0.238, "s1": 0.2, "s2": 0.179}
    assert deep.registered_rank == 1
    assert deep.spread == pytest.approx(0.059)
    assert deep.mean == pytest.approx(0.617 / 3)
    assert result.is_stable
    assert "registered seed is number 1 from the top" in str(result)
    json.dumps(result.to_dict(), allow_nan=False)


def test_spread_beyond_the_tolerance_is_not_stable() -> None:
    """At the tolerance it still is."""
    assert seed_replication(RUNS, registered_seed="s1", judged_form="deep", tolerance=0.06).is_stable
    assert not seed_replication(RUNS, registered_seed="s1", judged_form="deep", tolerance=0.05).is_stable
    same = {"a": {"public": 0.5, "deep": 0.1}, "b": {"public": 0.5, "deep": 0.2}}
    assert seed_replication(same, registered_seed="a").spread_ratio("deep") is None


@pytest.mark.parametrize(
    ("runs", "settings", "error", "words"),
    [
        ({"s0": {"public": 0.4}}, {"registered_seed": "s0"}, EmptyCellError, "at least two seeds"),
        (RUNS, {"registered_seed": "s9"}, ParameterError, "report every seed"),
        (RUNS, {"registered_seed": "s0", "judged_form": "fresh"}, ParameterError, "'fresh' is not among"),
        (RUNS, {"registered_seed": "s0", "tolerance": 0.0}, ParameterError, "above 0"),
        ({**RUNS, "s3": {"public": 0.4}}, {"registered_seed": "s0"}, ParameterError, "report all of them"),
        (
            {**RUNS, "s3": {"public": math.nan, "deep": 0.1}},
            {"registered_seed": "s0"},
            ParameterError,
            "pass a finite number",
        ),
    ],
)
def test_seeds_cannot_be_dropped(
    runs: dict[str, dict[str, float]], settings: dict[str, object], error: type[Exception], words: str
) -> None:
    """The binding commitment of a replication is that every run is in it."""
    with pytest.raises(error, match=words):
        seed_replication(runs, **settings)  # type: ignore[arg-type]
