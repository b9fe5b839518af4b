"""The report as a file that stands alone."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leakscale.errors import InvalidRequestError
from leakscale.models import Condition, Domain, ModelState
from leakscale.report import StudyProvenance, write_report
from leakscale.report.html import render_report
from leakscale.results import CellTotal, Disclosure, Effect, Estimate

from .payloads import a_provenance, findings_of

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Balance(HTMLParser):
    """Tags that were opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An SVG shape closes itself."""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def a_disclosure() -> Disclosure:
    totals = [
        CellTotal(domain, condition, state, 32, 1024, correct, 1024)
        for domain in Domain
        for condition, state, correct in (
            (Condition.C0, ModelState.BASE, 250),
            (Condition.C0, ModelState.ADAPTED, 246),
            (Condition.C2, ModelState.BASE, 251),
            (Condition.C2, ModelState.ADAPTED, 871),
        )
    ]
    effects = [
        Effect(domain, Estimate(0.609, 0.551, 0.667), Estimate(-0.004, -0.02, 0.012), Estimate(0.605, 0.55, 0.66))
        for domain in (None, *Domain)
    ]
    return Disclosure(
        experiment_id="exp-1",
        edition_id="ed-1",
        edition_kind="practice",
        commitment_root="ab" * 32,
        assurance_level="L0",
        totals=tuple(totals),
        effects=tuple(effects),
        confidence=0.95,
        resample_count=10_000,
        bootstrap_seed=7,
        payload=b"{}",
        signature=b"s" * 64,
        public_key=b"k" * 32,
    )


def a_page(disclosure: Disclosure, provenance: StudyProvenance) -> str:
    """Render the report of released numbers."""
    return render_report(findings_of(disclosure, provenance))


def test_report_states_the_finding_and_every_count() -> None:
    """A reader must be able to redo the arithmetic from the page alone."""
    page = a_page(a_disclosure(), a_provenance())

    assert "Exposure moved this model&#39;s accuracy by +60.9 points (95\u00a0% interval +55.1 to +66.7)." in page
    for count in ("500 / 2,048", "492 / 2,048", "502 / 2,048", "1,742 / 2,048", "871 / 1,024"):
        assert count in page
    assert "−0.40" in page
    assert "make demo" in page
    assert "ab" * 32 in page
    assert "One party ran everything on one machine." in page


def test_report_says_what_is_rounded_and_by_how_much_it_may_be_off() -> None:
    """Totals of a private edition are told in whole families; read as exact, they would not add up."""
    rounded = dataclasses.replace(
        a_disclosure(),
        count_step=32,
        totals=tuple(dataclasses.replace(total, correct_count=256) for total in a_disclosure().totals),
    )

    assert "told in whole families, to the nearest 32" in a_page(rounded, a_provenance())
    assert "told in whole families" not in a_page(a_disclosure(), a_provenance())


def test_report_prints_every_seed_once_and_settings_short() -> None:
    """A rerun needs the seeds exactly; a loss to sixteen digits only hides them."""
    page = a_page(
        a_disclosure(),
        a_provenance(seeds={"bank": 5, "bootstrap": 7}, training={"loss_last": 0.01234567890123}),
    )

    assert page.count('<th scope="row">bootstrap</th>') == 1
    assert "<code>5</code>" in page
    assert "<code>0.0123457</code>" in page


def test_report_asks_the_network_for_nothing_and_runs_nothing() -> None:
    """The page must read the same in ten years, offline, in a locked-down browser."""
    page = a_page(a_disclosure(), a_provenance())

    assert not re.search(r"<script|<link|<img|<iframe|\bsrc=|url\((?!#)|@import|https?://", page)
    assert not re.search(r'\bhref="(?!#|data:text/csv;)', page)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_report_is_well_formed() -> None:
    """An unclosed element shows in one browser and not in another."""
    balance = Balance()

    balance.feed(a_page(a_disclosure(), a_provenance(bank_digests={"base": "55" * 32})))

    assert balance.faults == []
    assert balance.open == []


def test_text_from_outside_is_escaped_everywhere() -> None:
    """A model folder can have any name; a report is opened in a browser."""
    hostile = "<script>alert(1)</script>"

    page = a_page(
        dataclasses.replace(a_disclosure(), edition_id=hostile, assurance_level=hostile),
        a_provenance(study=hostile, model_id=hostile, seeds={hostile: hostile}, versions={hostile: hostile}),
    )

    assert "<script" not in page


def test_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    """A report is part of the evidence; a second one must compare equal."""
    first, second = (write_report(tmp_path / name, findings_of(a_disclosure(), a_provenance())) for name in ("a", "b"))

    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Estimate(0.0, 0.0, 0.0), "no interval: every family alike"),
        (Estimate(0.5, -2.0, 2.0), "no interval: one family only"),
        (Estimate(0.01, -0.02, 0.04), "cannot tell the effect of exposure from none"),
        (Estimate(-0.1, -0.15, -0.05), "lowered the score"),
    ],
)
def test_report_claims_no_more_than_the_interval_allows(effect: Estimate, words: str) -> None:
    """A zero-width interval read as certainty is the worst mistake this page could invite."""
    one = dataclasses.replace(a_disclosure().effects[0], effect=effect)

    page = a_page(dataclasses.replace(a_disclosure(), effects=(one,)), a_provenance())

    assert words in page


def test_study_of_one_domain_is_not_shown_twice() -> None:
    """Pooling one domain gives the same numbers under another name."""
    whole = a_disclosure()
    sql = [total for total in whole.totals if total.domain is Domain.SQL]
    one = dataclasses.replace(whole, totals=tuple(sql), effects=whole.effects[:2])

    page = a_page(one, a_provenance())

    assert "All domains" not in page
    assert page.count('<tr class="block">') == 1


def test_disclosure_without_an_effect_is_refused() -> None:
    """An empty report would look like a finished one."""
    with pytest.raises(InvalidRequestError, match="holds no effect"):
        a_page(dataclasses.replace(a_disclosure(), effects=()), a_provenance())
