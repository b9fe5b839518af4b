"""The table that a terminal shows, and the two files it comes from."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.report.payloads import a_payload, a_provenance

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.report import (
    DISCLOSURE_FILE,
    PROVENANCE_FILE,
    provenance_from_json,
    provenance_to_json,
    read_disclosure,
    read_provenance,
    render_summary_table,
    summary_text,
)
from leakscale.report.words import rounding_note, scope
from leakscale.results import (
    CohortNumbers,
    Disclosure,
    Estimate,
    RingTransfer,
    disclosure_from_json,
    disclosure_from_payload,
    disclosure_to_json,
)


def a_disclosure() -> Disclosure:
    """Build a paper-sized result: the widest counts that the table must hold."""
    count = {"family_count": 512, "draw_count": 16_384, "correct_count": 11_111, "valid_count": 16_384}
    wide = {"value": -0.1239, "low": -0.2234, "high": -0.1001}
    body = {
        "experiment_id": "exp-1",
        "edition_id": "ed-1",
        "edition_kind": "private",
        "commitment_root": "ab" * 32,
        "assurance_level": "L1",
        "totals": [
            {"domain": domain, "condition": condition, "state": state, **count}
            for domain in Domain
            for condition in Condition
            for state in ModelState
        ],
        "effects": [
            {"domain": domain, "effect": wide, "c0_drift": wide, "c2_change": wide} for domain in (None, *Domain)
        ],
        "confidence": 0.95,
        "resample_count": 10_000,
        "bootstrap_seed": str(2**53 + 1),
    }
    return disclosure_from_payload(a_payload(body), signature=b"\x00" * 64, public_key=b"\xff" * 32)


def test_plain_table_fits_80_columns_and_holds_every_total() -> None:
    """Logs and CI consoles are 80 columns wide; a wrapped table is no table."""
    text = summary_text(a_disclosure())

    assert max(map(len, text.splitlines())) <= 80
    assert text.count("11111/16384") == 8
    assert text.count("22222/32768") == 4
    assert text.count("-12.39 (-22.34 to -10.01)") == 9
    assert text.isascii()


def test_rounded_totals_are_told_as_such_with_what_that_moves() -> None:
    """Whoever reads 11,104 of 16,384 must not take it for an exact count, nor fear that it hides much."""
    exact = a_disclosure()
    rounded = dataclasses.replace(
        exact,
        count_step=32,
        totals=tuple(dataclasses.replace(total, correct_count=11_104) for total in exact.totals),
    )

    text = summary_text(rounded)

    assert "whole families, to the nearest 32" in text
    assert "off by at most 0.4 points" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert ("Whole families", rounding_note(rounded)) in scope(rounded)
    assert "whole families, to" not in summary_text(exact)
    assert "Whole families" not in dict(scope(exact))


def test_rich_table_fits_80_columns() -> None:
    """The default terminal is 80 columns wide; cut numbers would be wrong numbers."""
    console = Console(width=80, file=io.StringIO())

    console.print(render_summary_table(a_disclosure()))

    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in shown
    assert shown.count("11111/16384") == 8
    assert shown.count("-12.39 (-22.34 to -10.01)") == 9


def test_cohorts_stand_below_the_table_and_fit_it() -> None:
    """Whoever registered a part of the edition reads its effect; one of a single domain stands there once."""
    effects = a_disclosure().effects
    both = CohortNumbers("c" * 63, ("a", "b"), (), effects, (), None)
    one = CohortNumbers("easy", ("a",), (), effects[:2], (), None)
    disclosure = dataclasses.replace(a_disclosure(), cohorts=(both, one))
    console = Console(width=80, file=io.StringIO())

    text = summary_text(disclosure)
    console.print(render_summary_table(disclosure))

    assert max(map(len, text.splitlines())) <= 80
    for shown in (text, console.file.getvalue()):  # type: ignore[attr-defined]
        assert shown.count("c" * 30 + "..") == 3
        assert shown.count("easy") == 1
        assert shown.count("-12.39 (-22.34 to -10.01)") == 9 + 4


def test_control_that_moved_is_said() -> None:
    """Where the control itself moved, part of the effect is not the model's gain; nobody should find that out late."""
    assert "drift excludes zero in SQL and Python:" in " ".join(summary_text(a_disclosure()).split())


