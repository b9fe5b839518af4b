"""The effect over each cohort that was registered beside the whole edition: one row a cohort and domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from leakscale.report.view import domain_name
from leakscale.results import Disclosure, Estimate

__all__ = ["CohortRow", "cohort_rows"]

_NAME_WIDTH_MAX: Final = 32


@dataclass(frozen=True, slots=True)
class CohortRow:
    """The effect over the families of one cohort in one domain, or in all of its domains."""

    cohort: str
    """Its id, cut where it is long."""
    domain: str
    effect: Estimate


def cohort_rows(disclosure: Disclosure) -> tuple[CohortRow, ...]:
    """Arrange the cohorts; one of a single domain is not shown twice."""
    return tuple(
        CohortRow(_short(cohort.cohort_id), domain_name(effect.domain), effect.effect)
        for cohort in disclosure.cohorts
        for effect in cohort.effects
        if effect.domain is not None or len(cohort.effects) > 2
    )


def _short(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH_MAX else f"{name[: _NAME_WIDTH_MAX - 2]}.."
