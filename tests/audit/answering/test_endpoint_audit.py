"""An audit whose model is behind an endpoint: from the plan to scores, through the verb."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.answering.builders import locked_audit
from tests.audit.answering.test_answer_verb import run
from tests.audit.registration.builders import PLAN, an_audit
from tests.inference.model_endpoint import ModelEndpoint
from tests.inference.stub_endpoint import Stub, serving

from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.standing import Standing
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import InvalidRequestError, UnavailableError


@pytest.fixture(scope="module")
def model() -> ModelEndpoint:
    """Return the model behind the endpoint."""
    return ModelEndpoint()


@pytest.fixture
def stub(model: ModelEndpoint) -> Iterator[Stub]:
    """Serve it."""
    with serving(model) as running:
        yield running


def plan_of(stub: Stub, *, options: str = "") -> str:
    """Return a plan that asks one model at the endpoint."""
    engine = f'engine = "openai"\nengine_options = {{ url = "{stub.url}", backoff_s = 0.001, transport_failures_max = 2'
    return (
        PLAN[: PLAN.rindex("[[models]]")]
        + f"{engine}{options} }}\n[decoding]\ntoken_count_max = 8\n[scoring]\nrerun_share = 0.5\n"
    )


def table(directory: AuditDirectory, kind: ScoreKind) -> ScoreTable:
    """Return what was entered."""
    return ScoreTable.from_jsonl(directory.scores("tiny", bank=BankRole.AUDIT, kind=kind))


def test_it_is_answered_and_read_as_by_the_model_itself(tmp_path: Path, stub: Stub, model: ModelEndpoint) -> None:
    """Accuracy and signals are those of the same model in this process, and every question asked twice agrees."""
    there = locked_audit(tmp_path / "there", plan=plan_of(stub))
    (answered,) = json.loads(run("answer", there.root, as_json=True))["answered"]
    here = locked_audit(tmp_path / "here", plan=plan_of(stub))
    answer_audit(here, "tiny", engine=model.engine)

    assert answered["quality"]["rerun_count"] == answered["quality"]["rerun_alike_count"] == 6
    assert len(stub.bodies("/v1/chat/completions")) == 18
    assert table(there, ScoreKind.CORRECT) == table(here, ScoreKind.CORRECT)
    for kind in (ScoreKind.CONFIDENCE, ScoreKind.FAMILIARITY, ScoreKind.MIN_K):
        assert table(there, kind).scores == pytest.approx(table(here, kind).scores, abs=1e-4, nan_ok=True)


def test_it_goes_on_after_the_endpoint_was_away(tmp_path: Path, stub: Stub) -> None:
    """Batches that were kept are not asked again."""
    directory = locked_audit(tmp_path, plan=plan_of(stub, options=", batch_size = 6"))
    stub.faults.transport = lambda number: "500" if number >= 6 else None
    with pytest.raises(UnavailableError, match="run the same command again"):
        answer_audit(directory, "tiny")
    asked = len(stub.requests)
    stub.faults.transport = lambda number: None
    answer_audit(directory, "tiny")

    chats = [body for body in stub.requests[asked:] if body["path"] == "/v1/chat/completions"]
    assert len(chats) == 12
    assert not list(table(directory, ScoreKind.CORRECT).missing())


def test_an_endpoint_that_scores_no_prompts_is_audited_without_readings(tmp_path: Path, stub: Stub) -> None:
    """Detectors are observations: every bank of every model is answered, and what is lacking is told and entered."""
    stub.faults.has_no_echo = True
    plan = plan_of(stub)
    model = plan[plan.index("[[models]]") : plan.index("[decoding]")]
    plan = plan.replace("[decoding]", model.replace('"tiny"', '"second"') + "[decoding]")
    directory = locked_audit(tmp_path, plan=plan, control_count=3)
    answered = json.loads(run("answer", directory.root, as_json=True))["answered"]
    asked = len(stub.bodies("/v1/chat/completions"))
    again = json.loads(run("answer", directory.root, as_json=True))["answered"]

    assert [(each["model"], each["bank"]) for each in answered] == [
        ("tiny", "audit"),
        ("tiny", "control"),
        ("second", "audit"),
        ("second", "control"),
    ]
    assert [bool(each["unread"]) for each in answered] == [True, False, True, False]
    assert "no log-probabilities of prompt tokens (echo)" in answered[0]["unread"]
    assert again == answered
    assert len(stub.bodies("/v1/chat/completions")) == asked
    record = directory.unread("tiny", bank=BankRole.AUDIT)
    Standing(directory).require_entered(record)
    assert stub.url not in record.read_text(encoding="utf-8")
    assert "advantage" in run("analyze", directory.root, "--table", "advantage")


def test_readings_that_were_left_out_are_made_once_the_endpoint_can(tmp_path: Path, stub: Stub) -> None:
    """Nothing was read before, so nothing is chosen by reading now."""
    directory = locked_audit(tmp_path, plan=plan_of(stub))
    stub.faults.has_no_echo = True
    assert answer_audit(directory, "tiny").unread
    stub.faults.has_no_echo = False
    found = answer_audit(directory, "tiny")

    assert not found.unread
    assert {each.kind for each in found.tables} >= {ScoreKind.FAMILIARITY, ScoreKind.MIN_K}


def test_an_engine_that_does_not_exist_is_found_before_the_lock(tmp_path: Path) -> None:
    """After it, only an amendment could mend it."""
    directory = an_audit(tmp_path, plan=PLAN.replace('revision = "2"', 'revision = "2"\nengine = "telepathy"'))
    with pytest.raises(InvalidRequestError, match="engine 'telepathy' is not one of transformers, openai"):
        lock_audit(directory)
