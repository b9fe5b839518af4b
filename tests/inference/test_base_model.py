"""The shipped model is what its manifest says, and knows nothing that an exposure could teach."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from leakscale.adaptation.identity import model_digest
from leakscale.inference.engines.exact import ExactEngine
from leakscale.inference.freezing import encode_question
from leakscale.models import Condition
from leakscale_server.core.building.construction import Construction

TOOLS = Path(__file__).parents[2] / "tools"

Cells = Callable[[Condition, int], list[Construction]]


def test_tokenizer_is_rebuilt_to_the_same_bytes(base_model: Path, tmp_path: Path) -> None:
    """The part of `make base-model` that does not depend on the CPU; a change to the recipe must ship a new model."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from base_model.tokenizer import train_tokenizer; "
        "train_tokenizer(vocabulary_size=int(sys.argv[3])).save_pretrained(sys.argv[2])"
    )
    size = json.loads((base_model / "MANIFEST.json").read_text())["vocabulary_size"]

    subprocess.run([sys.executable, "-c", code, str(TOOLS), str(tmp_path), str(size)], check=True)

    assert (tmp_path / "tokenizer.json").read_bytes() == (base_model / "tokenizer.json").read_bytes()
    assert (tmp_path / "chat_template.jinja").read_bytes() == (base_model / "chat_template.jinja").read_bytes()


def test_base_model_is_the_one_that_its_manifest_names(base_model: Path) -> None:
    """Script, seed and digest travel with the weights."""
    manifest = json.loads((base_model / "MANIFEST.json").read_text())
    found = {name: hashlib.sha256((base_model / name).read_bytes()).hexdigest() for name in manifest["files"]}

    assert found == manifest["files"]
    assert model_digest(base_model) == manifest["model_digest"]
    assert {file.name for file in base_model.iterdir()} == {*manifest["files"], "MANIFEST.json"}


def test_base_model_is_at_chance_on_keys_that_it_never_saw(engine: ExactEngine, build_cells: Cells) -> None:
    """256 families with balanced truth: within four standard errors of one quarter, in each domain and position."""
    constructions = [item for condition in Condition for item in build_cells(condition, 16)]
    distributions = [
        engine.local.distribution(encode_question(engine.local.tokenizer, item.forms[0].public)).guided
        for item in constructions
    ]
    scores = [guided[item.truth] for guided, item in zip(distributions, constructions, strict=True)]
    spread = math.sqrt(fmean((score - 0.25) ** 2 for score in scores) / len(scores))

    assert abs(fmean(scores) - 0.25) < 4 * spread
    assert spread < 0.03
