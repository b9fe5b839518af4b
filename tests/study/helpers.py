"""Run `leakscale demo` as people do, and study files that are valid by default."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from leakscale.cli.entry import run

STUDY = """\
format = 1
name = "small"
title = "Small"
seed = 7
[edition]
id = "small"
kind = "practice"
families_per_cell = 4
shapes = ["sql/threshold.toml", "python/prefix.toml"]
[model]
source = "tiny"
preservation_count = 8
adaptation = { repeat_count = 2 }
[experiment]
id = "small"
draw_count = 4
resample_count = 200
"""
COMMAND = [sys.executable, "-m", "leakscale.cli"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONUNBUFFERED": "1"}


def write_study(path: Path, *changes: tuple[str, str]) -> Path:
    """Write the small study with some of its text replaced."""
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def demo(*arguments: str, backend: str = "bubblewrap", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `leakscale demo` to its end."""
    command = [*COMMAND, "demo", "--backend", backend, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT, **options)


def demo_here(*arguments: str) -> int:
    """Run `leakscale demo` in this process, which has torch loaded once; return its exit code."""
    return run(["demo", "--backend", "bubblewrap", *arguments])


def start_demo(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start `leakscale demo` and return at once."""
    command = [*COMMAND, "demo", "--backend", "bubblewrap", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, **options
    )
