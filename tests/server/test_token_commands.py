"""`leakscale-server token`, beside a server that runs on the same folder."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from leakscale.client import Client
from leakscale.errors import AuthenticationError, PermissionDeniedError
from leakscale.models import CertificationRequest, Condition
from leakscale_server.__main__ import app
from leakscale_server.app import RunningServer

from .helpers import World

Command = Callable[..., Result]


@pytest.fixture
def command(server: RunningServer, data_dir: Path) -> Command:
    """Run a verb on the folder of the shared server, which runs."""

    def run(verb: str, *arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["token", verb, "--data-dir", str(data_dir), *arguments])
        assert result.exit_code == code, result.output
        return result

    return run


def created(command: Command, *arguments: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(
        command("create", "--principal", "ada", "--role", "auditor", "--json", *arguments).stdout
    )
    return facts


def test_a_token_opens_the_running_server_as_far_as_its_role_goes(server: RunningServer, command: Command) -> None:
    """No restart, and no more than was asked for."""
    facts = created(command, "--project", "north")

    with Client(server.target, token=facts["token"]) as client:
        assert client.server.info().lane_count == 2
        with pytest.raises(
            PermissionDeniedError, match="does not open ApproveGrant, which takes the scope grants:appr"
        ):
            client.grants.approve("editions/none/grants/g-0")


def test_a_narrowed_token_has_its_scopes_alone(server: RunningServer, command: Command) -> None:
    """A dashboard needs to read disclosures, not to submit answers."""
    facts = created(command, "--scope", "disclosures:read", "--scope", "server:read")

    assert facts["scopes"] == ["disclosures:read", "server:read"]
    with Client(server.target, token=facts["token"]) as client:
        client.server.info()
        with pytest.raises(PermissionDeniedError, match="ledger:read"):
            client.ledger.head()


def test_a_revoked_token_is_refused_by_the_running_server(server: RunningServer, command: Command) -> None:
    """Though it was in use just before."""
    facts = created(command)
    with Client(server.target, token=facts["token"]) as client:
        client.server.info()
        command("revoke", facts["token_id"])
        deadline = time.monotonic() + 60
        with pytest.raises(AuthenticationError, match=r"no token that this server takes; pass one that has not ended"):
            while time.monotonic() < deadline:
                client.server.info()
                time.sleep(0.1)


def test_a_stream_ends_with_the_token_that_it_began_with(server: RunningServer, command: Command, world: World) -> None:
    """A stream may last for hours: who took the token away meant now."""
    facts = created(command, "--role", "admin")
    answered = threading.Event()

    def requests() -> Iterator[CertificationRequest]:
        for ordinal in range(600):
            yield CertificationRequest("sql-threshold", Condition.C0, ordinal % 4)
            if ordinal == 0:
                answered.wait(60)
                command("revoke", facts["token_id"])
            elif ordinal > 0:
                time.sleep(0.1)

    with Client(server.target, token=facts["token"]) as client:
        stream = client.families.certify(world.edition.name, requests())
        assert next(stream).is_certified
        answered.set()
        with pytest.raises(AuthenticationError, match=r"no token that this server takes; pass one that has not ended"):
            list(stream)


def test_a_rotated_token_works_beside_the_old_one(server: RunningServer, command: Command) -> None:
    """For as long as both are said to hold."""
    old = created(command, "--expires-in", "never")
    new = json.loads(command("rotate", old["token_id"], "--overlap", "1h", "--json").stdout)

    assert (old["end_time"], new["end_time"]) == (None, None)
    assert new["token_id"] != old["token_id"]
    for token in (old["token"], new["token"]):
        with Client(server.target, token=token) as client:
            client.server.info()


def test_the_list_tells_everything_but_the_tokens(command: Command) -> None:
    """It may be read aloud in a meeting."""
    facts = created(command, "--project", "listed")
    command("revoke", facts["token_id"])

    listed = json.loads(command("list", "--json").stdout)["tokens"]
    text = command("list").stdout

    mine = next(token for token in listed if token["token_id"] == facts["token_id"])
    assert {name: mine[name] for name in ("principal", "project", "role", "has_ended")} == {
        "principal": "ada",
        "project": "listed",
        "role": "auditor",
        "has_ended": True,
    }
    assert facts["token"] not in json.dumps(listed) + text
    assert text.splitlines()[0].split() == ["token", "principal", "project", "role", "ends"]
    assert any(line.startswith(facts["token_id"]) and line.endswith("(ended)") for line in text.splitlines())


def test_the_token_stands_alone_on_standard_output(command: Command) -> None:
    """So that a shell can take it into a variable."""
    result = command("create", "--principal", "bob", "--role", "trainer", "--expires-in", "12h")

    assert result.stdout.startswith("lsk_")
    assert len(result.stdout.split()) == 1
    assert "trainer token" in result.stderr
    assert "of bob in project default, until 20" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create", "--principal", "Ada!", "--role", "auditor"], "principal 'Ada!' is not a valid id"),
        (["create", "--principal", "a", "--role", "auditor", "--expires-in", "soon"], "--expires-in soon: write a"),
        (["create", "--principal", "a", "--role", "auditor", "--scope", "grants:redeem"], "is beyond the role auditor"),
        (["revoke", "f00"], "token 'f00' does not exist on this server"),
        (["rotate", "f00", "--overlap", "-1h"], "--overlap -1h: write a number of at most six digits and a unit"),
    ],
)
def test_a_mistake_is_one_line(command: Command, arguments: list[str], words: str) -> None:
    """In text, and as JSON for who asked for JSON."""
    text = command(*arguments, code=2).stderr
    as_json = json.loads(command(*arguments, "--json", code=2).stderr)

    assert len(text.splitlines()) == 1
    assert words in text
    assert words in as_json["error"]["message"]


def test_a_folder_without_a_server_is_left_alone(tmp_path: Path) -> None:
    """A typing error in the path must not make a registry that no server reads."""
    result = CliRunner().invoke(app, ["token", "list", "--data-dir", str(tmp_path / "none")])

    assert result.exit_code == 2
    assert "it holds no registry; start a server on it first" in result.stderr
    assert not (tmp_path / "none").exists()
