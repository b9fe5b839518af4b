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


def test_an_engine_that_does_not_exist_is_found_before_the_lock(tmp_path: Path) -> None:
    """After it, only an amendment could mend it."""
    directory = an_audit(tmp_path, plan=PLAN.replace('revision = "2"', 'revision = "2"\nengine = "telepathy"'))
    with pytest.raises(InvalidRequestError, match="engine 'telepathy' is not one of transformers, openai"):
        lock_audit(directory)
