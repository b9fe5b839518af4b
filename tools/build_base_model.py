"""Build the tiny language model that ships as package data: tokenizer, weights, licence note and manifest.

Run `make base-model`, or `python tools/build_base_model.py --output FOLDER`. On one machine a second run writes the
same bytes; on another CPU the last bits may differ, which the manifest's tensor digest then shows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "sdk")]

import torch  # noqa: E402

from base_model.pretraining import Recipe, pretrain  # noqa: E402
from base_model.tokenizer import train_tokenizer  # noqa: E402
from leakscale.adaptation.identity import model_digest, tokenizer_digest  # noqa: E402

VOCABULARY_SIZE: Final = 1152
THREAD_COUNT: Final = 2
NOTICE: Final = """\
Tiny LeakScale base model
Copyright the LeakScale authors. Licensed under the Apache License, Version 2.0, like the package it ships with.

Trained from random numbers by tools/build_base_model.py on synthetic text that the script itself generates; no
third-party weights and no third-party text are in it. The architecture is the stock Qwen3 of Hugging Face transformers.
It can do one thing, copy a candidate into a JSON answer, and serves to test the measurement offline.
"""


def build(output: Path) -> None:
    """Train tokenizer and model and replace the folder `output` with them."""
    torch.set_num_threads(THREAD_COUNT)
    torch.use_deterministic_algorithms(True)
    recipe = Recipe()
    tokenizer = train_tokenizer(vocabulary_size=VOCABULARY_SIZE)
    model = pretrain(tokenizer, recipe, report=_print_progress)
    fresh = output.with_name(f"{output.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    model.save_pretrained(fresh)
    tokenizer.save_pretrained(fresh)
    (fresh / "NOTICE").write_text(NOTICE, encoding="utf-8")
    shutil.copy(ROOT / "LICENSE", fresh / "LICENSE")
    for file in fresh.iterdir():
        file.chmod(0o644)  # safetensors writes for its owner alone
    manifest = {
        "script": "tools/build_base_model.py",
        "recipe": asdict(recipe),
        "vocabulary_size": VOCABULARY_SIZE,
        "thread_count": THREAD_COUNT,
        "torch": torch.__version__,
        "model_digest": model_digest(fresh),
        "tokenizer_digest": tokenizer_digest(tokenizer),
        "files": {file.name: _file_digest(file) for file in sorted(fresh.iterdir())},
    }
    (fresh / "MANIFEST.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    shutil.rmtree(output, ignore_errors=True)
    fresh.rename(output)
    print(f"base model {manifest['model_digest']} in {output}")


def _file_digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _print_progress(step: int, step_count: int, loss: float, seconds: float) -> None:
    if step % 45 == 0 or step == step_count:
        print(f"step {step}/{step_count}  loss {loss:.3f}  {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "sdk/leakscale/base_model/tiny-qwen3")
    build(parser.parse_args().output)
