"""The review packet: one HTML file without script or network."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from leakscale.audit.checks.numbers import number_words, numeric_tokens
from leakscale.audit.review.decisions import Decision
from leakscale.audit.review.queue import RELATIONS, ReviewItem
from leakscale.errors import InvalidRequestError
from leakscale.whole_files import write_whole

__all__ = ["Span", "compare_words", "write_packet"]


@dataclass(frozen=True, slots=True)
class Span:
    """A run of a text's words that are alike in both ways."""

    text: str
    is_kept: bool
    """Whether the other text has it too, in this order."""
    is_telling: bool
    """Whether it is a number or a word of relation: what the answer hangs on."""


def write_packet(
    path: Path, items: Sequence[ReviewItem], standing: Mapping[str, Decision], *, audit: str, scope: str
) -> None:
    """Write the packet. The same items and decisions give the same bytes.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InvalidRequestError("the review packet needs jinja2; run `pip install 'leakscale[report]'`") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("leakscale.audit.review"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("packet.html.j2").render(
        audit=audit,
        scope=scope,
        entries=[_entry(item, standing.get(str(item.name))) for item in items],
        flagged_count=sum(item.is_flagged for item in items),
    )
    write_whole(path, page.encode())


def compare_words(first: str, second: str) -> tuple[list[Span], list[Span]]:
    """Split two texts at their white space into runs of words: kept or not, telling or not."""
    ours, theirs = first.split(), second.split()
    matcher = SequenceMatcher(None, [_bare(word) for word in ours], [_bare(word) for word in theirs], autojunk=False)
    left: set[int] = set()
    right: set[int] = set()
    for from_first, from_second, length in matcher.get_matching_blocks():
        left.update(range(from_first, from_first + length))
        right.update(range(from_second, from_second + length))
    return _spans(ours, left), _spans(theirs, right)


def _spans(words: list[str], kept: set[int]) -> list[Span]:
    marked = [(index in kept, _is_telling(word), word) for index, word in enumerate(words)]
    return [
        Span(" ".join(word for _, _, word in run), is_kept, is_telling)
        for (is_kept, is_telling), run in itertools.groupby(marked, key=lambda each: each[:2])
    ]


def _is_telling(word: str) -> bool:
    return bool(numeric_tokens(word) or number_words(word) or RELATIONS & {_bare(word)})


def _entry(item: ReviewItem, decision: Decision | None) -> dict[str, object]:
    original, rewrite = compare_words(item.parent.original.text, item.form.text)
    return {"item": item, "decision": decision, "original": original, "rewrite": rewrite}


def _bare(word: str) -> str:
    """Strip what does not make a word another one: case and punctuation at its ends."""
    return word.casefold().strip(".,;:!?\"'()") or word
