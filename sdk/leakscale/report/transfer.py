"""What of an exposure acts when the same families are asked in another form: one row a ring and domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from leakscale.models import Ring
from leakscale.report.view import domain_name
from leakscale.results import Disclosure, Estimate, RingShare

__all__ = ["TransferRow", "ring_name", "share_in_words", "transfer_rows"]

_RING_WORDS: Final = {Ring.R0: "as leaked", Ring.R1: "reworded", Ring.R2: "renamed"}
_WITHHELD: Final = {
    "failed_manipulation": "none: no effect in R0",
    "censored": "none: R0 at its ceiling",
    "no_variation": "none: families all alike",
}


@dataclass(frozen=True, slots=True)
class TransferRow:
    """The effect in one ring over one domain, or over all of them."""

    ring: str
    domain: str
    effect: Estimate
    share: str
    """Of the effect in R0, with its set, or why there is none."""


def transfer_rows(disclosure: Disclosure) -> tuple[TransferRow, ...]:
    """Arrange the rings besides R0; a study of one domain is not shown twice, and one of R0 alone has no row."""
    is_single = len({total.domain for total in disclosure.totals}) == 1
    return tuple(
        TransferRow(ring_name(transfer.ring), domain_name(effect.domain), effect.effect, share_in_words(share))
        for transfer in disclosure.transfers
        for effect, share in zip(transfer.effects, transfer.shares, strict=True)
        if effect.domain is not None or not is_single
    )


def ring_name(ring: Ring) -> str:
    """Name a ring and say what it is: `R1 reworded`."""
    return f"{ring.value} {_RING_WORDS[ring]}"


def share_in_words(share: RingShare) -> str:
    """Write a share with the set of shares that the families do not reject: `0.67 (0.55 to 0.80)`."""
    if share.value is None:
        return _WITHHELD.get(share.withheld or "", "none")
    at_least = ">= " if share.is_censored else ""
    return f"{at_least}{share.value:.2f} ({_set_in_words(share)})"


def _set_in_words(share: RingShare) -> str:
    if share.shape == "bounded":
        return f"{share.low:.2f} to {share.high:.2f}"
    if share.shape == "two_rays":
        ends = [f"to {share.low:.2f}"] if share.low is not None else []
        return " or ".join(ends + ([f"from {share.high:.2f}"] if share.high is not None else []))
    return "any value"
