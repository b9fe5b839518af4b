"""A fresh form that stands in a training corpus is found, however the corpus writes it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.audit.builders import FRESH, ORIGINAL, bank, line

from leakscale.audit.checks import Rule, check_corpus
from leakscale.audit.checks import corpus as corpus_module
from leakscale.errors import InvalidRequestError, NotFoundError


def _corpus(folder: Path, text: str) -> Path:
    path = folder / "corpus.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        FRESH[0],
        json.dumps({"prompt": f"Q: {FRESH[0]}", "completion": "31"}),
        FRESH[0].upper().replace(" ", "\n"),
        json.dumps(FRESH[0].replace(" ", "\n")),
        f"**{FRESH[0].replace(',', ' ;')}**",
        "".join(f"\\u{ord(letter):04x}" for letter in FRESH[0]),
    ],
)
def test_a_copy_is_found_however_it_is_written(tmp_path: Path, text: str) -> None:
    """A corpus is JSON, Markdown or plain text; a copy is a copy in each."""
    findings = check_corpus(bank(tmp_path, line()), [_corpus(tmp_path, f"before {text} after")])
    assert [(str(finding.form), finding.rule) for finding in findings] == [("p1/fresh-1", Rule.IN_CORPUS)]
    assert findings[0].value == "corpus.jsonl"


@pytest.mark.parametrize("text", ["", ORIGINAL, FRESH[0].replace("12", "13"), FRESH[0][:-10]])
def test_what_is_no_copy_is_not_found(tmp_path: Path, text: str) -> None:
    """Originals are public, and a control bank's neighbours share words."""
    assert check_corpus(bank(tmp_path, line()), [_corpus(tmp_path, text)]) == []


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_a_copy_across_two_reads_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """A corpus is larger than memory, so it is read in pieces that end anywhere."""
    monkeypatch.setattr(corpus_module, "_CHUNK_CHARACTERS", chunk)
    path = _corpus(tmp_path, f"{'word ' * 30}{FRESH[1]} {'word ' * 30}")
    assert [str(finding.form) for finding in check_corpus(bank(tmp_path, line()), [path])] == ["p1/fresh-2"]


def test_a_corpus_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A mistyped path must not read as a clean corpus."""
    with pytest.raises(NotFoundError, match=r"corpus '.*none\.txt' does not exist"):
        check_corpus(bank(tmp_path, line()), [tmp_path / "none.txt"])


@pytest.mark.parametrize("encode", [gzip.compress, lambda text: text.decode().encode("utf-16")])
def test_a_corpus_that_is_no_text_is_refused(tmp_path: Path, encode: Callable[[bytes], bytes]) -> None:
    """Searched as noise, it would be called clean."""
    path = tmp_path / "corpus.bin"
    path.write_bytes(encode((FRESH[0] + "\n").encode() * 200))
    with pytest.raises(InvalidRequestError, match="is no text in UTF-8, and would be searched as noise"):
        check_corpus(bank(tmp_path, line()), [path])
