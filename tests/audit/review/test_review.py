"""The reading: what comes first, what a decision binds, and what the lock asks for."""

from __future__ import annotations

import csv
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.builders import FRESH, bank, choice, line

from leakscale.audit.checks import CheckSettings
from leakscale.audit.directory import AuditDirectory, BankRole, creating_directory
from leakscale.audit.review import (
    ReviewItem,
    ReviewLog,
    Verdict,
    has_unlogged,
    read_sheet,
    require_reading,
    review_queue,
    write_packet,
    write_sheet,
)
from leakscale.audit.review.packet import compare_words
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError, PreconditionError

_NO_STOPS = str.maketrans("", "", ",.")
FLAGGED = FRESH[0].replace("Ana", "one of them")


@pytest.fixture
def directory(tmp_path: Path) -> AuditDirectory:
    with creating_directory(tmp_path / "audit") as made:
        return made


def _queue(folder: Path, *lines: dict[str, Any]) -> list[ReviewItem]:
    return review_queue(bank(folder, *lines), CheckSettings(), role=BankRole.AUDIT)


def test_what_a_rule_flags_is_read_first(tmp_path: Path) -> None:
    """A reader's attention is what there is least of."""
    items = _queue(tmp_path, line("p1"), line("p2", fresh=[FRESH[1], FLAGGED]), choice("c1"))
    assert str(items[0].name) == "p2/fresh-2"
    assert items[0].reasons[0] == "number-words-differ: with one"
    assert len(items) == 5
    assert [item.risk for item in items] == sorted((item.risk for item in items), reverse=True)


def test_an_exchanged_word_of_relation_raises_the_risk(tmp_path: Path) -> None:
    """`left` and `given` share all numbers and ask for another one."""
    asks_otherwise = FRESH[0].replace("remains", "is given away in total")
    items = {str(item.name): item for item in _queue(tmp_path, line("p1", fresh=[FRESH[0], asks_otherwise]))}
    assert items["p1/fresh-2"].risk > items["p1/fresh-1"].risk
    assert "+total" in items["p1/fresh-2"].relations


def test_decisions_are_kept_one_by_one_and_the_last_stands(tmp_path: Path, directory: AuditDirectory) -> None:
    """A changed mind is a second line, not another first one."""
    items, log = _queue(tmp_path, line()), ReviewLog(directory)
    log.record({"p1/fresh-1": (Verdict.REJECT, "gives the answer away")}, items, reviewer="Ana")
    log.record({"p1/fresh-1": (Verdict.ACCEPT, ""), "p1/fresh-2": (Verdict.ACCEPT, "")}, items, reviewer="Bo")
    assert [decision.reviewer for decision in log.decisions()] == ["Ana", "Bo", "Bo"]
    assert log.standing(items)["p1/fresh-1"].verdict is Verdict.ACCEPT


def test_a_decision_that_stands_is_not_logged_again(tmp_path: Path, directory: AuditDirectory) -> None:
    """A sheet that is loaded twice, with one more row filled in, adds that row."""
    items, log = _queue(tmp_path, line()), ReviewLog(directory)
    log.record({"p1/fresh-1": (Verdict.ACCEPT, "")}, items, reviewer="Ana")
    again = {"p1/fresh-1": (Verdict.ACCEPT, ""), "p1/fresh-2": (Verdict.ACCEPT, "")}
    assert [decision.form for decision in log.record(again, items, reviewer="Ana")] == ["p1/fresh-2"]
    assert [decision.form for decision in log.decisions()] == ["p1/fresh-1", "p1/fresh-2"]
    assert len(log.record(again, items, reviewer="Bo")) == 2


def test_a_form_changed_after_it_was_read_is_unread(tmp_path: Path, directory: AuditDirectory) -> None:
    """The word was about other words; so it is if the original, a gold or an option changed."""
    log, accepted = ReviewLog(directory), {"p1/fresh-1": (Verdict.ACCEPT, "")}
    log.record(accepted, _queue(tmp_path, line()), reviewer="Ana")
    assert set(log.standing(_queue(tmp_path, line()))) == {"p1/fresh-1"}
    assert log.standing(_queue(tmp_path, line(gold="32"))) == {}
    assert log.standing(_queue(tmp_path, line(fresh=[FRESH[0] + " ", FRESH[1]]))) == {}
    assert log.standing(_queue(tmp_path, line(original=line()["original"] + " "))) == {}


