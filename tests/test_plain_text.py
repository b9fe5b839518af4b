"""Other people's words are shown as they are, and do nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from leakscale.plain_text import markdown_code, markdown_text, one_line, shown
from leakscale.tables import TableHead

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
LETTERS = "ab 1\n\t\r\u2028\u202e_*[]()<>|~&;$#`!-+=\\:./'\"é"
TEXTS = st.one_of(st.text(st.sampled_from(LETTERS), max_size=40), st.text(max_size=40))
FORGED = "x\n\n# No advantage, says NASA\n"


def read(markdown: str) -> list[str]:
    """Return what a reader of Markdown makes of a text: kinds of blocks, then the words inside."""
    tokens = READER.parse(markdown)
    inside = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inside} <= {"text", "text_special", "code_inline"}
    return [*(token.type for token in tokens), "".join(child.content for child in inside)]


@given(TEXTS)
def test_a_text_is_what_markdown_shows_and_nothing_more(text: str) -> None:
    """No heading, link, tag, emphasis or cell: a reader gets the very words, on one line."""
    assert read(f"Reason: {markdown_text(text)}.") == [
        "paragraph_open",
        "inline",
        "paragraph_close",
        f"Reason: {one_line(text)}.",
    ]


@given(TEXTS)
def test_a_span_of_code_holds_whatever_it_is_given(text: str) -> None:
    """Backticks too."""
    words = one_line(text)
    if words:
        *_, found = read(f"Made by {markdown_code(text)}")
        assert found.split() == f"Made by {words}".split()


@given(TEXTS)
def test_nothing_on_a_line_commands_or_breaks_it(text: str) -> None:
    """Neither a terminal's line, nor a browser's direction."""
    line = one_line(text)

    assert line == line.strip()
    assert len(line.splitlines()) <= 1
    assert shown(line) == line


def test_our_own_notes_keep_their_code() -> None:
    """What stands in it is shown as it is; what stands beside it is escaped."""
    assert markdown_text("zero under `fixed_*` of <b> alone", keeps_code=True) == (
        "zero under `fixed_*` of \\<b\\> alone"
    )
    assert markdown_text("one ` alone", keeps_code=True) == "one \\` alone"


@dataclass(frozen=True, slots=True)
class Named:
    """A row under somebody's name."""

    name: str
    count: int


@pytest.mark.parametrize("name", [FORGED, "a\u202eb", "a\x1b[2Jb", "a\u2028b"])
def test_a_cell_is_one_line_wherever_a_table_is_shown(name: str) -> None:
    """A line of its own would pass for another row; a CSV keeps the text as it was."""
    table = TableHead("", "named", "Named").filled([Named(name, 1)])

    assert table.cells[1] == ((one_line(name), "1"),)
    assert len(table.to_text().splitlines()) == 3
    assert name in table.to_csv()
