"""Look for a bank's rewrites in a training corpus: a fresh form that was trained on is not fresh.

Words and numbers are compared in lower case, and nothing else, so that line breaks, punctuation, markup and the escapes
of JSON hide no copy. A form of fewer than five words is not looked for: it would be found everywhere.

Source: CleanScore 7.11 (fresh strings absent from the training mixture); METHODS 7.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from leakscale.audit.checks.findings import Finding, Rule
from leakscale.audit.forms.models import FormBank, FormName
from leakscale.errors import InvalidRequestError, NotFoundError

__all__ = ["check_corpus"]

_KEY_WORDS: Final = 5
_CHUNK_CHARACTERS: Final = 4 * 1024 * 1024
_PROBE_BYTES: Final = 65_536
_STRANGE_SHARE: Final = 0.02
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrtbf]")
"""JSON's escapes: of a letter, and of white space, whose own letter must not be read as one."""
_WORD: Final = re.compile(r"[^\W_]+")

_Words = tuple[str, ...]


def check_corpus(bank: FormBank, files: Iterable[Path], *, with_originals: bool = False) -> list[Finding]:
    """Return each rewrite that stands in one of the files, once, with the first file that has it.

    Args:
        bank: Forms to look for.
        files: Text in UTF-8, e.g. JSON Lines, a file of a corpus each; bytes that are no text are skipped.
        with_originals: Look for originals as well, which are public: in a corpus that must hold nothing of the bank.

    Raises:
        NotFoundError: If a file does not exist.
        InvalidRequestError: If a file is no text.
    """
    wanted: dict[_Words, list[tuple[FormName, _Words]]] = {}
    for parent in bank.parents:
        for name, form in parent.forms() if with_originals else parent.rewrites():
            words = _words(form.text)
            if len(words) >= _KEY_WORDS:
                wanted.setdefault(words[:_KEY_WORDS], []).append((name, words))
    found: dict[FormName, Path] = {}
    for path in files:
        if not path.is_file():
            raise NotFoundError(f"corpus '{path}' does not exist; pass files of text")
        for name in _found_in(path, wanted):
            found.setdefault(name, path)
    return [
        Finding(
            Rule.IN_CORPUS,
            name,
            f"it stands in the training corpus '{found[name].name}'; rewrite it, or take it out of the corpus",
            found[name].name,
        )
        for parent in bank.parents
        for name, _ in parent.forms()
        if name in found
    ]


def _found_in(path: Path, wanted: dict[_Words, list[tuple[FormName, _Words]]]) -> Iterator[FormName]:
    overlap = max((len(words) for forms in wanted.values() for _, words in forms), default=1) - 1
    before: _Words = ()
    for fresh in _word_chunks(path):
        words = before + fresh
        for start in range(len(words) - _KEY_WORDS + 1):
            for name, form in wanted.get(words[start : start + _KEY_WORDS], ()):
                if words[start : start + len(form)] == form:
                    yield name
        before = words[-overlap:] if overlap else ()


def _word_chunks(path: Path) -> Iterator[_Words]:
    """Yield the words of a file in order, no word torn."""
    _require_text(path)
    rest = ""
    with path.open(encoding="utf-8", errors="replace") as file:
        while chunk := file.read(_CHUNK_CHARACTERS):
            # The last run without white space may go on in the next chunk.
            cut = max(chunk.rfind(" "), chunk.rfind("\n"))
            if cut < 0:
                rest += chunk
                continue
            yield _words(rest + chunk[:cut])
            rest = chunk[cut:]
    yield _words(rest)


def _require_text(path: Path) -> None:
    """Refuse what is searched as noise and then called clean: compressed files, Parquet, UTF-16."""
    with path.open("rb") as file:
        beginning = file.read(_PROBE_BYTES)
    strange = beginning.count(0) + beginning.decode("utf-8", errors="replace").count("\ufffd")
    if strange > _STRANGE_SHARE * len(beginning):
        raise InvalidRequestError(
            f"corpus '{path}' is no text in UTF-8, and would be searched as noise; unpack or convert it"
        )


def _words(text: str) -> _Words:
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return tuple(_WORD.findall(plain.lower()))
