"""What a family says must not have been said before."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale_server.catalog_audit.overlap import EarlierEdition, check_overlap, read_corpus, runs

from .builders import the_material

SOME = ("sql/threshold", "python/nested-update")


def fault_against(folder: Path) -> str:
    return check_overlap(the_material(*SOME), corpus=read_corpus([folder]), earlier=[]).fault


def a_task() -> str:
    return the_material(*SOME).families[0].forms[0].public.task


def test_a_repeated_sentence_is_found_however_it_is_set(tmp_path: Path) -> None:
    """Over two lines, in capitals and with other marks: it is the same sentence to a model."""
    words = a_task().upper().replace(",", " --").split()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.txt").write_text("Nothing.\n" + "\n".join((" ".join(words[:5]), " ".join(words[5:]))))

    fault = fault_against(tmp_path)
    assert fault.startswith("sql-threshold in R0 shares '")
    assert f"{tmp_path / 'deep' / 'b.txt'}:3" in fault


def test_a_repeated_program_is_found(tmp_path: Path) -> None:
    """Programs never leave the server, but a benchmark that has them would be an earlier form of ours."""
    program = the_material(*SOME).families[-1].forms[1].programs[2]
    (tmp_path / "a.py").write_text(f"# theirs\n{program}")

    assert "python-nested-update in R1 shares '" in fault_against(tmp_path)


def test_seven_words_in_common_are_none(tmp_path: Path) -> None:
    """Short phrases are everybody's."""
    (tmp_path / "a.txt").write_text(" ".join(a_task().split()[:7]) + " and so on")

    assert fault_against(tmp_path) == ""


def test_a_file_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\xff" + a_task().encode())
    (tmp_path / "latin.txt").write_bytes("Zählen, größer".encode("latin-1"))

    finding = check_overlap(the_material(*SOME), corpus=read_corpus([tmp_path]), earlier=[])
    assert finding.fault == ""
    assert "against 1 line of 0 runs" in finding.checked


def test_a_corpus_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    """A typing error in a path must not read as no overlap."""
    with pytest.raises(FileNotFoundError):
        fault_against(tmp_path / "not-there")


def test_an_edition_of_other_shapes_must_not_share_a_sentence() -> None:
    family = the_material(*SOME).families[0].forms[0].public
    theirs = dataclasses.replace(family, shape_id="sql-another", key="K-ffffffff", family_id="f-ffffffffffff")
    earlier = EarlierEdition("edition 'old'", [theirs])

    fault = check_overlap(the_material(*SOME), corpus=[], earlier=[earlier]).fault
    assert fault.startswith("sql-threshold in R0 shares '")
    assert fault.endswith("with sql-another of edition 'old'")


def test_an_edition_of_the_same_shapes_must_not_share_a_key() -> None:
    """Its sentences are alike by design; a key that comes back has its old answer in a model that was exposed to it."""
    family = the_material(*SOME).families[0].forms[0].public
    known = EarlierEdition("edition 'old'", [family])
    renewed = EarlierEdition(
        "edition 'old'", [dataclasses.replace(family, key="K-ffffffff", family_id="f-ffffffffffff")]
    )

    assert "as a family of edition 'old' has" in check_overlap(the_material(*SOME), corpus=[], earlier=[known]).fault
    assert check_overlap(the_material(*SOME), corpus=[], earlier=[renewed]).fault == ""


@given(
    st.lists(st.sampled_from(["a", "B", "ß", "7", "x9"]), max_size=20), st.sampled_from([" ", "\n", ", ", "__", "-"])
)
def test_marks_and_capitals_make_no_difference(words: list[str], mark: str) -> None:
    plain = runs(" ".join(words))

    assert runs(mark.join(words).upper()) == plain
    assert len(plain) == max(0, len(words) - 7)
