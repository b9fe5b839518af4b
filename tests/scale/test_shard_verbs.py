"""The commands of a Slurm array: freeze, answer in parts, merge, submit."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale.cli.shards import parse_options
from leakscale.client import Client
from leakscale.errors import InvalidRequestError
from leakscale.inference import BankFiles, verify_bank
from leakscale.models import EditionKind, Experiment, ExperimentPlan, ModelState, ShapeFile
from leakscale.resources import catalog_folder
from leakscale_server.app import RunningServer, serve
from leakscale_server.config import ServerConfig


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server under bubblewrap, which every machine of ours runs."""
    config = ServerConfig(
        listen="127.0.0.1:0",
        data_dir=tmp_path_factory.mktemp("server") / "data",
        cache_dir=Path(tempfile.gettempdir()) / "leakscale-test-cache",
        backend="bubblewrap",
        lane_count=2,
        grace_s=5.0,
    )
    with serve(config) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.target, token=server.token) as client:
        yield client


@pytest.fixture(scope="module")
def experiment(client: Client) -> Experiment:
    """Eight SQL families, four draws each."""
    name = "sql/threshold.toml"
    shape = ShapeFile(name, (catalog_folder() / name).read_text(encoding="utf-8"))
    draft = client.editions.create(
        "sharded",
        kind=EditionKind.PRACTICE,
        families_per_cell=4,
        public_seed=b"p" * 32,
        practice_private_seed=b"s" * 32,
        shapes=[shape],
    )
    assert all(outcome.is_certified for outcome in client.families.certify_edition(draft))
    edition = client.editions.freeze(draft.name)
    return client.experiments.create(ExperimentPlan("sharded", edition.name, "tiny", draw_count=4, resample_count=100))


def leakscale(server: RunningServer, *arguments: str) -> int:
    return run(["--server", server.target, "--token", server.token, *arguments])


def test_a_bank_is_answered_in_parts_and_sealed(
    server: RunningServer, client: Client, experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way of a job array; the middle of it needs no server."""
    bank = experiment.banks[0].name
    stem = str(tmp_path / "bank")

    assert leakscale(server, "shards", "freeze", bank, stem, "--model", "tiny") == 0
    for shard in ("2/2", "1/2"):
        assert run(["shards", "answer", stem, "--model", "tiny", "--shard", shard]) == 0
    assert run(["--json", "shards", "merge", stem, "--count", "2"]) == 0
    printed = capsys.readouterr().out
    merged: dict[str, Any] = json.loads(printed[printed.index("{") :])
    assert leakscale(server, "shards", "submit", bank, stem) == 0

    sealed = client.banks.get(bank)
    assert sealed.is_sealed
    assert sealed.case_count == 8 * 4
    assert merged["results_digest"] == verify_bank(BankFiles.of(Path(stem))).results


def test_answers_of_the_base_model_do_not_seal_the_adapted_bank(
    server: RunningServer, client: Client, experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files under the wrong name must not become a signed number."""
    adapted = next(bank.name for bank in experiment.banks if bank.state is ModelState.ADAPTED)
    stem = str(tmp_path / "bank")
    assert leakscale(server, "shards", "freeze", adapted, stem, "--model", "tiny") == 0
    assert run(["shards", "answer", stem, "--model", "tiny"]) == 0

    assert leakscale(server, "shards", "submit", adapted, stem) == 2

    assert f"bank '{adapted}' is of the adapted model" in " ".join(capsys.readouterr().err.split())
    assert client.banks.get(adapted).answered_count == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "3/2"], "shard 3/2 does not exist"),
        (["--address", "auto"], "pass --engine ray"),
        (["--option", "dtype"], "is not NAME=VALUE"),
        (["--engine", "other"], "engine 'other' is not one of"),
    ],
)
def test_a_wrong_line_of_a_script_stops_it(
    files: BankFiles, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    """Eight jobs that each answer the wrong part cost a night."""
    stem = str(files.plan).removesuffix(".plan.jsonl")

    assert run(["shards", "answer", stem, "--model", "tiny", *arguments]) == 2

    assert words in capsys.readouterr().err
    assert not list(files.plan.parent.glob("*attempts*"))


def test_an_unfinished_array_does_not_merge(files: BankFiles, capsys: pytest.CaptureFixture[str]) -> None:
    """The message is what to submit again."""
    assert run(["shards", "merge", str(files.plan).removesuffix(".plan.jsonl"), "--count", "2"]) == 2

    assert "lacks shard 1/2, 2/2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], {}),
        (["dtype=bfloat16"], {"dtype": "bfloat16"}),
        (["thread_count=4", "constrained=false"], {"thread_count": 4, "constrained": False}),
        (["url=http://host:8000/v1?a=b"], {"url": "http://host:8000/v1?a=b"}),
        (
            ["engine=transformers", "options.dtype=bfloat16"],
            {"engine": "transformers", "options": {"dtype": "bfloat16"}},
        ),
    ],
)
def test_options_are_json_where_they_can_be(given: list[str], wanted: dict[str, Any]) -> None:
    """A number must not arrive as text, nor a name as an error."""
    assert parse_options(given) == wanted


@pytest.mark.parametrize("given", [["a"], ["=1"], ["a=1", "a=2"], ["a=1", "a.b=2"], ["a.=1"]])
def test_options_that_mean_two_things_are_refused(given: list[str]) -> None:
    """The last of two would win unseen."""
    with pytest.raises(InvalidRequestError, match="is not NAME=VALUE, or comes twice"):
        parse_options(given)
