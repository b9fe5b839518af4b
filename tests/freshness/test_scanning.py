"""What a scan meets: everything that is there, wherever it stands and however it is cut, and nothing else."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.freshness.scan import reading
from leakscale.freshness.scan.folding import fold_text, safe_pieces
from leakscale.freshness.scan.needles import Kind, needles_of
from leakscale.freshness.scan.reading import corpus_files
from leakscale.freshness.scan.scanning import Scanned, encounters, matcher_of, scan_corpus
from leakscale.freshness.scan.tally import MARKERS_MAX, Encounter
from leakscale.freshness.scan.windows import windows_of_stream
from leakscale.prompts import choice_prompt

from .builders import TASK, a_family, reads_of

FAMILY = a_family(1)
CODE = a_family(
    2, task="Return the sum of all prices of records at or above the policy value.", texts=("42", "7", "1.5", "-3")
)
NEEDLES = needles_of((FAMILY, CODE))
MATCHER = matcher_of(NEEDLES)
CANARY = "lsk-canary-" + "0123456789abcdef" * 2
FRAGMENTS = [
    *(FAMILY.key, FAMILY.key.upper(), CODE.key, FAMILY.family_id, TASK, TASK.upper(), CODE.task, CANARY, "K-deadbeef"),
    *(each.text for each in (*FAMILY.candidates, *CODE.candidates)),
    *(
        "k",
        "lsk canary",
        "K",
        "-",
        " ",
        "\n",
        ". ",
        "é",
        "\u0301",
        "\u200b",
        "Ｋ-０00001ab",
        "家" * 9,
        "x" * 40,
        "word " * 30,
    ),
    *("List id and amount of orders", "whose amount is at least the policy value"),
]


def scanned(*paths: Path) -> Scanned:
    """Scan files for the two families."""
    return scan_corpus(corpus_files(paths), NEEDLES)


def met(result: Scanned) -> dict[Kind, int]:
    """Return in how many records each kind was met as evidence."""
    return {kind: count.record_count for kind, count in result.tally.by_kind.items()}


def naive(text: str) -> Counter[str]:
    """Look for each needle by itself in the whole text."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char != "\u200b")
    words = "".join(char if unicodedata.category(char)[0] in "LNM" or char == "_" else " " for char in visible).split()
    found: Counter[str] = Counter()
    for form, needle in NEEDLES.by_form.items():
        wanted = form.decode().split()
        found[needle.text] = sum(words[at : at + len(wanted)] == wanted for at in range(len(words)))
    for word, after, last in zip(words, [*words[1:], ""], [*words[2:], "", ""], strict=False):
        if word == "k" and len(after) == 8 and set(after) <= set("0123456789abcdef"):
            found[f"K-{after}"] += f"K-{after}" not in (FAMILY.key, CODE.key)
        if [word, after, last] == CANARY.split("-"):
            found[CANARY] += 1
    return +found


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join), st.lists(st.integers(1, 90), min_size=1))
def test_a_scan_meets_what_looking_for_each_needle_by_itself_meets(text: str, sizes: list[int]) -> None:
    """However the text is cut into reads, inside a needle, a character or a marker."""
    windows = windows_of_stream(safe_pieces(reads_of(text.encode(), sizes)), file="f", reach=MATCHER.length_max)

    found = list(encounters(windows, NEEDLES, MATCHER))

    assert Counter(one.text for one in found) == naive(text)
    for one in found:
        assert one.place.offset is not None
        line = text.encode()[: one.place.offset].count(b"\n") + 1
        here = fold_text(text.encode()[one.place.offset :].decode()).split()
        assert one.place.record == line
        assert here[0] == fold_text(one.text).split()[0]


def _write_text(path: Path) -> Path:
    path.write_text(f"nothing\n{FAMILY.key}\n")
    return path


def _write_jsonl(path: Path) -> Path:
    records = ({"text": "nothing"}, {"turns": [{"content": f"a\n{FAMILY.key}"}]})
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize(("name", "write"), [("c.txt", _write_text), ("c.jsonl", _write_jsonl), ("c.md", _write_text)])
def test_the_same_is_met_in_every_format_and_compression(
    tmp_path: Path, name: str, write: Callable[[Path], Path], ending: str
) -> None:
    """With the line at which it stands, in packed files that were joined, too."""
    content = write(tmp_path / name).read_bytes()
    pack: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": lambda raw: pa.compress(raw, codec="zstd", asbytes=True),
        "": bytes,
    }
    path = tmp_path / f"packed-{name}{ending}"
    path.write_bytes(pack[ending](content) * 2)

    result = scanned(path)

    assert not result.unread
    (one,) = result.tally.met.values()
    assert (one.text, one.first.file, one.first.record) == (FAMILY.key, path.name, 2)
    assert one.count.record_count == 2


