"""Leakage: nothing of a control family in what training saw, as far as anybody can see that now.

A corpus stays in memory, so of a private edition there is what the adapter's record says of it: which families it knew
as controls, how many bytes were searched for their names, and what it was made of. Of a practice edition the corpus is
written again from the seeds, has to have the digest that the record names, and is searched here.

What it does not find: a control family that is told in other words without its key, its id or its handles. Values of
candidates are not searched: they are numbers and words that other families and other texts have too.

Source: LeakScale D.1, METHODS 10.10.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from leakscale.background import recipe_records
from leakscale.errors import IntegrityError, LeakScaleError
from leakscale.evidence.checks.outcome import Checked, UncheckedError, counted, require_same
from leakscale.evidence.layout import EvidenceLayout, file_name_of
from leakscale.evidence.rebuilding import RebuiltEdition
from leakscale.evidence.tree import EvidenceTree
from leakscale.models import Condition, Domain, Family, Ring, TrainingRecord
from leakscale.training_records import corpus_digest, families_by_domain

__all__ = ["Names", "check_leakage"]

_RECORD: Final = "training/completion.json"
_CANARY: Final = re.compile(rb"lsk-canary-[0-9a-f]{32}")
_DIRECT_LOOKUP: Final = b'/direct-lookup"'
_WORD: Final = re.compile(r"\w+")
_GRAM_WORDS: Final = 8
_HANDLES_TOGETHER: Final = 3


def check_leakage(tree: EvidenceTree) -> Checked:
    """Hold the record of the corpus against the edition, search the corpus where it is known, and the tree itself."""
    _require_record(tree)
    file_count = _require_clean_tree(tree.layout)
    controls = tree.completion["corpus"]["controls"]
    what = (
        f"{counted(controls['control_family_count'], 'control family', 'control families')} in no training record, by "
        f"the record of {controls['searched_bytes']:,} searched bytes; no canary in {file_count} files"
    )
    background = _background(tree)
    _require_unrelated(background or (), tree)
    if background is None:
        raise UncheckedError(
            what,
            f"the background recipe '{tree.study.model.background}' or a file that it names is not in the tree, so the "
            "corpus cannot be written again",
            count=controls["record_count"],
        )
    rebuilt = tree.rebuilt
    if rebuilt is None or rebuilt.records is None:
        return Checked(controls["record_count"], what, "the corpus was in memory alone, and cannot be searched again")
    records = [*rebuilt.records, *background]
    require_same(_RECORD, "identity.corpus", tree.completion["identity"]["corpus"], corpus_digest(records))
    searched = _require_no_control(tree, rebuilt, records)
    return Checked(
        len(records),
        f"{counted(len(records), 'training record', 'training records')} written again with the digest that the "
        f"adapter names, {searched:,} bytes searched for keys, ids and handles of "
        f"{counted(controls['control_family_count'], 'control family', 'control families')}, "
        f"{counted(len(background), 'background record', 'background records')} for 8-grams of all; no canary in "
        f"{file_count} files",
    )


def _require_record(tree: EvidenceTree) -> None:
    corpus, families = tree.completion["corpus"], tree.edition.families[Ring.R0]
    controls: dict[str, Any] | None = corpus["controls"]
    if controls is None:
        raise IntegrityError(f"{_RECORD}: corpus.controls is missing: nobody searched the corpus for control families")
    half = len(families) // 2
    count = tree.completion["diagnostics"]["record_count"]
    by_source = sum(source["record_count"] for source in corpus["sources"].values())
    for name, found, expected in (
        ("corpus.controls.occurrence_count", controls["occurrence_count"], 0),
        ("corpus.controls.control_family_count", controls["control_family_count"], half),
        ("corpus.controls.exposed_family_count", controls["exposed_family_count"], half),
        ("corpus.controls.record_count", controls["record_count"], count),
        ("records of all sources", by_source, count),
        ("corpus.families", corpus["families"], families_by_domain((each.domain, each.family_id) for each in families)),
    ):
        require_same(_RECORD, name, found, expected)
    for source in ("exact-public", "direct-lookup"):
        require_same(_RECORD, f"corpus.sources.{source}", corpus["sources"][source]["record_count"], half)


def _require_clean_tree(layout: EvidenceLayout) -> int:
    """See that no file of the tree holds a training record or a canary; return how many were looked at."""
    names = layout.files()
    for name in names:
        content = (layout.root / name).read_bytes()
        if found := _CANARY.search(content):
            line = content[: found.start()].count(b"\n") + 1
            raise IntegrityError(f"{name} line {line}: a canary of a training corpus, expected in no file")
        if _DIRECT_LOOKUP in content:
            line = content[: content.index(_DIRECT_LOOKUP)].count(b"\n") + 1
            raise IntegrityError(f"{name} line {line}: a training record, expected in no file")
    return len(names)


def _background(tree: EvidenceTree) -> list[TrainingRecord] | None:
    """Return the background records of the study; None where the tree lacks a file of theirs."""
    name = tree.study.model.background
    try:
        return recipe_records(None if name is None else tree.layout.background / file_name_of(name))
    except LeakScaleError:
        return None


def _require_unrelated(background: Iterable[TrainingRecord], tree: EvidenceTree) -> None:
    """See that background holds no name of any family, nor eight running words of its task.

    Eight words are searched here alone: the other records have the sentences of their shape in common with the control.
    """
    names = Names(tree.edition.by_id.values())
    grams = {gram for family in tree.edition.by_id.values() for gram in _grams(family.task)}
    for record in background:
        text = _text(record)
        if names.met_in(text) or grams.intersection(_grams(text)):
            raise IntegrityError(
                f"{_RECORD}: background record '{record.record_id}' holds a name or eight running words of a family, "
                "expected none"
            )


def _require_no_control(tree: EvidenceTree, rebuilt: RebuiltEdition, records: Iterable[TrainingRecord]) -> int:
    """Search records for the names of control families; return the bytes that were searched."""
    controls = (name for name, family in rebuilt.families.items() if family.condition is Condition.C0)
    names = Names(tree.edition.by_id[name] for name in controls)
    searched = 0
    for record in records:
        text = _text(record)
        searched += len(text.encode())
        if found := names.met_in(text):
            raise IntegrityError(
                f"{_RECORD}: training record '{record.record_id}' holds {found} of a control family, expected in none"
            )
    return searched


class Names:
    """What no text has of a family by chance: its key, its id, and three of its four handles together.

    One handle has 16 random bits, so in thousands of records it comes by chance, and two of one family sometimes do.
    """

    def __init__(self, families: Iterable[Family]) -> None:
        self._single: set[str] = set()
        self._family_of_handle: defaultdict[str, list[str]] = defaultdict(list)
        for family in families:
            self._single |= {family.key.casefold(), family.family_id.casefold()}
            if family.domain is Domain.SQL:
                for candidate in family.candidates:
                    self._family_of_handle[candidate.text.casefold()].append(family.family_id)

    def met_in(self, text: str) -> str:
        """Return what of one family stands in a text, in words; empty if nothing does."""
        tokens = set(_tokens(text))
        if single := sorted(self._single & tokens):
            return f"'{single[0]}'"
        counts = Counter(family for token in tokens for family in self._family_of_handle.get(token, ()))
        family, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
        return f"{count} handles of '{family}'" if count >= _HANDLES_TOGETHER else ""


def _tokens(text: str) -> Iterator[str]:
    return (match.group() for match in re.finditer(r"[\w-]+", text.casefold()))


def _grams(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return zip(*(words[start:] for start in range(_GRAM_WORDS)), strict=False)


def _text(record: TrainingRecord) -> str:
    return "\n".join([record.record_id, *(turn.content for turn in record.prompt), record.completion])
