"""Every verb that calls a server, against a real one: text, JSON, exit codes, and what is said when it goes wrong."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leakscale.base_model import base_model_folder
from leakscale.cli.entry import run
from leakscale.client import Client
from leakscale.resources import catalog_folder
from leakscale.results import disclosure_from_json
from leakscale_server.app import RunningServer

from .helpers import World, a_plan

CREATE = ["experiment", "create", "x", "--edition", "world", "--model-label", "m"]
SHAPE = str(catalog_folder() / "sql" / "threshold.toml")


class Shell:
    """Runs verbs as the person who started the server."""

    def __init__(self, server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
        self._options = ["--server", server.target, "--token", server.token]
        self._capsys = capsys

    def text(self, *arguments: str, code: int = 0) -> str:
        """Run a verb and return what it printed."""
        found = run([*arguments, *self._options])
        captured = self._capsys.readouterr()
        assert found == code, captured.err
        return captured.out

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run a verb with `--json` and return the one value it printed."""
        return json.loads(self.text(*arguments, "--json", code=code))

    def error(self, *arguments: str, code: int) -> str:
        """Run a verb that fails and return its one line."""
        found = run([*arguments, *self._options])
        captured = self._capsys.readouterr()
        assert found == code, captured.err
        assert captured.out == ""
        lines = captured.err.splitlines()
        assert lines[-1].startswith("error: ")
        assert "Traceback" not in captured.err
        return lines[-1]