def test_control_that_stayed_needs_no_words() -> None:
    """A warning on every table is no warning."""
    still = dataclasses.replace(a_disclosure().effects[1], c0_drift=Estimate(0.01, -0.02, 0.04))

    assert "excludes zero" not in summary_text(dataclasses.replace(a_disclosure(), effects=(still,)))


def test_answers_that_are_all_valid_are_said_in_one_line() -> None:
    """Whoever reads the number reads that nothing of it is malformed."""
    console = Console(width=80, file=io.StringIO())

    console.print(render_summary_table(a_disclosure()))

    for shown in (summary_text(a_disclosure()), console.file.getvalue()):  # type: ignore[attr-defined]
        assert "131,072 of 131,072 answers valid" in {line.strip() for line in shown.splitlines()}


def test_banks_with_malformed_answers_are_named() -> None:
    """An endpoint that malformed half of a bank moves the number, and the number alone does not tell."""
    whole = a_disclosure()
    short = tuple(
        dataclasses.replace(total, valid_count=total.draw_count - 1_384)
        if total.domain is Domain.SQL and total.state is ModelState.ADAPTED
        else total
        for total in whole.totals
    )
    disclosure = dataclasses.replace(whole, totals=short, transfers=(RingTransfer(Ring.R1, short, (), ()),))
    console = Console(width=80, file=io.StringIO())

    console.print(render_summary_table(disclosure))

    for shown in (summary_text(disclosure), console.file.getvalue()):  # type: ignore[attr-defined]
        words = " ".join(shown.split())
        assert "answers valid; the others count as wrong: SQL adapted 30,000 of 32,768, SQL R1 adapted 30,000" in words
        assert "base" not in words[words.index("answers valid") :]


def test_disclosure_survives_its_file() -> None:
    """A number that changes on its way to disk cannot be verified."""
    disclosure = a_disclosure()

    assert disclosure_from_json(disclosure_to_json(disclosure)) == disclosure


def test_provenance_survives_its_file() -> None:
    """The report is made from the file, not from memory."""
    assert provenance_from_json(provenance_to_json(a_provenance())) == a_provenance()


@pytest.mark.parametrize(
    "damage",
    [
        lambda fields: fields.pop("format"),
        lambda fields: fields.pop("numbers"),
        lambda fields: fields.pop("payload"),
        lambda fields: fields.update(payload="not base64!"),
        lambda fields: fields.update(payload="e30="),
        lambda fields: fields.update(payload="bm8ganNvbg=="),
        lambda fields: fields.update(signature=3),
    ],
)
def test_damaged_disclosure_is_refused_by_name(damage: object) -> None:
    """Half-read numbers must not become a report."""
    fields = json.loads(disclosure_to_json(a_disclosure()))
    damage(fields)  # type: ignore[operator]

    with pytest.raises(IntegrityError, match="disclosure"):
        disclosure_from_json(json.dumps(fields))


def test_numbers_that_are_not_the_signed_ones_are_refused() -> None:
    """What a person reads in the file and what was signed must not be able to differ."""
    fields = json.loads(disclosure_to_json(a_disclosure()))
    fields["numbers"]["totals"][0]["correct_count"] += 1

    with pytest.raises(IntegrityError, match="not the signed ones"):
        disclosure_from_json(json.dumps(fields))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "leakscale-provenance-v1"}'])
def test_damaged_provenance_is_refused_by_name(text: str) -> None:
    """The message says which file is at fault."""
    with pytest.raises(IntegrityError, match="provenance"):
        provenance_from_json(text)


def test_study_directory_gives_back_what_was_written(tmp_path: Path) -> None:
    """The two names are a contract between the demo and the report."""
    (tmp_path / DISCLOSURE_FILE).parent.mkdir()
    (tmp_path / DISCLOSURE_FILE).write_text(disclosure_to_json(a_disclosure()))
    (tmp_path / PROVENANCE_FILE).write_text(provenance_to_json(a_provenance()))

    assert read_disclosure(tmp_path) == a_disclosure()
    assert read_provenance(tmp_path) == a_provenance()


def test_unfinished_study_says_what_is_missing(tmp_path: Path) -> None:
    """The next step belongs into the message."""
    with pytest.raises(NotFoundError, match=r"has no analysis/disclosure\.json; run `leakscale demo`"):
        read_disclosure(tmp_path)
