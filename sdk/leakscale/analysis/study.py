"""The results section of a study directory, and what its numbers are tied to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from leakscale.analysis.analysis import Analysis, analyze_results
from leakscale.analysis.disclosed import require_same_totals
from leakscale.analysis.plan import AnalysisPlan, Identities, ReleasePolicy
from leakscale.analysis.result_files import read_results
from leakscale.errors import IntegrityError
from leakscale.reading import fault_of, parse_json
from leakscale.results import Disclosure

if TYPE_CHECKING:
    from leakscale.report import StudyProvenance

__all__ = ["RESULTS_FILES", "analyze_by_family", "find_results", "identities_of"]

RESULTS_FILES: Final = (Path("analysis/results.parquet"), Path("analysis/results.jsonl"))
"""Results by family, relative to the study directory; the first that is there is read."""
_BANKS: Final = "banks"
_BINDING: Final = ".binding.json"


def find_results(study: Path) -> Path | None:
    """Return where the results by family of a study are, or None where there are none."""
    return next((study / name for name in RESULTS_FILES if (study / name).is_file()), None)


def analyze_by_family(
    results: Path,
    plan: AnalysisPlan,
    *,
    disclosure: Disclosure | None,
    numbers: Mapping[str, Any],
    identities: Identities,
    is_retired: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Compute every table from results by family; they must add up to what was released, where something was.

    Args:
        results: A `.parquet` or `.jsonl` file.
        plan: The registered settings.
        disclosure: What the server released of this study; None where it was not asked.
        numbers: All that was signed of it, as JSON has it.
        identities: What the numbers are tied to.
        is_retired: Whether the edition, if private, is retired; before that, tables that tell families apart are
            withheld.
        progress: Called with the tables that are done and their number.

    Raises:
        IntegrityError: If the results are not those of the released totals.
        And as for `read_results` and `analyze_results`.
    """
    kind = "practice" if disclosure is None else disclosure.edition_kind
    policy = ReleasePolicy(kind, is_retired=is_retired)
    analysis = analyze_results(read_results(results), plan, policy=policy, identities=identities, progress=progress)
    if disclosure is not None:
        require_same_totals(analysis, disclosure, numbers)
    return analysis


def identities_of(
    study: Path,
    *,
    provenance: StudyProvenance | None = None,
    numbers: Mapping[str, Any] | None = None,
    results: Path | None = None,
    analysis_seed: int | None = None,
) -> Identities:
    """Gather digests and seeds from what a study has.

    Args:
        study: Its directory; the bindings of its banks are read.
        provenance: Where its numbers come from.
        numbers: All that was signed of its released numbers.
        results: Results by family that are analyzed; digested.
        analysis_seed: Of the resamples of this analysis.

    Raises:
        IntegrityError: If the binding of a bank cannot be read.
    """
    sources: dict[str, str] = {}
    artifacts: dict[tuple[str, str], str] = {}
    seeds: dict[str, int | str] = {}
    if provenance is not None:
        parts = {**provenance.model_digests, "corpus": provenance.corpus_digest, "adapter": provenance.adapter_digest}
        artifacts = {(provenance.model_id, part): digest for part, digest in parts.items()}
        seeds = dict(provenance.seeds)
        sources["certificates"] = provenance.certificates_digest
    if analysis_seed is not None:
        seeds["analysis"] = analysis_seed
    signed = {"plan": "plan_digest", "commitments": "commitment_root", "certificates": "certificates_digest"}
    sources |= {name: str((numbers or {})[key]) for name, key in signed.items() if key in (numbers or {})}
    if results is not None:
        with results.open("rb") as opened:
            sources["analyzed results"] = hashlib.file_digest(opened, "sha256").hexdigest()
    return Identities(artifacts=artifacts, results=_streams(study / _BANKS), seeds=seeds, sources=sources)


def _streams(banks: Path) -> dict[str, tuple[str, str]]:
    found = {}
    for path in sorted(banks.glob(f"*{_BINDING}")):
        try:
            binding = parse_json(path.read_text(encoding="utf-8"))
            found[path.name.removesuffix(_BINDING)] = str(binding["results"]), str(binding["attempts"])
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityError(
                f"'{path}' is no binding: {fault_of(error)}; answer the bank again to write it"
            ) from error
    return found
