"""The tutorial is an artifact: every file on the page is written, every command is run, every answer is compared.

A block `file=NAME` writes a file, `replace=NAME` replaces the table of a TOML file that begins with the same lines, and
a `console` block runs what follows `$` and compares what it prints. `…` stands for anything: in a line, or alone in its
line for any number of lines. `exit=1` says how the last command of a block ends.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "write-a-family.md"
CACHE = Path(tempfile.gettempdir()) / "leakscale-test-cache"


class Block(NamedTuple):
    line: int
    info: str
    text: str

    def option(self, name: str) -> str:
        found = re.search(rf"\b{name}=(\S+)", self.info)
        return found[1] if found else ""


def blocks() -> list[Block]:
    page = PAGE.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w.*?)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [Block(page.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in found]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A shell that finds the command, and a host without Docker, where bubblewrap takes its place."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    command = binaries / "leakscale"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m leakscale.cli "$@"\n')
    command.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "XDG_CACHE_HOME": str(CACHE),
        "DOCKER_HOST": "unix:///nonexistent",
    }


def run(block: Block, folder: Path, environment: dict[str, str]) -> None:
    """Run the commands of a block, and compare what each of them prints."""
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert commands[0] == "", f"line {block.line} begins with an answer"
    for number, each in enumerate(commands[1:], start=1):
        command, _, expected = each.partition("\n")
        done = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        code = int(block.option("exit") or 0) if number == len(commands) - 1 else 0

        assert done.returncode == code, f"line {block.line}: {command}\n{done.stdout}{done.stderr}"
        assert re.fullmatch(pattern(expected), done.stdout), f"line {block.line}: {command} prints\n{done.stdout}"


def pattern(expected: str) -> str:
    """Return a regular expression for what a command may print."""
    lines = (
        r"(?:.*\n)*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n"
        for line in expected.splitlines()
    )
    return "".join(lines)


def replaced(text: str, part: str) -> str:
    """Replace the table that begins like `part`: with the same header, and the same name where it has one."""
    first, second, *_ = part.splitlines()
    begins = f"{first}\n{second}\n" if second.startswith("name") else f"{first}\n"
    start = text.index(begins)
    following = re.compile(r"^\[", re.MULTILINE).search(text, start + len(begins))
    end = following.start() if following else len(text)
    return f"{text[:start]}{part}\n{text[end:]}"


def test_everything_on_the_page_happens(tmp_path: Path, environment: dict[str, str]) -> None:
    """A newcomer types what stands here; one command that fails is one newcomer who leaves."""
    folder = tmp_path / "work"
    folder.mkdir()
    counts = {"file": 0, "replace": 0, "console": 0}
    for block in blocks():
        if name := block.option("file"):
            (folder / name).write_text(block.text, encoding="utf-8")
            counts["file"] += 1
        elif name := block.option("replace"):
            path = folder / name
            path.write_text(replaced(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
            counts["replace"] += 1
        else:
            assert block.info.startswith("console"), f"line {block.line} is neither a file nor a command"
            run(block, folder, environment)
            counts["console"] += 1

    assert counts == {"file": 5, "replace": 2, "console": 9}
    assert (folder / "late-parcels.html").exists()


def test_the_page_tells_of_every_verb() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert all(f"leakscale catalog {verb} " in page for verb in ("new", "check", "show", "audit"))
    assert "leakscale certify " in page


@pytest.mark.parametrize(
    ("expected", "printed", "is_equal"),
    [
        ("a\n…\nz\n", "a\nb\nc\nz\n", True),
        ("a\n…\nz\n", "a\nz\n", True),
        ("a\n…\nz\n", "a\nb\n", False),
        ("f-… is 3\n", "f-12 is 3\n", True),
        ("f-… is 3\n", "f-12 is 4\n", False),
        ("a.b\n", "axb\n", False),
    ],
)
def test_an_answer_is_compared_but_for_what_is_left_out(expected: str, printed: str, is_equal: bool) -> None:
    """Were the comparison lax, the page could say anything."""
    assert bool(re.fullmatch(pattern(expected), printed)) is is_equal
