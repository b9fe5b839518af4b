"""The review packet: one HTML file without script or network, and the same order as a sheet to fill in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from leakscale.audit.directory import write_atomically
from leakscale.audit.review.decisions import Decision
from leakscale.audit.review.queue import ReviewItem
from leakscale.errors import InvalidRequestError

__all__ = ["Span", "compare_words", "write_packet", "write_sheet"]


@dataclass(frozen=True, slots=True)
class Span:
    """A run of a text's words, and whether the other text has it too."""

    text: str
    is_shared: bool


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
    write_atomically(path, page.encode())


def write_sheet(path: Path, items: Sequence[ReviewItem], standing: Mapping[str, Decision]) -> None:
    """Write the forms that are not decided yet, riskiest first, with columns for verdict and note."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("form", "verdict", "note", "bank", "risk", "reasons"))
    for item in items:
        if str(item.name) not in standing:
            rows.writerow((item.name, "", "", item.bank, f"{item.risk:.2f}", "; ".join(item.reasons)))
    write_atomically(path, text.getvalue().encode())


def compare_words(first: str, second: str) -> tuple[list[Span], list[Span]]:
    """Split two texts at their white space into runs that both have in order, and runs that one has alone."""
    ours, theirs = first.split(), second.split()
    matcher = SequenceMatcher(None, [_bare(word) for word in ours], [_bare(word) for word in theirs], autojunk=False)
    left: list[Span] = []
    right: list[Span] = []
    for tag, from_first, to_first, from_second, to_second in matcher.get_opcodes():
        for spans, words in ((left, ours[from_first:to_first]), (right, theirs[from_second:to_second])):
            if words:
                spans.append(Span(" ".join(words), tag == "equal"))
    return left, right


def _entry(item: ReviewItem, decision: Decision | None) -> dict[str, object]:
    original, rewrite = compare_words(item.parent.original.text, item.form.text)
    return {"item": item, "decision": decision, "original": original, "rewrite": rewrite}


def _bare(word: str) -> str:
    """Strip what does not make a word another one: case and punctuation at its ends."""
    return word.casefold().strip(".,;:!?\"'()") or word