@pytest.mark.parametrize(
    ("name", "decision", "message"),
    [
        ("p1/fresh-1", (Verdict.ACCEPT, "", " "), "no reader is named"),
        ("p1/fresh-1", (Verdict.REJECT, " ", "Ana"), "form 'p1/fresh-1': rejected without a note"),
        ("p1/fresh-3", (Verdict.ACCEPT, "", "Ana"), "form 'p1/fresh-3' is not under review"),
    ],
)
def test_a_decision_without_its_parts_is_refused(
    tmp_path: Path, directory: AuditDirectory, name: str, decision: tuple[Verdict, str, str], message: str
) -> None:
    """All or none: a sheet with one wrong row leaves no half of it behind."""
    log, (verdict, note, reviewer) = ReviewLog(directory), decision
    with pytest.raises((InvalidRequestError, NotFoundError), match=message):
        log.record(
            {"p1/fresh-2": (Verdict.ACCEPT, ""), name: (verdict, note)}, _queue(tmp_path, line()), reviewer=reviewer
        )
    assert log.decisions() == []


def test_the_lock_asks_for_the_reading_that_the_plan_names(tmp_path: Path, directory: AuditDirectory) -> None:
    """A precondition that is honoured when convenient is none."""
    items, log = _queue(tmp_path, line(fresh=[FRESH[1], FLAGGED])), ReviewLog(directory)
    with pytest.raises(PreconditionError, match=r"form 'p1/fresh-2': not read \(number-words-differ: with one;"):
        require_reading(items, {}, scope="flagged")
    log.record({"p1/fresh-2": (Verdict.ACCEPT, "")}, items, reviewer="Ana")
    assert require_reading(items, log.standing(items), scope="flagged") == 1
    with pytest.raises(PreconditionError, match="form 'p1/fresh-1': not read"):
        require_reading(items, log.standing(items), scope="all")
    log.record({"p1/fresh-1": (Verdict.REJECT, "gives it away")}, items, reviewer="Ana")
    with pytest.raises(PreconditionError, match=r"form 'p1/fresh-1': rejected in review \(gives it away\)"):
        require_reading(items, log.standing(items), scope="none")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 100_000, b"[]", b'{"verdict": "accept"}', b'{"form": ["x"]}'])
def test_a_log_of_something_else_is_named(directory: AuditDirectory, content: bytes) -> None:
    """Whatever it holds: it is a file that people can reach."""
    directory.review_log.write_bytes(content + b"\n")
    with pytest.raises(IntegrityError, match="line 1: no decision"):
        ReviewLog(directory).decisions()


def test_a_damaged_log_is_named(tmp_path: Path, directory: AuditDirectory) -> None:
    """A decision that cannot be read must not count as none."""
    ReviewLog(directory).record({"p1/fresh-1": (Verdict.ACCEPT, "")}, _queue(tmp_path, line()), reviewer="Ana")
    directory.review_log.write_text(directory.review_log.read_text() + '{"form": 1}\n')
    with pytest.raises(IntegrityError, match=r"line 2: no decision"):
        ReviewLog(directory).decisions()


