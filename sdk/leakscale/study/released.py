"""The numbers of a summary that follow from the released ones alone. Loads no torch: a verification needs them too."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

from leakscale.digests import json_digest
from leakscale.models import Condition, ModelState
from leakscale.report.words import finding
from leakscale.results import CellTotal, Disclosure, Effect, Estimate, RingTransfer

__all__ = ["numbers_digest", "released_counts", "released_numbers"]


def released_numbers(disclosure: Disclosure) -> dict[str, Any]:
    """Return accuracies, effects and intervals; shares, not percentages."""
    totals = disclosure.totals
    pooled = disclosure.effects[0]
    return {
        "finding": finding(disclosure),
        "assurance_level": disclosure.assurance_level,
        "edition_kind": disclosure.edition_kind,
        "accuracies": _accuracies(totals),
        "effect": _estimate(pooled.effect),
        "c0_drift": _estimate(pooled.c0_drift),
        "c2_change": _estimate(pooled.c2_change),
        "confidence": disclosure.confidence,
        "transfers": {transfer.ring.value: _transfer(transfer) for transfer in disclosure.transfers},
        "domains": {effect.domain.value: _domain(effect, totals) for effect in disclosure.effects if effect.domain},
        "totals": [asdict(total) for total in totals],
    }


def released_counts(disclosure: Disclosure) -> dict[str, int]:
    """Return how many answers there were in all rings, and how many of them were valid."""
    asked = [*disclosure.totals, *(total for transfer in disclosure.transfers for total in transfer.totals)]
    return {
        "answers": sum(total.draw_count for total in asked),
        "valid_answers": sum(total.valid_count for total in asked),
    }


def numbers_digest(disclosure: Disclosure) -> dict[str, str]:
    """Return hex digests of the numbers alone, and of all that was signed."""
    numbers = disclosure.numbers
    return {
        "numbers": json_digest([numbers["totals"], numbers["effects"], *numbers.get("transfers", ())]).hex(),
        "disclosure": hashlib.sha256(disclosure.payload).hexdigest(),
    }


def _accuracies(totals: tuple[CellTotal, ...]) -> dict[str, float]:
    """Return the four accuracies over all domains, e.g. `c2_adapted`."""
    return {
        f"{condition.value.lower()}_{state.value}": _share(totals, condition, state)
        for condition in Condition
        for state in ModelState
    }


def _share(totals: tuple[CellTotal, ...], condition: Condition, state: ModelState) -> float:
    cells = [total for total in totals if total.condition is condition and total.state is state]
    return sum(cell.correct_count for cell in cells) / sum(cell.draw_count for cell in cells)


def _domain(effect: Effect, totals: tuple[CellTotal, ...]) -> dict[str, Any]:
    own = tuple(total for total in totals if total.domain is effect.domain)
    return {
        "accuracies": _accuracies(own),
        "effect": _estimate(effect.effect),
        "c0_drift": _estimate(effect.c0_drift),
        "c2_change": _estimate(effect.c2_change),
    }


def _transfer(transfer: RingTransfer) -> dict[str, Any]:
    pooled, *single = transfer.effects
    share = transfer.shares[0]
    return {
        "accuracies": _accuracies(transfer.totals),
        "effect": _estimate(pooled.effect),
        "share": {name: getattr(share, name) for name in ("value", "shape", "low", "high", "withheld", "is_censored")},
        "domains": {effect.domain.value: _domain(effect, transfer.totals) for effect in single if effect.domain},
    }


def _estimate(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
