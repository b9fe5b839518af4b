"""Several controls say more than one, and no more than they know: parents that they share are drawn once."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.audit.controls.builders import a_begun_control, a_control, a_spoken_control, a_word_problem_audit
from typer.testing import CliRunner

from leakscale.audit.controls.effects import ControlScores, run_effects
from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.controls.pooling import PooledControls, pool_controls, pool_studies
from leakscale.audit.controls.registering import runs_of
from leakscale.audit.controls.studied import StudiedControl, studied
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.forms.models import Criterion, Form, FormBank, Parent
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, NotFoundError, PreconditionError
from leakscale.stats import Withheld

Right = Sequence[tuple[int, int]]
"""Of each form, how many of the hundred exposed and of the hundred untouched parents are right."""
STILL: Right = ((20, 20), (20, 20), (20, 20))
TABLE_16 = {
    "Qwen": ((44, 20), (38, 20), (37, 20)),
    "SmolLM2": ((30, 20), (24, 20), (24, 20)),
    "OLMo1B": ((70, 20), (55, 20), (55, 20)),
    "StableLM": ((40, 20), (43, 20), (43, 20)),
}
"""After training; effects are those of the paper, .24 and .175, .10 and .04, .50 and .35, .20 and .23."""


def scores(right: Right, *, state: str) -> ScoreTable:
    """Return the scores of two hundred parents, the exposed ones first."""
    rows = [[float(at % 100 < counts[at >= 100]) for counts in right] for at in range(200)]
    return ScoreTable(
        model="tiny",
        kind=ScoreKind.CORRECT,
        metric="numeric",
        parent_ids=tuple(f"p{at}" for at in range(200)),
        scores=np.array(rows),
        fresh_count=2,
        state=state,
        bank_digest="b",
    )


def a_study(
    name: str, after: Right, *, asks: str = "What is {}?", floor: float = 0.05, **tables: object
) -> StudiedControl:
    """Return a control whose exposed parents are the first hundred; `asks` makes the items its own."""
    fields = {"training": {"null_run": False}, "judgement": {"floor": floor}} | tables
    control = a_control(**fields).model_copy(update={"name": name})  # type: ignore[arg-type]
    (run,) = runs_of(control)
    found = ControlScores(scores(STILL, state="base"), {run: scores(after, state=run.state)}, None, {})
    exposed = [f"p{at}" for at in range(100)]
    effects = run_effects(found, run, exposed, control)
    analysis = ControlAnalysis(control, 100, 200, (effects,), (), {"audit": "sums", "scores": [name]})
    parents = tuple(Parent(f"p{at}", Criterion.NUMERIC, Form(asks.format(at), str(at))) for at in range(200))
    return studied(analysis, FormBank(parents), name=name)


def effects_of(found: PooledControls) -> dict[str, float]:
    """Return the pooled effect of every form, and the gap."""
    return {row.forms: row.effect.estimate for row in found.table("pooled").rows}


def test_the_pool_of_the_papers_four_studies_is_its_table_16() -> None:
    """+.260 on the leaked wording, +.199 on wording never seen, .764 of it; every control keeps its own line."""
    found = pool_studies([a_study(name, after) for name, after in TABLE_16.items()])
    (share,) = found.table("pooled-share").rows

    assert effects_of(found) == pytest.approx({"public": 0.26, "fresh": 0.19875, "visible gap": 0.06125})
    assert share.share == pytest.approx(0.7644, abs=5e-5)
    assert (share.above_quarter, share.falsifier) == (1, "did not fire")
    gaps = [row.visible_gap.estimate for row in found.table("pooled-controls").rows]
    assert gaps == pytest.approx([0.065, 0.060, 0.150, -0.030])


def test_controls_of_the_same_items_are_drawn_together() -> None:
    """Four models on the same hundred items do not have the error of four hundred."""
    after = TABLE_16["Qwen"]
    one = pool_studies([a_study("a", after), a_study("b", after)])
    apart = pool_studies([a_study("a", after), a_study("b", after, asks="How much is {}?")])
    (alone,) = (pool.public for pool in one.pools.values())
    (other,) = (pool.public for pool in apart.pools.values())

    assert other.half_width < 0.8 * alone.half_width
    assert "200 parents, each with every form" in one.table("pooled").note
    assert "400 parents, each with every form" in apart.table("pooled").note


def test_kinds_of_exposure_are_pooled_apart() -> None:
    """The mean of an effect on public forms and of one on a paraphrase is the effect of nothing."""
    exact = [a_study(name, TABLE_16["Qwen"]) for name in "ab"]
    exposure = {"kind": "paraphrase", "fresh": 1}
    paraphrase = [a_study(name, ((30, 20), (90, 20), (40, 20)), exposure=exposure) for name in "cd"]
    found = pool_studies([*exact, *paraphrase])
    rows = {(row.exposure, row.forms): row.effect.estimate for row in found.table("pooled").rows}

    assert rows["exact", "public"] == pytest.approx(0.24)
    assert rows["paraphrase", "leaked"] == pytest.approx(0.7)
    assert rows["paraphrase", "fresh"] == pytest.approx(0.2)
    assert [row.share for row in found.table("pooled-share").rows] == pytest.approx([0.175 / 0.24, 2 / 7])


def test_one_control_of_a_kind_is_no_pool() -> None:
    """It says so, and shows the control."""
    found = pool_studies([a_study("a", TABLE_16["Qwen"])])

    assert (
        found.table("pooled").withheld == "1 of kind exact; a pool takes two controls that leak the same kind of form"
    )
    assert len(found.table("pooled-controls").rows) == 1


def test_a_control_that_planted_nothing_withholds_the_share_and_stays_in_the_mean() -> None:
    """To drop it would choose controls by what they found."""
    failed = ((10, 20), (15, 20), (15, 20))
    found = pool_studies([a_study("good", TABLE_16["OLMo1B"]), a_study("bad", failed)])
    (share,) = found.table("pooled-share").rows

    assert effects_of(found)["public"] == pytest.approx(0.2)
    assert share.share is None
    assert "study 'bad' moved the planted form by -10.0 points" in share.share_set
    assert [row.verdict for row in found.table("pooled-controls").rows] == ["passed", "failed: nothing was planted"]


def test_the_strictest_rule_of_the_controls_judges_the_pool() -> None:
    """A floor of one point would let pass what another control was registered not to."""
    lax, strict = (a_study(name, TABLE_16["SmolLM2"], floor=floor) for name, floor in (("lax", 0.01), ("strict", 0.15)))
    (pool,) = pool_studies([lax, strict]).pools.values()

    assert pool.share.withheld is Withheld.FAILED_MANIPULATION
    assert "floor of +15.0" in str(pool.share)


def test_what_differs_between_the_controls_is_told() -> None:
    """A mean over two doses is a mean over two doses."""
    second = a_study("b", TABLE_16["Qwen"], training={"null_run": False, "pass_count": 3})
    note = pool_studies([a_study("a", TABLE_16["Qwen"]), second]).table("pooled-controls").note

    assert "Their plans differ in training.pass_count." in note


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditDirectory, AuditDirectory]:
    """Two audits of the same items: two controls in the first, one in the second; tests read them."""
    first = a_word_problem_audit(tmp_path_factory.mktemp("first"))
    second = a_word_problem_audit(tmp_path_factory.mktemp("second"))
    a_spoken_control(first, a_control())
    a_spoken_control(first, a_control(exposure={"seed": 5}).model_copy(update={"name": "leak-b"}))
    a_spoken_control(second, a_control(exposure={"seed": 6}).model_copy(update={"name": "leak-c"}))
    return first, second


def test_audits_of_the_same_items_are_pooled_by_item(audits: tuple[AuditDirectory, AuditDirectory]) -> None:
    """Twelve items in three controls, exposed here and untouched there, are twelve and not thirty-six."""
    found = pool_controls(audits)
    (pool,) = found.pools.values()

    assert [each.name for each in found.controls] == ["leak", "leak-b", "leak-c"]
    assert pool.parent_count == 12
    assert pool.public.estimate == 1
    assert "some are exposed in one study and untouched in another" in found.table("pooled").note
    assert pool.share.withheld is Withheld.CENSORED


def test_what_is_left_out_is_named(audits: tuple[AuditDirectory, AuditDirectory]) -> None:
    """Whoever may leave out controls in silence may choose the mean."""
    found = pool_controls(audits, names=["leak", "leak-c"])

    assert found.left_out == ("leak-b",)
    assert "Not in the pool: leak-b." in found.table("pooled-controls").note
    with pytest.raises(NotFoundError, match="no audit given has a control 'x'; they have 'leak', 'leak-b', 'leak-c'"):
        pool_controls(audits, names=["x"])


def test_a_control_counts_once(audits: tuple[AuditDirectory, AuditDirectory], tmp_path: Path) -> None:
    """A copy of an audit would halve an error that it says nothing about."""
    first, _ = audits
    copy = AuditDirectory(Path(shutil.copytree(first.root, tmp_path / "copy")))

    with pytest.raises(InvalidRequestError, match=r"audit/leak' and '.*copy/leak' have the same scores"):
        pool_controls([first, copy])


def test_a_control_that_was_not_finished_stops_the_pool(tmp_path: Path) -> None:
    """The unfinished one may be the one that found nothing."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path), a_control())
    other = a_control().model_copy(update={"name": "other"})
    a_begun_control(directory, other, states=["base", "other-seed-0"])

    with pytest.raises(PreconditionError, match="control 'other' was registered and has no numbers; finish it"):
        pool_controls([directory])