def test_a_sheet_filled_in_is_read_back(tmp_path: Path) -> None:
    """Two hundred forms are decided in a spreadsheet."""
    items = _queue(tmp_path, line("p1"), line("p2"))
    write_sheet(tmp_path / "review.csv", items, {})
    rows = list(csv.reader((tmp_path / "review.csv").open(encoding="utf-8")))
    rows[1][1:3], rows[2][1:3] = ["Accept ", ""], ["reject", 'says, "31"\nat the end']
    with (tmp_path / "filled.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
    assert read_sheet(tmp_path / "filled.csv") == {
        str(items[0].name): (Verdict.ACCEPT, ""),
        str(items[1].name): (Verdict.REJECT, 'says, "31"\nat the end'),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("form,verdict\nx,accept\n", "column 'note' is missing"),
        ("form,verdict,note\nx,yes,\n", "row 2: verdict 'yes'; write accept or reject"),
        ("form,verdict,note\nx,accept,\nx,reject,no\n", "row 3: form 'x' comes twice"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_named(tmp_path: Path, text: str, message: str) -> None:
    """A verdict in another word is none, and must not pass for unread."""
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(InvalidRequestError, match=message):
        read_sheet(tmp_path / "sheet.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_is_read_however_a_spreadsheet_saves_it(tmp_path: Path, delimiter: str, encoding: str) -> None:
    """Which mark separates cells depends on the reader's country."""
    rows = [("form", "verdict", "note"), ("p1/fresh-1", "Reject", "asks, oddly; é"), ("p1/fresh-2", "", "")]
    with (tmp_path / "sheet.csv").open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    assert read_sheet(tmp_path / "sheet.csv") == {"p1/fresh-1": (Verdict.REJECT, "asks, oddly; é")}


def test_decisions_that_nobody_logged_are_seen(tmp_path: Path, directory: AuditDirectory) -> None:
    """The sheet that the tool wrote is the one that people fill in."""
    items, log, sheet = _queue(tmp_path, line()), ReviewLog(directory), directory.review_sheet
    assert not has_unlogged(sheet, {})
    write_sheet(sheet, items, {})
    assert not has_unlogged(sheet, {})
    sheet.write_text("form,verdict,note\np1/fresh-1,reject,odd \n", encoding="utf-8")
    assert has_unlogged(sheet, {})
    log.record(read_sheet(sheet), items, reviewer="Ana")
    assert not has_unlogged(sheet, log.standing(items))
    sheet.write_bytes(b"form,verdict,note\n\xe9")
    assert has_unlogged(sheet, log.standing(items))


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\v", "\r"])
def test_a_note_may_hold_any_character(tmp_path: Path, directory: AuditDirectory, separator: str) -> None:
    """A paragraph pasted from elsewhere is one note of one decision."""
    items, log = _queue(tmp_path, line()), ReviewLog(directory)
    log.record({"p1/fresh-1": (Verdict.REJECT, f"odd{separator}wording")}, items, reviewer=f"Ana{separator}B")
    (decision,) = log.decisions()
    assert (decision.note, decision.reviewer) == (f"odd{separator}wording", f"Ana{separator}B")


def test_the_sheet_leaves_out_what_is_decided(tmp_path: Path, directory: AuditDirectory) -> None:
    """A reader goes on where they stopped."""
    items, log = _queue(tmp_path, line()), ReviewLog(directory)
    log.record({str(items[0].name): (Verdict.ACCEPT, "")}, items, reviewer="Ana")
    write_sheet(directory.review_sheet, items, log.standing(items))
    assert [row.split(",")[0] for row in directory.review_sheet.read_text().splitlines()] == [
        "form",
        str(items[1].name),
    ]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert all(name not in ("src", "href") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_packet_shows_every_form_and_runs_nothing(tmp_path: Path, directory: AuditDirectory) -> None:
    """Forms come from outside, and the packet is opened in a browser."""
    hostile = FRESH[0].replace("Ana", "<script>alert(1)</script>")
    items = _queue(tmp_path, line("p1", fresh=[hostile, FRESH[1]]), choice("c1"))
    log = ReviewLog(directory)
    log.record({"p1/fresh-2": (Verdict.REJECT, "<b>no</b>")}, items, reviewer="Ana & Bo")
    write_packet(directory.review_packet, items, log.standing(items), audit="demo", scope="all")
    page = _Tags()
    page.feed(directory.review_packet.read_text(encoding="utf-8"))
    assert page.tags.count("article") == 3
    assert {"script", "b", "img", "link"}.isdisjoint(page.tags)
    assert "<script>alert(1)</script>" in page.text
    assert "rejected by Ana & Bo: <b>no</b>" in " ".join(page.text.split())
    assert "C: air" in page.text


@given(
    st.lists(st.sampled_from(["a", "b", "c", "3", "5,", "The", "the"])),
    st.lists(st.sampled_from(["a", "b", "c", "3", "5.", "the", "x"])),
)
def test_the_spans_are_the_words_of_each_text(first: list[str], second: list[str]) -> None:
    """Splitting must neither drop a word nor move one."""
    left, right = compare_words(" ".join(first), " ".join(second))
    assert " ".join(span.text for span in left) == " ".join(first)
    assert " ".join(span.text for span in right) == " ".join(second)
    kept = [" ".join(span.text for span in side if span.is_kept).casefold() for side in (left, right)]
    assert kept[0].translate(_NO_STOPS) == kept[1].translate(_NO_STOPS)


def test_numbers_and_words_of_relation_are_marked() -> None:
    """The answer hangs on them; in a good rewrite most other words are new."""
    left, right = compare_words("Tom buys 3 boxes of two pens each.", "Each of the 3 boxes holds 2 pens.")
    assert [span.text for span in left if span.is_telling] == ["3", "two", "each."]
    assert [span.text for span in right if span.is_telling] == ["Each", "3", "2"]
    assert [span.text for span in right if span.is_kept] == ["3", "boxes", "pens."]
