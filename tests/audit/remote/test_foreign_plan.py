"""A plan that somebody else wrote reaches neither a secret nor a file of whoever answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.answering.builders import locked_audit
from tests.audit.registration.builders import PLAN, an_audit
from tests.audit.remote.builders import a_fetched_audit
from tests.inference.model_endpoint import ModelEndpoint
from tests.inference.stub_endpoint import Stub, serving
from typer.testing import CliRunner

from leakscale.audit.answering.engines import Own, model_words
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.amending import registration_of
from leakscale.audit.registration.locking import lock_audit
from leakscale.base_model import base_model_folder
from leakscale.cli.app import app
from leakscale.errors import AuthenticationError, InvalidRequestError, PreconditionError

ONE = PLAN[: PLAN.rindex("[[models]]")]


@pytest.fixture(scope="module")
def model() -> ModelEndpoint:
    """The model behind the author's endpoint."""
    return ModelEndpoint()


@pytest.fixture
def stub(model: ModelEndpoint) -> Iterator[Stub]:
    """The author's endpoint, which keeps what it is sent."""
    with serving(model) as running:
        yield running


def a_plan(stub: Stub, variable: str) -> str:
    """A plan by which an author would have a variable of the runner sent to their endpoint."""
    return (
        f'{ONE}engine = "openai"\nengine_options = {{ url = "{stub.url}", api_key_variable = "{variable}" }}\n'
        "[decoding]\ntoken_count_max = 8\n"
    )


def keys(stub: Stub) -> set[str | None]:
    """What came as authorization."""
    assert stub.requests
    return {each["authorization"] for each in stub.requests}


@pytest.mark.parametrize("variable", ["RUNNERS_SECRET", "OPENAI_API_KEY"])
def test_no_secret_of_the_runner_is_sent_unless_the_runner_names_it(
    tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Not even the one that everybody has; on the author's own machine it is sent as registered."""
    monkeypatch.setenv(variable, "s3cr3t")
    monkeypatch.setenv("CHOSEN", "chosen")
    author = locked_audit(tmp_path, plan=a_plan(stub, variable))
    answer_audit(author, "tiny")
    assert keys(stub) == {"Bearer s3cr3t"}
    for name, own, sent in (("bare", None, None), ("named", Own(api_key_variable="CHOSEN"), "Bearer chosen")):
        stub.requests.clear()
        answer_audit(a_fetched_audit(author, tmp_path / name), "tiny", own=own)
        assert keys(stub) == {sent}


def test_an_endpoint_that_wants_a_key_is_answered_with_the_option(tmp_path: Path, stub: Stub) -> None:
    """Whoever meets the refusal learns how to name one."""
    fetched = a_fetched_audit(locked_audit(tmp_path, plan=a_plan(stub, "X")), tmp_path / "fetched")
    stub.faults.status = 401
    with pytest.raises(AuthenticationError, match="set a variable, which you name by --api-key-variable, to a key"):
        answer_audit(fetched, "tiny")


@pytest.mark.parametrize("variable", ["LEAKSCALE_TOKEN", "leakscale_client_key"])
def test_what_opens_a_server_is_no_endpoints_key(tmp_path: Path, stub: Stub, variable: str) -> None:
    """In no audit; whoever reads the endpoint's log would be the runner to the server."""
    with pytest.raises(InvalidRequestError, match=f"'api_key_variable' is '{variable}', and LEAKSCALE_"):
        lock_audit(an_audit(tmp_path / "plan", plan=a_plan(stub, variable)))
    fetched = a_fetched_audit(locked_audit(tmp_path, plan=a_plan(stub, "X")), tmp_path / "fetched")
    with pytest.raises(InvalidRequestError, match=f"'api_key_variable' is '{variable}', and LEAKSCALE_"):
        answer_audit(fetched, "tiny", own=Own(api_key_variable=variable))
    assert stub.requests == []


def run(*arguments: object) -> tuple[int, str]:
    """Run a command of the audit; return exit code and everything that it said."""
    outcome = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    return outcome.exit_code, outcome.output + str(outcome.exception or "")


def test_answer_says_where_questions_go_before_it_asks(tmp_path: Path, stub: Stub) -> None:
    """And takes the runner's own variable."""
    fetched = a_fetched_audit(locked_audit(tmp_path, plan=a_plan(stub, "HOME")), tmp_path / "fetched")
    code, said = run("answer", fetched.root, "--api-key-variable", "NOT_SET_ANYWHERE")

    assert code == 0
    words = f"tiny: engine openai, source tiny, every question goes to {stub.url}; registered key variable HOME"
    assert f"registered by the author: {words}" in said
    assert keys(stub) == {None}


def by_path(folder: Path, source: str) -> tuple[AuditDirectory, AuditDirectory]:
    """Return author's and runner's directory of an audit whose model is named by a path."""
    plan = ONE.replace('source = "tiny"', f"source = {json.dumps(source)}") + "[decoding]\ntoken_count_max = 4\n"
    author = locked_audit(folder, plan=plan)
    return author, a_fetched_audit(author, folder / "fetched")


@pytest.mark.parametrize("source", ["/etc", "~/models/x", "../x", ".", "C:\\models", "a/b/c", "models\\..\\x"])
def test_a_path_of_the_authors_machine_is_not_opened_on_another(tmp_path: Path, source: str) -> None:
    """What lies there is the runner's."""
    _, fetched = by_path(tmp_path, source)
    with pytest.raises(PreconditionError, match="a path of the author's machine, which is not opened on another"):
        answer_audit(fetched, "tiny")


def test_the_runner_names_where_the_model_lies(tmp_path: Path) -> None:
    """The same weights in another folder; the shipped model has a name that is no path."""
    author, fetched = by_path(tmp_path, str(base_model_folder()))
    code, said = run("answer", fetched.root, "--source", f"tiny={base_model_folder()}")

    assert code == 0, said
    assert "source" in model_words(registration_of(author).plan.models[0])
    assert run("answer", fetched.root, "--source", "other=x")[0] != 0
    _, named = by_path(tmp_path / "named", "tiny")
    assert answer_audit(named, "tiny").accuracy is None
