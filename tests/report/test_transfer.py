"""The rows that say what acts in other forms than the leaked one."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from leakscale.models import Domain, Ring
from leakscale.report import render_summary_table, summary_text
from leakscale.report.transfer import share_in_words, transfer_rows
from leakscale.results import Disclosure, RingShare, RingTransfer

from .payloads import a_provenance
from .test_html import a_disclosure, a_page

A_SHARE = RingShare(None, 0.667, "bounded", 0.55, 0.801, None, None, is_censored=False)


def a_transfer(ring: Ring, share: RingShare = A_SHARE) -> RingTransfer:
    plain = a_disclosure()
    shares = tuple(dataclasses.replace(share, domain=effect.domain) for effect in plain.effects)
    return RingTransfer(ring, plain.totals, plain.effects, shares)


def with_rings(*transfers: RingTransfer) -> Disclosure:
    return dataclasses.replace(a_disclosure(), transfers=transfers or (a_transfer(Ring.R1), a_transfer(Ring.R2)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "0.67 (0.55 to 0.80)"),
        ({"is_censored": True}, ">= 0.67 (0.55 to 0.80)"),
        ({"shape": "two_rays", "low": -1.5, "high": 0.25}, "0.67 (to -1.50 or from 0.25)"),
        ({"shape": "two_rays", "low": None, "high": 0.25}, "0.67 (from 0.25)"),
        ({"shape": "everything", "low": None, "high": None}, "0.67 (any value)"),
        ({"value": None, "withheld": "failed_manipulation"}, "none: no effect in R0"),
        ({"value": None, "withheld": "censored"}, "none: R0 at its ceiling"),
        ({"value": None, "withheld": "no_variation"}, "none: families all alike"),
        ({"value": None, "withheld": "a rule of a later server"}, "none"),
    ],
)
def test_a_share_is_never_more_certain_than_it_is(change: dict[str, object], words: str) -> None:
    """A ratio of noisy numbers may have no bound, or may be withheld; the row says which."""
    assert share_in_words(dataclasses.replace(A_SHARE, **change)) == words  # type: ignore[arg-type]


def test_every_ring_and_domain_has_its_row() -> None:
    """Pooled first, as everywhere."""
    rows = [(row.ring, row.domain) for row in transfer_rows(with_rings())]

    assert rows == [
        (ring, domain)
        for ring in ("R1 reworded", "R2 renamed")
        for domain in ("All domains", *(("SQL", "Python") if next(iter(Domain)) is Domain.SQL else ("Python", "SQL")))
    ]


def test_a_study_of_the_leaked_form_has_no_row() -> None:
    """Most studies ask R0 alone; an empty table would look like a missing result, so the page says why."""
    assert transfer_rows(a_disclosure()) == ()
    assert "other forms" not in summary_text(a_disclosure())
    page = a_page(a_disclosure(), a_provenance())
    assert "<b>Not in this study.</b> The families were asked in one form" in page
    assert "R1 reworded" not in page


def test_the_tables_of_a_terminal_hold_the_rows_in_80_columns() -> None:
    """A cut share is a wrong one."""
    widest = a_transfer(Ring.R1, dataclasses.replace(A_SHARE, is_censored=True))
    disclosure = with_rings(widest)
    console = Console(width=80, file=io.StringIO())

    console.print(render_summary_table(disclosure))
    plain, rich = summary_text(disclosure), console.file.getvalue()  # type: ignore[attr-defined]

    assert max(map(len, plain.splitlines())) <= 80
    for shown in (plain, rich):
        assert shown.count(">= 0.67 (0.55 to 0.80)") == 3
        assert shown.count("R1 reworded") == 3
        assert "…" not in shown


def test_the_report_has_the_rows() -> None:
    """The page is what people keep."""
    page = a_page(with_rings(), a_provenance())

    assert page.count('<th scope="row">R2 renamed</th>') == 3
    assert page.count("0.67 (0.55 to 0.80)") == 6
