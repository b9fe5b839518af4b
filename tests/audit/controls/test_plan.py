"""A control's file says what it lacks; what it leaves out takes a default that is registered with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.controls.test_running import CONTROL

from leakscale.audit.controls import load_control
from leakscale.errors import InvalidRequestError, NotFoundError


def test_defaults_are_written_out(tmp_path: Path) -> None:
    """The registration holds every rule, and not where the audit lies."""
    path = tmp_path / "control.toml"
    path.write_text(CONTROL, encoding="utf-8")
    fields = load_control(path).to_json()

    assert fields["judgement"] == {"floor": 0.05, "null_max": 0.05, "spread_max": 0.1, "alpha": 0.05}
    assert fields["training"]["seeds"] == [0]
    assert "audit" not in fields
    assert "borrowed" not in fields  # a control that was registered before there was such a table stays the same one


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('kind = "exact"', 'kind = "letter"', r"field 'exposure.kind': input should be 'exact' or 'paraphrase'"),
        ("pass_count = 60", "pass_count = 0", r"field 'training.pass_count'.*\(got 0\)"),
        ("pass_count = 60", "seeds = [1, 1]", "field 'training.seeds': write each seed once"),
        ("batch_size = 6", "repeat_count = 6", "repeat_count is set by training.pass_count"),
        ('kind = "exact"', 'kind = "exact"\nprompt = "Answer:"', "write {question} once"),
        ("record_count = 9", "record_count = 9\nsize = 3", "field 'mixture.size': extra inputs"),
        ("[training]", "[borrowed]\ntolerance = 0.05\n[training]", "field 'borrowed.standard_deviation'"),
        ("format = 1", "format = ", "not valid TOML"),
    ],
)
def test_a_malformed_control_is_refused_by_field_and_rule(tmp_path: Path, old: str, new: str, rule: str) -> None:
    """One line that says what to change."""
    assert old in CONTROL
    path = tmp_path / "control.toml"
    path.write_text(CONTROL.replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidRequestError, match=rule):
        load_control(path)


def test_a_control_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"none\.toml' does not exist"):
        load_control(tmp_path / "none.toml")
