"""A plan says everything that decides a number, and a value that breaks a rule is named with it."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest
from pydantic import BaseModel
from tests.audit.registration.builders import CONTROL, PLAN

from leakscale.audit.registration.fields import (
    CheckTable,
    ControlTable,
    DecodingTable,
    GateTable,
    InferenceTable,
    ModelTable,
    PromptTable,
    ReviewTable,
    ScoringTable,
    SourceTable,
)
from leakscale.audit.registration.plan import AuditPlan, load_plan, plan_from_fields
from leakscale.errors import InvalidRequestError, NotFoundError


def _plan(folder: Path, text: str) -> Path:
    path = folder / "audit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_written_out_and_read_is_the_same(tmp_path: Path) -> None:
    """The registration holds it as JSON, and analysis reads it from there."""
    plan = load_plan(_plan(tmp_path, PLAN + CONTROL + "[prompt]\nfew_shot = ['Q: 1?\\nA: 1']\n"))
    assert plan_from_fields(plan.to_json(), source="again") == plan


def test_the_template_says_what_the_defaults_are() -> None:
    """Whoever reads the template must not be told another default than the one in force."""
    text = resources.files("leakscale.audit.registration").joinpath("audit.toml").read_text(encoding="utf-8")
    fields = tomllib.loads(text.replace("{name}", "demo"))
    fields["benchmark"] |= {"source": "x", "license": "y"}
    fields["models"][0] |= {"source": "x", "revision": "y"}
    bare = {name: fields[name] for name in ("format", "name", "title", "benchmark", "models")}
    assert plan_from_fields(fields, source="template") == plan_from_fields(bare, source="defaults")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("[decoding]\ntoken_max = 3", r"field 'decoding\.token_max': extra inputs"),
        ("[decoding]\nanswer_count = 3", "field 'decoding': a greedy answer repeats itself"),
        ("[scoring]\nparser_formats = []", r"field 'scoring\.parser_formats': parser\.formats is nothing"),
        ("[checks]\nsimilarity_max = 1.5", "field 'checks': checks.similarity_max is 1.5"),
        ("[prompt]\ntemplate = 'Solve it.'", r"field 'prompt\.template': write {question} once"),
        ("[prompt]\nchoice_template = '{question} {question}'", r"field 'prompt\.choice_template'"),
        ("[inference]\nbound = 'wald'", "field 'inference': bound is 'wald'; it is one of hoeffding"),
        ("[inference]\nadjustment = 'none'", "adjustment is 'none'; it is one of bonferroni, holm, bh"),
        ("[inference]\nrho = 0.03", r"rho is 0.03; it is one of rho_grid \(0, 0.01, 0.02, 0.05, 0.1\)"),
        ("[inference]\nrho_grid = [0.02, 0.0]", "rho_grid: write each radius once"),
        ("[inference]\nalpha = 1.0", r"field 'inference\.alpha': .*less than or equal to 0\.5 \(got 1\.0\)"),
        ("[inference]\nalpha = nan", r"field 'inference\.alpha'"),
        ("[inference]\nguardrail_parents = 100", r"field 'inference\.guardrail_parents': .*200"),
        ("[control]\nprivate = false\nprovenance = 'x'", r"field 'control\.private'"),
        ("[review]\nscope = 'some'", r"field 'review\.scope'"),
        ("[[models]]\nid = 'tiny'\nsource = 'x'\nrevision = '1'", "field 'models': id 'tiny' comes 2 times"),
        (
            "[[models]]\nid = 'Big One'\nsource = 'x'\nrevision = '1'",
            r"field 'models\.2\.id': 'Big One' is no identifier; write 1 to 63 small letters",
        ),
        ("[[models]]\nid = 'big'\nsource = 'x'", r"field 'models\.2\.revision': field required"),
        (
            "[[gates]]\nid = 'g'\nabout = 'x'\nparents = 0\nstandard_deviation = 1\ntolerance = 1",
            r"field 'gates\.0\.parents'",
        ),
        ("[nothing]", "field 'nothing': extra inputs"),
        ("[", "not valid TOML"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named(tmp_path: Path, extra: str, message: str) -> None:
    """A plan is written by hand, once, and cannot be corrected after the lock."""
    with pytest.raises(InvalidRequestError, match=message) as caught:
        load_plan(_plan(tmp_path, f"{PLAN}\n{extra}\n"))
    assert str(caught.value).startswith(str(tmp_path / "audit.toml"))


def test_a_plan_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The usual mistake is the wrong folder."""
    with pytest.raises(NotFoundError, match=r"plan '.*' does not exist; `leakscale audit new` writes one"):
        load_plan(tmp_path / "audit.toml")


def test_a_plan_that_is_no_text_is_named(tmp_path: Path) -> None:
    """An editor may save in another encoding."""
    (tmp_path / "audit.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(InvalidRequestError, match="byte 8 is not UTF-8"):
        load_plan(tmp_path / "audit.toml")


def test_the_docs_tell_of_every_field() -> None:
    """A field that nobody is told of is registered by default, and by accident."""
    page = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
    tables: list[type[BaseModel]] = [
        AuditPlan,
        SourceTable,
        ControlTable,
        ModelTable,
        PromptTable,
        DecodingTable,
        ScoringTable,
        CheckTable,
    ]
    tables += [ReviewTable, InferenceTable, GateTable]
    fields = {name for table in tables for name in table.model_fields}
    headings = {name for name in AuditPlan.model_fields if f"[{name}]" in page}
    assert {name for name in fields - headings if f"`{name}`" not in page} == set()
