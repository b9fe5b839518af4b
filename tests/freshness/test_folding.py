"""One form for all spellings: what is folded together, and that cuts change nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leakscale.freshness.scan.folding import fold, fold_text, safe_pieces

from .builders import reads_of

TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("aZ 9_-\n.\0é\u0301ﬁＫ\u200b\u00ad\ufe0fß가\u11a8ﾞ")),
    max_size=60,
)


def naive(text: str) -> bytes:
    """Fold character by character, the whole text at once."""
    words = []
    for char in unicodedata.normalize("NFKC", text).casefold():
        category = unicodedata.category(char)
        if char == "_" or category[0] in "LN" or (category[0] == "M" and unicodedata.name(char, "") not in UNSEEN):
            words.append(char)
        elif category != "Cf" and category[0] != "M":
            words.append(" ")
    return " ".join("".join(words).split(" ")).encode()


UNSEEN = {
    *(f"VARIATION SELECTOR-{number}" for number in range(1, 257)),
    "COMBINING GRAPHEME JOINER",
}


@pytest.mark.parametrize(
    "spelling",
    [
        "K-7f3a91c2",
        "k 7F3A91C2",
        "**K**–7f3a91c2!",
        "Ｋ－７ｆ３ａ９１ｃ２",
        "K-7f3a\u200b91c2",
        "\ufeffK:\n\t7f3a91c2\r\n",
        "K-7f3a\u00ad91c2",
    ],
)
def test_layout_case_width_and_what_nobody_sees_hide_no_copy(spelling: str) -> None:
    """Each is read by a person as the same key."""
    assert fold_text(spelling) == b" k 7f3a91c2 "


@pytest.mark.parametrize("other", ["К-7f3a91c2", "K7f3a91c2", "K-7f3a 91c2", "K_7f3a91c2"])
def test_other_words_stay_other(other: str) -> None:
    """A Cyrillic К, a key without its dash, torn, or joined: named in the documentation as not seen through."""
    assert fold_text(other) != b" k 7f3a91c2 "


@given(TEXTS)
@example("e\u0301 E\u0301 é")
@example("a\0b")
def test_folding_is_what_it_says_character_by_character(text: str) -> None:
    """The short ways for ASCII and for runs past it give what the long one gives."""
    folded = fold(text.encode(), after_space=True).content

    assert folded.split() == naive(text).split()
    assert b"  " not in folded


@given(TEXTS, st.lists(st.integers(1, 9), min_size=1))
def test_a_text_folds_in_parts_as_it_does_whole(text: str, sizes: list[int]) -> None:
    """A match must not depend on where a read ended, not even between a letter and its accent."""
    raw, content = text.encode(), b""
    for piece in safe_pieces(reads_of(raw, sizes)):
        content += fold(piece, after_space=content.endswith(b" ")).content

    assert content == fold(raw, after_space=False).content


@given(TEXTS)
def test_each_folded_byte_knows_the_character_it_came_from(text: str) -> None:
    """Where something was met is a place in the file, not in what was made of it."""
    raw = text.encode()
    folded = fold(raw, after_space=False)

    origins = [folded.origin(index) for index in range(len(folded.content))]

    assert origins == sorted(origins)
    assert all(raw[origin] & 0xC0 != 0x80 for origin in origins)
    if raw.isascii():
        assert bytes(raw[origin] for origin in origins).lower().translate(BLANKED) == folded.content


@given(st.binary(max_size=80))
def test_bytes_that_are_no_text_separate_words_and_keep_places(raw: bytes) -> None:
    """A corpus holds broken files; they end neither a scan nor the counting of bytes."""
    folded = fold(raw, after_space=False)

    assert all(0 <= folded.origin(index) < len(raw) for index in range(len(folded.content)))


def test_a_long_text_without_ascii_is_cut_all_the_same() -> None:
    """Memory stays flat in a corpus of Chinese without line feeds."""
    raw = "家".encode() * (2 << 20)

    pieces = list(safe_pieces(raw[at : at + (1 << 20)] for at in range(0, len(raw), 1 << 20)))

    assert b"".join(pieces) == raw
    assert max(map(len, pieces)) <= 5 << 20
    assert all(piece.decode() for piece in pieces if piece)


BLANKED = bytes(code if chr(code).isalnum() or code == ord("_") else 32 for code in range(128)) + bytes(128)
