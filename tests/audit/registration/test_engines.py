"""What a model is asked with is looked at before the lock: after it, a mistake would need an amendment."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.registration.builders import NOW, PLAN, an_audit
from typer.testing import CliRunner

from leakscale.audit.registration.amending import amend_audit, amendments_of
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.readiness import readiness_of
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import InvalidRequestError

UNUSABLE = {
    "batch_size = 0": "'batch_size' is 0; it is at least 1",
    'batch_size = "8"': "'batch_size' is '8', a str",
    "unknown = 1": "'unknown' does not exist; choose among attention, batch_size",
    'dtype = "int4"': "'dtype' is 'int4'; choose among float32, bfloat16",
    'device = "gpu 1"': "'device' is 'gpu 1'; write it as torch does",
    "thread_count = 0": "'thread_count' is 0; it is at least 1",
}
UNSIGNABLE = ["a = nan", "batch_size = inf", "a = 1979-05-27", "a = 9007199254740993", "a = [{b = nan}]"]


def with_options(options: str, engine: str = "transformers") -> str:
    """Return a plan whose first model is asked with these options."""
    return PLAN.replace('revision = "1"', f'revision = "1"\nengine = "{engine}"\nengine_options = {{{options}}}')


@pytest.mark.parametrize(("options", "rule"), UNUSABLE.items())
def test_options_that_no_engine_takes_stop_check_and_lock(tmp_path: Path, options: str, rule: str) -> None:
    """Named by model and engine, before anything is signed."""
    directory = an_audit(tmp_path, plan=with_options(options))
    obstacles = readiness_of(directory).obstacles
    with pytest.raises(InvalidRequestError, match=f"model 'tiny', engine 'transformers': engine option {rule}"):
        lock_audit(directory, now=NOW)

    assert any(f"engine option {rule}" in each for each in obstacles)
    assert not directory.registration.exists()


def test_an_endpoint_needs_its_address_before_the_lock(tmp_path: Path) -> None:
    """And no address is asked."""
    directory = an_audit(tmp_path, plan=with_options("", engine="openai"))
    with pytest.raises(InvalidRequestError, match="engine 'openai': engine option 'url' is missing"):
        lock_audit(directory, now=NOW)
    directory.plan.write_text(with_options('url = "http://localhost:1/v1"', engine="openai"), encoding="utf-8")
    lock_audit(directory, now=NOW)


@pytest.mark.parametrize("options", UNSIGNABLE)
def test_a_value_that_json_cannot_hold_is_refused_and_not_signed_as_another(tmp_path: Path, options: str) -> None:
    """Infinity would be registered as nothing, a date as a text."""
    directory = an_audit(tmp_path, plan=with_options(options))
    with pytest.raises(InvalidRequestError, match=r"engine_options': (a|batch_size) is .*, which JSON cannot hold"):
        lock_audit(directory, now=NOW)


@pytest.mark.parametrize("options", [*UNSIGNABLE, "batch_size = 0", "a = " + "[" * 400 + "]" * 400])
def test_an_amendment_is_held_to_the_same(tmp_path: Path, options: str) -> None:
    """One line, nothing logged."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    shell = Shell(console=Console(), server="", token=None)
    arguments = ["audit", "amend", str(directory.root), "--reason", "because"]
    outcome = CliRunner().invoke(app, [*arguments, "--set", f"models.tiny.engine_options={{{options}}}"], obj=shell)

    assert isinstance(outcome.exception, InvalidRequestError), outcome.output
    assert "\n" not in str(outcome.exception)
    assert amendments_of(directory) == ()


def test_a_field_is_set_once(tmp_path: Path) -> None:
    """Of two values nobody knows which was meant."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    shell = Shell(console=Console(), server="", token=None)
    twice = [word for value in (10, 20) for word in ("--set", f"decoding.token_count_max={value}")]
    outcome = CliRunner().invoke(app, ["audit", "amend", str(directory.root), *twice, "--reason", "x"], obj=shell)

    assert outcome.exit_code == 2
    assert "is set twice" in outcome.output
    assert amendments_of(directory) == ()


def test_a_call_with_what_json_cannot_hold_is_refused_too(tmp_path: Path) -> None:
    """Not only the command line passes values."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    with pytest.raises(InvalidRequestError, match="which JSON cannot hold"):
        amend_audit(directory, changes={"models.tiny.engine_options": {"a": {1, 2}}}, reason="because")