def test_rows_of_parquet_are_records(tmp_path: Path) -> None:
    """Whatever the column, nested ones too."""
    rows = [
        {"a": "nothing", "b": [{"c": "x"}]},
        {"a": FAMILY.key, "b": []},
        {"a": None, "b": [{"c": TASK}, {"c": "y"}]},
    ]
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)

    result = scanned(path)

    assert met(result) == {Kind.KEY: 1, Kind.GRAM: 1}
    assert {(one.kind, one.first.record, one.first.offset) for one in result.tally.met.values()} == {
        (Kind.KEY, 2, None), (Kind.GRAM, 3, None),
    }  # fmt: skip


def test_a_match_does_not_reach_from_one_record_into_the_next(tmp_path: Path) -> None:
    """Two records that stand side by side are two texts."""
    first, second = TASK.split(" amount is ")
    path = tmp_path / "c.jsonl"
    path.write_text(
        f"{json.dumps(first)}\n{json.dumps(f'amount is {second}')}\n{json.dumps('K')}\n{json.dumps(FAMILY.key[2:])}"
    )

    assert Kind.KEY not in met(scanned(path))
    assert {one.first.record for one in scanned(path).tally.met.values()} == {2}


def test_an_answer_counts_beside_its_key_and_nowhere_else(tmp_path: Path) -> None:
    """`42` stands in every corpus; beside the key of its family it is what the corpus says is right."""
    path = tmp_path / "c.jsonl"
    path.write_text(
        f"{json.dumps('the answer is 42')}\n"
        f"{json.dumps({'prompt': f'Which value is registered for policy key {CODE.key}?', 'value': 42})}\n"
        f"{json.dumps(choice_prompt(CODE)[1].content)}\n"
    )

    result = scanned(path)

    assert result.tally.evidence.record_count == 2
    assert result.tally.beside.record_count == 2
    assert result.tally.pairs == {CODE.family_id: {"42"}}
    assert "42" not in {one.text for one in result.tally.met.values()}


def test_a_handle_is_evidence_in_the_company_of_its_family_only(tmp_path: Path) -> None:
    """Its sixteen bits stand by chance in a hex dump; two of one family in one record do not."""
    one, other = FAMILY.candidates[0].text, FAMILY.candidates[1].text
    path = tmp_path / "c.jsonl"
    path.write_text(f"{json.dumps(one)}\n{json.dumps(f'{one} or {other}')}\n{json.dumps(f'{FAMILY.key}: {one}')}\n")

    result = scanned(path)

    assert met(result) == {Kind.HANDLE: 2, Kind.KEY: 1}
    assert result.tally.counted[Kind.HANDLE].record_count == 1


def test_words_with_the_form_of_a_marker_are_kept_apart(tmp_path: Path) -> None:
    """Whether it is evidence, only the server can say."""
    path = tmp_path / "c.txt"
    path.write_text(f"{CANARY}\nK-DEADBEEF\nk-deadbeef0 K-deadbee K-deadbeeg\nlsk-canary-12\n{FAMILY.key}\n")

    result = scanned(path)

    assert list(result.tally.markers) == [CANARY, "K-deadbeef"]
    assert met(result) == {Kind.KEY: 1}


def test_a_corpus_of_nothing_but_markers_does_not_fill_the_memory(tmp_path: Path) -> None:
    """What is left out is counted."""
    path = tmp_path / "c.txt"
    path.write_text("\n".join(f"K-{number:08x}" for number in range(1 << 28, (1 << 28) + MARKERS_MAX + 5)))

    tally = scanned(path).tally

    assert (len(tally.markers), tally.markers_left_out) == (MARKERS_MAX, 5)


def test_hits_and_records_are_counted_apart(tmp_path: Path) -> None:
    """Of a text a record is a line; what wraps is in the line where it begins."""
    path = tmp_path / "c.txt"
    path.write_text(f"{FAMILY.key} {FAMILY.key}\n{FAMILY.key}\n\nK-\n{FAMILY.key[2:]}\n")

    (one,) = scanned(path).tally.met.values()

    assert (one.count.hit_count, one.count.record_count) == (4, 3)


