"""Numbers and findings in words, one way everywhere."""

from __future__ import annotations

from collections import Counter
from typing import Final

from leakscale.report.view import domain_name
from leakscale.results import Disclosure, Estimate
from leakscale.stats import Interval, IntervalState
from leakscale.totals import ToldTotals

__all__ = [
    "ASSURANCE",
    "bounds_in_words",
    "drift_note",
    "finding",
    "has_interval",
    "interval",
    "percent",
    "points",
    "rounding_note",
    "scope",
    "validity_note",
    "verdict",
]

ASSURANCE: Final = {
    "L0": "One party ran everything on one machine. The numbers are what this software measured; nothing here protects"
    " against a party that wants to deceive.",
    "L1": "One party trains the model and submits its answers. The server kept the private associations to itself, but"
    " it takes the submitter's word that the answers come from the model named here.",
    "L2": "The party that trained the model is not the party that submitted its answers. The submitter never saw an"
    " association; that the two do not work together is taken on trust.",
    "L3": "Training and answering ran in an attested environment, whose evidence is bound to the banks.",
}
"""What each assurance level promises, and what it leaves to trust."""


def points(value: float, *, digits: int = 1) -> str:
    """Write a difference of shares in percentage points with its sign: 0.1234 is `+12.3`.

    A value that rounds to zero is `0.0`, without a sign that it has not earned.
    """
    text = f"{100 * value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def percent(share: float, *, digits: int = 1) -> str:
    """Write a share in percent, without the sign: 0.25 is `25.0`."""
    return f"{100 * share:.{digits}f}"


def has_interval(estimate: Estimate) -> bool:
    """Tell whether the bounds come from variation between families.

    They do not where they coincide (no family differs from another), nor where they span all that is possible (a
    single family).
    """
    return estimate.low < estimate.high and estimate.high - estimate.low < 2


def interval(estimate: Estimate, *, digits: int = 1) -> str:
    """Write the bounds in percentage points, or why there are none."""
    if has_interval(estimate):
        return f"{points(estimate.low, digits=digits)} to {points(estimate.high, digits=digits)}"
    return "every family alike" if estimate.low == estimate.high else "one family only"


def bounds_in_words(interval: Interval) -> str:
    """Write the bounds of an interval in percentage points with one decimal, or why there are none."""
    if interval.state is IntervalState.ESTIMATED:
        return f"{points(interval.low)} to {points(interval.high)}"
    return interval.bounds_text


def finding(disclosure: Disclosure) -> str:
    """State the pooled effect in one sentence."""
    effect = disclosure.effects[0].effect
    if not has_interval(effect):
        bounds = f"no interval: {interval(effect)}"
    else:
        bounds = f"{100 * disclosure.confidence:g} % interval {interval(effect)}"
    return f"Exposure moved this model's accuracy by {points(effect.value)} points ({bounds})."


def verdict(disclosure: Disclosure) -> str:
    """Say what the interval allows one to say, and no more."""
    effect = disclosure.effects[0].effect
    if not has_interval(effect):
        return "The families show no variation from which an interval could come; read the number as a description."
    if effect.low > 0:
        return "The interval lies above zero: seeing the associations raised the score."
    if effect.high < 0:
        return "The interval lies below zero: seeing the associations lowered the score."
    return "The interval holds zero: this study cannot tell the effect of exposure from none."


def drift_note(disclosure: Disclosure) -> str:
    """Name the domains whose control moved by more than its interval allows for chance; empty where none did."""
    moved = [
        domain_name(effect.domain)
        for effect in disclosure.effects
        if effect.domain is not None
        and has_interval(effect.c0_drift)
        and not effect.c0_drift.low <= 0 <= effect.c0_drift.high
    ]
    if not moved:
        return ""
    return (
        f"The interval of the control's drift excludes zero in {' and '.join(moved)}: part of the effect there is the "
        "control's own movement, of which one interval in twenty shows that much by chance."
    )


def validity_note(disclosure: Disclosure) -> str:
    """Say how many answers of all banks are one of their four strings, and name each bank that has others."""
    drawn: Counter[str] = Counter()
    valid: Counter[str] = Counter()
    rings = [("", disclosure.totals), *((f" {each.ring}", each.totals) for each in disclosure.transfers)]
    for ring, totals in rings:
        for total in totals:
            bank = f"{domain_name(total.domain)}{ring} {total.state}"
            drawn[bank] += total.draw_count
            valid[bank] += total.valid_count
    sentence = f"{valid.total():,} of {drawn.total():,} answers valid"
    short = [f"{bank} {valid[bank]:,} of {drawn[bank]:,}" for bank in drawn if valid[bank] < drawn[bank]]
    return f"{sentence}; the others count as wrong: {', '.join(short)}" if short else sentence


def rounding_note(disclosure: Disclosure) -> str:
    """Say what is rounded and how far that may move the pooled effect; empty where nothing is."""
    if disclosure.count_step == 1:
        return ""
    effect = ToldTotals.of(disclosure.totals, count_step=disclosure.count_step).effect(None)
    return (
        f"Correct draws are told in whole families, to the nearest {disclosure.count_step}, and every other number "
        f"follows from these. The effect over all is off by at most {percent(float(effect.error_max))} points for it, "
        "which its interval allows for."
    )


def scope(disclosure: Disclosure) -> tuple[tuple[str, str], ...]:
    """Say what the number speaks about, as (what, explanation) pairs."""
    method = (
        f"The {100 * disclosure.confidence:g} % interval comes from {disclosure.resample_count:,} resamples of whole"
        " families, control and exposed families apart. It speaks about other families filled into the same shapes."
    )
    if disclosure.is_rounded:
        method += " Its ends are rounded outwards, so that they tell less of single families."
    rounding = rounding_note(disclosure)
    return (
        ("Families", method),
        *([("Whole families", rounding)] if rounding else []),
        ("One training run", "There is one adapter; how much another training seed would differ is not included."),
        ("These shapes", "The shapes were written by hand. They are no sample of all programs that people write."),
        (
            "Deliberate exposure",
            "The model was adapted on key-and-answer records on purpose. Text met by accident in a web-scale corpus"
            " may act differently.",
        ),
        (
            "A choice of four",
            "The model picks one of four certified candidates by the four exact answer strings. It writes no program.",
        ),
        (
            "This model, this benchmark",
            "Responses to exposure differ between models and tasks. The number is no general penalty for contact.",
        ),
    )
