"""Everything that a report says, read from a study directory: numbers, where they come from, tables, verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leakscale.analysis import Analysis
from leakscale.analysis.disclosed import analyze_disclosure, plan_of
from leakscale.analysis.study import analyze_by_family, find_results, identities_of
from leakscale.errors import IntegrityError, NotFoundError
from leakscale.evidence.copies import differing_copy
from leakscale.evidence.steps import STEPS_FILE, Step, read_steps
from leakscale.report.provenance import StudyProvenance
from leakscale.report.study import read_disclosure, read_provenance
from leakscale.results import Disclosure

__all__ = ["Findings", "read_findings"]

_EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Findings:
    """What a report is made of."""

    study: str
    """Where the study lies, as its commands name it: no folder of a machine's own."""
    disclosure: Disclosure
    """The released numbers."""
    provenance: StudyProvenance
    analysis: Analysis
    """Every table; from results by family where there are any, as released otherwise."""
    steps: tuple[Step, ...] | None = None
    """What the verification found that lies in the study's tree of evidence; None where there is none."""


def read_findings(
    study: Path,
    *,
    results: Path | None = None,
    is_retired: bool = False,
    strength: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Read the findings of a finished study, and compute its tables.

    Args:
        study: Its directory.
        results: Results by family; those that lie in the directory if left out.
        is_retired: Whether the edition, if private, is retired; before that, tables that tell families apart are
            withheld.
        strength: Which strength of the adapters is reported, where the results hold several.
        progress: Called with the tables that are done and their number, where they are computed.

    Raises:
        NotFoundError: If the study is not finished.
        IntegrityError: If one of its files is damaged, or the results are not those of the released totals.
        And as for `analyze_by_family`.
    """
    disclosure, provenance = read_disclosure(study), read_provenance(study)
    numbers = disclosure.numbers
    found = results or find_results(study)
    plan = plan_of(disclosure, strength=strength)
    identities = identities_of(
        study,
        provenance=provenance,
        numbers=numbers,
        results=found,
        analysis_seed=None if found is None else plan.seed,
    )
    if found is None:
        analysis = analyze_disclosure(disclosure, numbers, identities)
    else:
        analysis = analyze_by_family(
            found,
            plan,
            disclosure=disclosure,
            numbers=numbers,
            identities=identities,
            is_retired=is_retired,
            progress=progress,
        )
    return Findings(_named(study), disclosure, provenance, analysis, _steps(study))


def _named(study: Path) -> str:
    """Name a study as whoever reads its report may type it: from here, or from the folder that it lies in."""
    if not study.is_absolute():
        return str(study) if study.name else study.absolute().name
    return str(study.relative_to(Path.cwd()) if study.parent.is_relative_to(Path.cwd()) else study.name)


def _steps(study: Path) -> tuple[Step, ...] | None:
    try:
        steps = read_steps(study / _EVIDENCE / STEPS_FILE)
    except NotFoundError:
        return None
    if name := differing_copy(study, study / _EVIDENCE):
        raise IntegrityError(
            f"'{study / name}' is not what the study's evidence has, so that evidence says nothing of it; take the "
            f"file from '{study / _EVIDENCE}', or run the study again"
        )
    return steps