@pytest.fixture
def shell(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(server, capsys)


def a_shape_file(path: Path, *changes: tuple[str, str]) -> str:
    text = Path(SHAPE).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_an_author_goes_from_a_shape_to_a_frozen_edition(shell: Shell) -> None:
    """Certify, look, freeze, read: four commands."""
    certified = shell.json("certify", SHAPE, "--edition", "cli")
    assert certified == {"edition": "cli", "certified": 8, "rejected": []}
    assert "freeze it with `leakscale edition freeze cli`" in shell.text("certify", SHAPE, "--edition", "cli")
    assert shell.json("edition", "show", "cli")["phase"] == "certified"
    frozen = shell.json("edition", "freeze", "cli")
    assert (frozen["phase"], len(frozen["commitment_root"])) == ("frozen", 64)
    assert "edition 'cli' is frozen" in shell.text("certify", SHAPE, "--edition", "cli")
    assert "editions/cli  practice  frozen  8 of 8 certified" in shell.text("edition", "list")
    assert shell.json("edition", "list")["editions"]
    families = shell.json("edition", "families", "cli")["families"]
    assert len(families) == 8
    assert all(len(family["answers"]) == 4 for family in families)
    assert families[0]["prompt"][1]["content"] in shell.text("edition", "families", "cli")


def test_a_trainer_and_an_auditor_go_from_an_edition_to_its_numbers(shell: Shell, world: World, tmp_path: Path) -> None:
    """Adapt, register, answer four banks, disclose: nothing but the command line."""
    adapter = tmp_path / "adapter"
    adapted = shell.json(
        "adapt", "world", "--model", "tiny", "--output", str(adapter), "--request-id", "cli", "--preservation", "0"
    )
    records = 8 * 2 + 4 * 2 + 1  # two of each exposed family, the grant's decoy pairs and its canary
    assert (adapted["adapter"], adapted["records"]) == (str(adapter), records)
    created = shell.json(
        "experiment", "create", "cli-run", "--edition", "world", "--model-label", "tiny", "--draws", "2",
        "--resamples", "200",
    )  # fmt: skip
    assert [bank["case_count"] for bank in created["banks"]] == [16] * 4
    assert "is not sealed" in shell.error("experiment", "disclose", "cli-run", code=4)
    for bank in created["banks"]:
        name = bank["name"]
        options = ["--model", "tiny", "--log", str(tmp_path / name.replace("/", "_"))]
        if name.endswith("adapted"):
            assert "needs --adapter" in shell.error("bank", "answer", name, *options, code=2)
            options += ["--adapter", str(adapter)]
        else:
            assert "takes no --adapter" in shell.error(
                "bank", "answer", name, *options, "--adapter", str(adapter), code=2
            )
        assert shell.json("bank", "answer", name, *options)["cases"] == 16
        assert shell.json("bank", "show", name)["is_sealed"]
    assert "sealed  16 of 16 answers" in shell.text("experiment", "show", "cli-run")
    output = tmp_path / "numbers.json"
    disclosed = shell.json("experiment", "disclose", "cli-run", "--output", str(output))
    assert disclosed["finding"]
    assert disclosure_from_json(output.read_text()).experiment_id == "cli-run"
    assert "C2 exposed" in shell.text("experiment", "disclose", "cli-run")


def test_an_experiment_is_registered_with_cohorts_and_shows_its_budget(shell: Shell, world: World) -> None:
    """What is fixed before the first answer can be read back, and what it costs before it is asked."""
    created = shell.json(
        "experiment", "create", "cli-cohorts", "--edition", "world", "--model-label", "m",
        "--cohort", "one=sql-threshold", "--lifetime-days", "1", "--self-administered",
    )  # fmt: skip
    assert (created["cohorts"], created["is_self_administered"]) == ({"one": ["sql-threshold"]}, True)
    assert {bank["phase"] for bank in created["banks"]} == {"draft"}
    assert "cohort one: sql-threshold" in shell.text("experiment", "show", "cli-cohorts")
    assert shell.json("experiment", "budget", "world") == {"atoms": [], "is_unlimited": True}
    assert "has no budget" in shell.text("experiment", "budget", "world")
    command = ["experiment", "create", "no", "--edition", "world", "--model-label", "m", "--cohort", "sql-threshold"]
    assert "NAME=SHAPE,SHAPE" in shell.error(*command, code=2)


def test_status_says_what_the_server_is(shell: Shell) -> None:
    """And that it is there."""
    facts = shell.json("server", "status")

    assert facts["sandbox"] == "bubblewrap, 2 lanes"
    assert len(facts["public_key"]) == len(facts["ledger_root"]) == 64
    assert "ledger_entries" in shell.text("server", "status")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([("[candidates]", "[candidates")], ["wrong.toml:6:"]),
        ([("step = 0.5, distance = 6", "step = 0.5, distance = -6")], ["distance", "-6"]),
        ([('type = "decimal"', 'type = "complex"')], ["candidates", "complex"]),
        ([('domain = "sql"', 'domain = "cobol"')], ["domain", "cobol"]),
        ([('generator = "serial"', 'generator = "cereal"')], ["generator", "cereal"]),
    ],
)
def test_a_shape_file_that_is_wrong_is_named_with_line_and_field(
    shell: Shell, tmp_path: Path, changes: list[tuple[str, str]], words: list[str]
) -> None:
    """An author corrects it from the message."""
    path = a_shape_file(tmp_path / "wrong.toml", *changes)

    message = shell.error("certify", path, "--edition", "wrong", code=2)

    assert "wrong.toml:" in message
    assert [word for word in words if word not in message] == []


