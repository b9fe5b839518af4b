"""What an import costs and needs: the SDK without torch, without the server, without the extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leakscale.models import LedgerHead
from leakscale.verify.directory import head_to_json

HEAVY = ("torch", "transformers", "peft", "numpy", "scipy", "rich", "matplotlib", "jinja2", "pydantic")
SERVER_ONLY = ("leakscale_server", "leakscale_sandbox", "docker", "sqlite_utils", "structlog", "cryptography")
EXAMPLE = Path(__file__).parents[1] / "docs" / "example-report" / "study"
EXTRAS = ("torch", "transformers", "peft", "safetensors", "accelerate", "jinja2", *SERVER_ONLY, "grpc_health")


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def loaded_by(statement: str) -> set[str]:
    done = python(f"import sys\n{statement}\nprint('\\n'.join(name.partition('.')[0] for name in sys.modules))")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_the_package_loads_nothing_heavy() -> None:
    """`import leakscale` stands at the top of notebooks; it must not cost a second."""
    assert loaded_by("import leakscale").isdisjoint({*HEAVY, *SERVER_ONLY, "grpc"})


@pytest.mark.parametrize(
    "module", ["client", "errors", "models", "results", "digests", "seeds", "prompts", "resources"]
)
def test_the_client_loads_neither_torch_nor_numpy_nor_the_server(module: str) -> None:
    """Whoever only talks to a server pays for gRPC alone."""
    assert loaded_by(f"import leakscale.{module}").isdisjoint({*HEAVY, *SERVER_ONLY})


def test_the_client_loads_no_servicer() -> None:
    """gRPC's server side is another package's business."""
    code = "import sys, leakscale.client\nprint([name for name in sys.modules if name.startswith('grpc._server')])"

    assert python(code).stdout == "[]\n"


def test_the_server_loads_no_training_library() -> None:
    """It scores what was answered and never answers itself."""
    assert loaded_by("import leakscale_server.app").isdisjoint({"torch", "transformers", "peft"})


def test_the_processes_of_a_server_load_no_tables_of_pandas() -> None:
    """sqlite_utils would, wherever pandas is installed: 75 MiB of each process for nothing."""
    assert loaded_by("import leakscale_server.app").isdisjoint({"pandas", "pyarrow", "numpy"})
    assert loaded_by("import leakscale_server.scorer.child").isdisjoint({"pandas", "pyarrow"})


def test_what_a_server_does_without_can_be_loaded_beside_it() -> None:
    """A study has both in one process, in either order."""
    code = "import leakscale_server.store.database, numpy, pandas; print(pandas.Series([1]).sum())"
    reverse = "import numpy, pandas, leakscale_server.store.database; print(pandas.Series([1]).sum())"

    assert python(code).stdout == python(reverse).stdout == "1\n"


def test_what_a_study_left_is_found_without_what_verifies_it() -> None:
    """Where files lie is asked by commands that check nothing."""
    assert loaded_by("import leakscale.evidence.layout, leakscale.verify").isdisjoint({*HEAVY, *SERVER_ONLY})


def test_the_command_line_loads_nothing_for_its_help() -> None:
    """`--help` is typed by people who wait for it."""
    assert loaded_by("import leakscale.cli.app").isdisjoint({*HEAVY, *SERVER_ONLY, "grpc"} - {"rich"})


WITHOUT_EXTRAS = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {names} else self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
from leakscale.cli.entry import run
sys.exit(run(sys.argv[1:]))
"""


def without_extras(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python(WITHOUT_EXTRAS.format(names=EXTRAS), *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["demo", "--help"],
        ["adapt", "--help"],
        ["bank", "answer", "--help"],
        ["certify", "-h"],
    ],
)
def test_help_needs_no_extra(arguments: list[str]) -> None:
    """A plain `pip install leakscale` has a command that explains itself."""
    done = without_extras(*arguments)

    assert done.returncode == 0, done.stderr
    assert "leakscale" in done.stdout.lower()
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["demo", "--out", "FOLDER"], "train"),
        (["server", "start"], "server"),
        (["certify", "--local", __file__], "server"),
        (["verify", "FOLDER", "--public-key", "00" * 32], "verify"),
        (["report", str(EXAMPLE), "--output", "FOLDER"], "report"),
    ],
)
def test_a_verb_without_its_extra_names_it(tmp_path: Path, arguments: list[str], extra: str) -> None:
    """One line with the command that installs it."""
    if arguments[0] == "verify":
        head = LedgerHead(entry_count=0, root=bytes(32), signature=bytes(64), public_key=bytes(32))
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "head.json").write_bytes(head_to_json(head))
    done = without_extras(*(argument.replace("FOLDER", str(tmp_path / "run")) for argument in arguments))

    assert done.returncode == 2, done.stderr
    assert f"leakscale[{extra}]" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_study_is_planned_without_torch() -> None:
    """A plan is made before a GPU is rented, where nothing is installed yet; its background records are counted too."""
    study = Path(__file__).parents[1] / "studies" / "paper.toml"

    done = without_extras("study", "plan", str(study))

    assert "background = " in study.read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "reckoned from" in done.stdout