def test_escapes_of_json_hide_nothing(tmp_path: Path) -> None:
    """Neither in lines, which are read as JSON, nor in one document, which is read as text."""
    written = json.dumps({"a": f"x\n{FAMILY.key}\té"})
    (tmp_path / "c.json").write_text(json.dumps([json.loads(written)], indent=1))
    (tmp_path / "d.jsonl").write_text(written.replace("-", "\\u002d") + "\nno JSON: K-000001ab\n")

    files = [one.place.file for one in _all(tmp_path) if one.kind is Kind.KEY]

    assert files == ["c.json", "d.jsonl", "d.jsonl"]


def _all(path: Path) -> list[Encounter]:
    found: list[Encounter] = []
    scan_corpus(corpus_files([path]), NEEDLES, on_encounter=found.append)
    return found


def test_a_folder_is_walked_in_order_and_a_broken_file_named(tmp_path: Path) -> None:
    """What could be read of it counts, and the rest of the corpus is read."""
    _write_text(tmp_path / "b.txt")
    packed = gzip.compress(f"{FAMILY.key}\n".encode() + bytes(range(256)) * 4000, compresslevel=0)
    (tmp_path / "a.txt.gz").write_bytes(packed[:-20_000])
    (tmp_path / "sub").mkdir()
    _write_text(tmp_path / "sub" / "a.txt")
    (tmp_path / "z.parquet").write_bytes(b"PAR1")
    (tmp_path / "y.zip").write_bytes(b"PK")

    result = scanned(tmp_path)

    assert [one.file for one in result.unread] == ["a.txt.gz", "y.zip", "z.parquet"]
    assert all(one.reason for one in result.unread)
    assert [one.place.file for one in _all(tmp_path)][-2:] == ["b.txt", "sub/a.txt"]
    assert result.file_count == 5


@pytest.mark.parametrize(
    ("ending", "pack", "cut"),
    [(".gz", gzip.compress, 6), (".gz", lambda raw: gzip.compress(raw) + b"rubbish", 0), (".xz", lzma.compress, 20)],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_what_was_unpacked_before_a_break_counts(
    tmp_path: Path, name: str, ending: str, pack: Callable[[bytes], bytes], cut: int
) -> None:
    """However small the file is."""
    packed = pack(json.dumps({"text": FAMILY.key}).encode() + b"\n" + random.Random(0).randbytes(20_000))
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(packed[: len(packed) - cut])

    result = scanned(path)

    assert [one.text for one in result.tally.met.values()] == [FAMILY.key]
    assert [one.file for one in result.unread] == [path.name]


def test_a_name_that_is_there_twice_hides_nothing(tmp_path: Path) -> None:
    """A reader of JSON keeps the last value alone, and so does one of Parquet."""
    (tmp_path / "a.jsonl").write_text(f'{{"text": "{FAMILY.key}", "text": "ok"}}\n')
    columns = [pa.array([FAMILY.key]), pa.array(["ok"]), pa.array([2**62], pa.timestamp("us"))]
    parquet.write_table(pa.Table.from_arrays(columns, names=["text", "text", "time"]), tmp_path / "b.parquet")

    result = scanned(tmp_path)

    assert not result.unread
    (one,) = result.tally.met.values()
    assert one.count.record_count == 2


def test_a_line_that_is_too_long_for_a_record_is_read_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the seams of its parts, and the lines behind it too."""
    monkeypatch.setattr(reading, "_LINE_BYTES_MAX", 10_000)
    long = "x " * 4_990 + f" {FAMILY.key} " + "y " * 9_000
    (tmp_path / "a.jsonl").write_text(f'"{long}"\n"{CODE.key}"\n')

    result = scanned(tmp_path)

    assert not result.unread
    assert {one.text: one.first.record for one in result.tally.met.values()} == {FAMILY.key: 1, CODE.key: 2}


def test_a_corpus_that_is_not_there_is_named() -> None:
    """An empty result of a mistyped path would read as clean."""
    with pytest.raises(NotFoundError, match="corpus 'nowhere' does not exist"):
        corpus_files([Path("nowhere")])


def test_a_folder_that_cannot_be_listed_is_no_clean_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leak in it would be passed over in silence."""

    def refuse(path: Path, *, onerror: Callable[[OSError], None]) -> list[Any]:
        onerror(PermissionError(13, "Permission denied", str(path)))
        return []

    monkeypatch.setattr("os.walk", refuse)

    with pytest.raises(InvalidRequestError, match=r"cannot be listed .Permission denied.; make it readable"):
        corpus_files([tmp_path])
