"""Whether anything that a family says was said before: in earlier editions, or in texts that an author names.

Texts are compared by their runs of eight tokens, each a word or a number in lower case; marks do not count. The frame
that all prompts share is left out.

- With a corpus, the tasks, inputs and programs of no ring may share a run.
- With an earlier edition, neither may those of shapes that only one of them has. Where both have a shape, its sentences
  are alike by design, as those of two families of one edition are; there, no key may come back.

It does *not* see a paraphrase, nor what is spelt with other letters that look alike.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.models import Family, Ring
from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Material

__all__ = ["EarlierEdition", "check_overlap", "read_corpus", "runs"]

RUN_LENGTH: Final = 8
"""Tokens of a run; the paper asks for zero overlap and names no length (C.4)."""

_PROBE_BYTES: Final = 8192
_TOKEN: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class EarlierEdition:
    """What the public knows of an edition that came before."""

    name: str
    families: Sequence[Family]
    """Each once for every ring that is known of it."""


@dataclass(frozen=True, slots=True)
class CorpusLine:
    """A line of a corpus, joined with those before it where a run spans several."""

    place: str
    """File and line."""
    runs: Sequence[str]


def check_overlap(material: Material, *, corpus: Iterable[CorpusLine], earlier: Sequence[EarlierEdition]) -> Finding:
    """Check every family against texts and editions that were there before.

    Args:
        corpus: From `read_corpus`; read once, to its end or to the first run that is shared.
        earlier: Editions whose families may be known by now.
    """
    own = _own_runs(material)
    counter = _Counter()
    faults = [*_edition_faults(material, own, earlier)][:1] or [*_corpus_faults(own, counter.count(corpus))][:1]
    against = [counted(len(earlier), "earlier edition")] if earlier else []
    against += [f"{counted(counter.lines, 'line')} of {counted(counter.runs, 'run')}"] if counter.lines else []
    against = against or ["nothing: no text was named"]
    checked = f"{len(own):,} runs of {RUN_LENGTH} tokens against {' and '.join(against)}"
    return find("overlap", checked, faults)


class _Counter:
    """Counts what goes through it."""

    def __init__(self) -> None:
        self.lines = self.runs = 0

    def count(self, corpus: Iterable[CorpusLine]) -> Iterator[CorpusLine]:
        for line in corpus:
            self.lines += 1
            self.runs += len(line.runs)
            yield line


def _own_runs(material: Material) -> dict[str, str]:
    """Return every run of a catalog's tasks, inputs and programs, with the first place that has it."""
    own: dict[str, str] = {}
    for family in material.families:
        for form in family.forms:
            place = f"{family.slot.shape_id} in {form.public.ring}"
            for text in (form.public.task, *form.public.inputs, *form.programs):
                for run in runs(text):
                    own.setdefault(run, place)
    return own


def _edition_faults(material: Material, own: dict[str, str], earlier: Sequence[EarlierEdition]) -> Iterator[str]:
    shape_ids = {shape.id for shape in material.recipe.shapes}
    names = {
        name: family.family_id
        for family in (built.form(Ring.R0).public for built in material.families)
        for name in (family.family_id, family.key)
    }
    for edition in earlier:
        for family in edition.families:
            for name in {family.family_id, family.key} & set(names):
                yield f"{names[name]} has {name}, as a family of {edition.name} has; choose another public seed"
            if family.shape_id not in shape_ids:
                for run in (run for text in (family.task, *family.inputs) for run in runs(text)):
                    if run in own:
                        yield f"{own[run]} shares {run!r} with {family.shape_id} of {edition.name}"


def _corpus_faults(own: dict[str, str], corpus: Iterable[CorpusLine]) -> Iterator[str]:
    for line in corpus:
        for run in line.runs:
            if run in own:
                yield f"{own[run]} shares {run!r} with {line.place}; say it in other words"


def read_corpus(folders: Sequence[Path]) -> Iterator[CorpusLine]:
    """Read every text file of some folders, or files, line by line. Files with a NUL byte are no text.

    Raises:
        OSError: If a file or folder cannot be read.
    """
    for file in _files(folders):
        with file.open("rb") as opened:
            if b"\0" in opened.peek(_PROBE_BYTES):
                continue
            pending: list[str] = []
            for number, line in enumerate(opened, start=1):
                found = pending + _tokens(line.decode(errors="replace"))
                yield CorpusLine(f"{file}:{number}", _runs_of(found))
                pending = found[-RUN_LENGTH + 1 :]


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        if not folder.is_dir():
            yield folder
            continue
        for place, inner, names in os.walk(folder, onerror=_raise):
            inner.sort()
            yield from (path for path in (Path(place, name) for name in sorted(names)) if path.is_file())


def _raise(error: OSError) -> None:
    raise error


def runs(text: str) -> list[str]:
    """Return the runs of a text, each as its tokens with spaces between them; none where it is too short."""
    return _runs_of(_tokens(text))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _runs_of(found: Sequence[str]) -> list[str]:
    return [" ".join(found[start : start + RUN_LENGTH]) for start in range(len(found) - RUN_LENGTH + 1)]