def test_two_correct_candidates_are_a_negative_result(shell: Shell, tmp_path: Path) -> None:
    """The run was fine and its answer is no: exit code 1, the rule, the numbers, the next step."""
    path = a_shape_file(tmp_path / "equal.toml", ("{{policy}}", "0 * {{policy}}"))

    outcome = shell.json("certify", path, "--edition", "equal", code=1)
    shown = shell.text("certify", path, "--edition", "equal", code=1)

    assert outcome["certified"] == 0
    assert outcome["rejected"][0]["rule"] == "PERFECT_COUNT"
    assert outcome["rejected"][0]["figures"] == {
        "candidate_position": 0, "other_position": 1, "equal_count": 8, "equal_count_max": 6, "fixture_count": 8,
    }  # fmt: skip
    assert "\n  8 of 8 rejected: PERFECT_COUNT: e.g. candidates " in shown
    assert re.search(r"candidates [\d.]+ and [\d.]+ give the same result on 8 of 8 fixtures, and at most 6 may;", shown)
    assert shown.endswith("correct them and certify with a new --edition\n")
    refused = shell.error("edition", "freeze", "equal", code=4)
    assert "without a certificate" in refused
    assert "a family that it rejects stays rejected" in refused
    conflict = shell.error("certify", a_shape_file(tmp_path / "equal.toml"), "--edition", "equal", code=4)
    assert "--edition NEW" in conflict


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["certify", "/nonexistent/shape.toml"], 2, "'/nonexistent/shape.toml' does not exist"),
        (["certify", SHAPE, "--edition", "Not An Id"], 2, "is not a valid id"),
        (["certify", SHAPE, "--edition", "n", "--families-per-cell", "5"], 2, "4, 8, 12 or 16"),
        (["certify", SHAPE, "--edition", "world"], 4, "choose another id"),
        (["edition", "show", "nowhere"], 2, "does not exist"),
        (["edition", "show", "a/b/c"], 2, "editions/{edition}"),
        (["edition", "families", "nowhere"], 2, "does not exist"),
        (["experiment", "show", "nowhere"], 2, "does not exist"),
        (["experiment", "create", "x", "--edition", "nowhere", "--model-label", "m"], 2, "does not exist"),
        ([*CREATE, "--draws", "0"], 2, "draw_count"),
        ([*CREATE, "--bootstrap-seed", "-1"], 2, "--bootstrap-seed"),
        (["bank", "show", "sql-base"], 2, "experiments/{experiment}/banks/{bank}"),
        (["bank", "show", "experiments/world/banks/none"], 2, "has no bank"),
    ],
)
@pytest.mark.usefixtures("world")
def test_what_cannot_be_done_is_one_line_with_its_exit_code(
    shell: Shell, arguments: list[str], code: int, words: str
) -> None:
    """Scripts decide by the code, people by the line."""
    assert words in shell.error(*arguments, code=code)


@pytest.mark.parametrize(
    "verb",
    [
        ["server", "status"],
        ["edition", "list"],
        ["certify", SHAPE],
        ["experiment", "show", "world"],
        ["bank", "show", "experiments/world/banks/sql-base"],
    ],
)
@pytest.mark.parametrize(("token", "words"), [("", "carries no token"), ("lsk_wrong", "carries no token that")])
def test_a_wrong_token_is_refused_in_words(
    server: RunningServer, capsys: pytest.CaptureFixture[str], verb: list[str], token: str, words: str
) -> None:
    """The line says where the right one is."""
    code = run([*verb, "--server", server.target, "--token", token, "--json"])

    captured = capsys.readouterr()
    assert code == 4
    assert captured.out == ""
    assert words in json.loads(captured.err)["error"]["message"]


def test_a_broken_token_variable_is_said(
    server: RunningServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lines in the variable must not become an exception of the transport."""
    monkeypatch.setenv("LEAKSCALE_TOKEN", f"{server.token}\nsecond line")

    assert run(["server", "status", "--server", server.target]) == 2
    assert "the token holds" in capsys.readouterr().err


def without_template(folder: Path) -> str:
    shutil.copytree(base_model_folder(), folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return str(folder)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda _: "/nonexistent/model", "/nonexistent/model"),
        (lambda folder: without_template(folder / "model"), "chat template"),
        (str, "model"),
    ],
)
@pytest.mark.usefixtures("world")
def test_a_model_that_cannot_be_used_is_named(
    shell: Shell, client: Client, tmp_path: Path, model: Callable[[Path], str], words: str
) -> None:
    """Before a case is answered, and with what is wrong about it."""
    experiment = client.experiments.create(a_plan(client.editions.get("editions/world"), "models"))
    name = experiment.banks[0].name
    source = model(tmp_path)

    message = shell.error("bank", "answer", name, "--model", source, "--log", str(tmp_path / "log"), code=2)

    assert words in message
    assert client.banks.get(name).answered_count == 0
    output = str(tmp_path / "adapter")
    assert words in shell.error("adapt", "world", "--model", source, "--output", output, "--request-id", "m", code=2)
    assert not Path(output).exists()


def test_a_backend_that_does_not_exist_is_a_usage_error(shell: Shell) -> None:
    """Said before a server is started for it."""
    assert "chroot" in shell.error("certify", SHAPE, "--local", "--backend", "chroot", code=2)


def test_a_local_certification_leaves_nothing_behind(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An author without a server tries a shape with one command."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    outcome = shell.json("certify", SHAPE, "--local", "--backend", "bubblewrap")

    assert outcome["certified"] == 8
    assert list(tmp_path.iterdir()) == []
