"""What `leakscale certify` says, without a server."""

from __future__ import annotations

import time

import pytest

from leakscale.cli import certify
from leakscale.cli.console import Console
from leakscale.models import CertificationOutcome, CertificationRequest, Condition, Rejection


def rejected(ordinal: int, message: str) -> CertificationOutcome:
    return CertificationOutcome(
        CertificationRequest("sql-x", Condition.C0, ordinal),
        f"editions/draft/families/f-{ordinal}",
        None,
        Rejection("PROGRAM_FAILED", message, ()),
        is_stored=False,
    )


def test_equal_rejections_are_said_once() -> None:
    """Eight lines that say the same hide the ninth that does not."""
    outcomes = [rejected(0, "one"), *(rejected(ordinal, "other") for ordinal in range(1, 4))]

    assert certify.folded(outcomes) == [
        "  3 of 4 rejected: PROGRAM_FAILED: other",
        "  1 of 4 rejected: PROGRAM_FAILED: one",
    ]


def test_rejections_that_differ_in_values_alone_are_said_once_with_an_example() -> None:
    """Every family has values of its own; what the author can do is the same."""
    outcomes = [
        rejected(ordinal, f"candidates {ordinal}.5 and '{ordinal}x' agree on {ordinal}") for ordinal in range(3)
    ]

    assert certify.folded(outcomes) == [
        "  3 of 3 rejected: PROGRAM_FAILED: e.g. candidates 0.5 and '0x' agree on 0",
    ]


@pytest.mark.parametrize(("seconds", "lines"), [(0.0, 0), (0.3, 1)])
def test_a_log_hears_that_the_first_families_run(
    seconds: float, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A certification of loops looks dead until the first one is given up."""
    with certify.waiting_said(Console(), 8, after_s=0.1):
        time.sleep(seconds)

    assert capsys.readouterr().err == "certify: 0/8 families, the first ones are running\n" * lines
