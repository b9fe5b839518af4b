"""How much a disclosure assures of who trained and who answered: a level that every report prints.

Source: DESIGN 3.8. L3, attested execution, is not offered.
"""

from __future__ import annotations

from collections.abc import Set

__all__ = ["assurance_level"]


def assurance_level(*, is_practice: bool, is_self_administered: bool, submitters: Set[str], redeemers: Set[str]) -> str:
    """Return the level of an experiment.

    Args:
        is_practice: Whether the edition's author can rebuild its truth.
        is_self_administered: Whether the plan says that one party trains and answers.
        submitters: Principals that submitted its answers.
        redeemers: Principals that redeemed an exposure grant of its edition.

    Returns:
        `L0` where nothing keeps the parties apart, `L1` where one party did both and said so before, `L2` where nobody
        did both. Does not guard against two principals who work together.
    """
    if is_practice:
        return "L0"
    if is_self_administered:
        return "L1"
    return "L2" if redeemers and not redeemers & submitters else "L0"
