"""A study whose banks an endpoint answers: one table of options, two model states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leakscale.cli.entry import run
from leakscale.evidence import STEPS_FILE, Status, read_steps

from .stub_endpoint import serving

pytestmark = pytest.mark.slow

STUDY = """\
format = 1
name = "served"
title = "Served"
seed = 7
[edition]
id = "served"
kind = "practice"
families_per_cell = 4
shapes = ["sql/threshold.toml"]
[model]
source = "tiny"
preservation_count = 8
adaptation = {{ repeat_count = 1 }}
engine = "openai"
engine_options = {{ url = "{url}", served_adapter = "adapted", backoff_s = 0.001 }}
[experiment]
id = "served"
draw_count = 2
resample_count = 200
"""


def test_a_study_asks_the_base_model_and_the_served_adapter(tmp_path: Path) -> None:
    """What the adapter is served as concerns the adapted banks; the base ones refuse to be told."""
    with serving() as stub:
        (tmp_path / "study.toml").write_text(STUDY.format(url=stub.url), encoding="utf-8")
        code = run(
            ["demo", "--backend", "bubblewrap", "--study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "run")]
        )
        asked = [request["model"] for request in stub.requests]

    assert code == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["mode"] == "sampled-guided"
    assert asked.count("adapted") >= 16
    assert len(set(asked)) == 2
    assert asked[0] != "adapted"
    # Its engine knows names in place of digests, and samples each case: the evidence holds all the same.
    steps = read_steps(tmp_path / "run" / "evidence" / STEPS_FILE)
    assert {step.name: step.message for step in steps if step.status is not Status.HOLDS} == {}