def test_a_control_whose_numbers_were_deleted_stops_the_pool(tmp_path: Path) -> None:
    """Otherwise the bad one would look like an unfinished one, which a pool may leave out."""
    directory = a_spoken_control(a_word_problem_audit(tmp_path), a_control())
    shutil.rmtree(directory.control_numbers("leak"))

    with pytest.raises(IntegrityError, match=r"analysis\.json' is missing, and entry \d+ of the ledger names it"):
        pool_controls([directory], names=["leak"])


def test_the_verb_prints_the_pool_and_writes_it(audits: tuple[AuditDirectory, AuditDirectory], tmp_path: Path) -> None:
    """One command over folders; the files are those of every other analysis."""
    roots = [str(each.root) for each in audits]
    shell = Shell(console=Console(), server="", token=None)
    plain = CliRunner().invoke(app, ["audit", "pool", *roots, "--output", str(tmp_path / "pooled")], obj=shell)
    shell = Shell(console=Console(as_json=True), server="", token=None)
    as_json = CliRunner().invoke(app, ["--json", "audit", "pool", *roots], obj=shell)
    written = json.loads((tmp_path / "pooled" / "analysis.json").read_text(encoding="utf-8"))
    rows = list(csv.DictReader((tmp_path / "pooled" / "pooled.csv").open(encoding="utf-8")))

    assert plain.exit_code == 0, plain.output
    assert "What a leak did on average, over all controls of a kind" in plain.stdout
    assert json.loads(as_json.stdout)["pooled"] == written
    assert [row["forms"] for row in rows] == ["public", "fresh", "deep", "visible gap"]
    with pytest.raises(ConflictError):
        pool_controls(audits, names=["leak", "leak-c"]).write(tmp_path / "pooled")
