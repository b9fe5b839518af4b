"""Analysis: every table computed again and compared with what is written, and every number of summary and provenance.

Source: DESIGN, order of verification; METHODS 10.
"""

from __future__ import annotations

import json

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError
from leakscale.evidence.answers import first_difference, read_table
from leakscale.evidence.checks.outcome import Checked, UncheckedError, counted, require_same
from leakscale.evidence.comparing import count_numbers, text_difference, value_difference
from leakscale.evidence.expected import expected_provenance, expected_summary
from leakscale.evidence.tables import Basis, analyze_tree, basis_of, knows_truths, results_difference, table_columns
from leakscale.evidence.tree import EvidenceTree
from leakscale.reading import parse_json
from leakscale.tabled import table_contents

__all__ = ["basis_bytes", "check_analysis"]

_UNKNOWABLE = ("finished_at", "seconds", "stage_seconds", "versions", "rerun_command", "backend_identity")
"""What is said of a run and follows from nothing else: when, how long, typed how, with which libraries."""


def check_analysis(tree: EvidenceTree) -> Checked:
    """Compute tables, summary and provenance again."""
    layout = tree.layout
    summary = _compare_fields(layout.relative(layout.summary), tree.summary, expected_summary(tree))
    provenance = _compare_fields(layout.relative(layout.provenance), tree.provenance, expected_provenance(tree))
    with tree.naming(layout.basis):
        basis = Basis(parse_json(layout.basis.read_bytes())["basis"])
    require_same(layout.relative(layout.basis), "content", layout.basis.read_bytes(), basis_bytes(basis))
    results = layout.results()
    if results is not None and basis is not Basis.RESULTS:
        raise IntegrityError(f"{layout.relative(results)}: the tables were not computed from it, expected none")
    if basis is Basis.SEEDS and basis_of(tree) is not Basis.SEEDS:
        raise UncheckedError(
            f"{summary + provenance:,} numbers of summary and provenance",
            "the tables were computed from truths that the seeds give, and the edition was not built again",
            count=summary + provenance,
        )
    if basis is Basis.RESULTS and not knows_truths(tree):
        raise UncheckedError(
            f"{summary + provenance:,} numbers of summary and provenance",
            "the tables were computed from results by family, and nothing here gives the truths to score answers again",
            count=summary + provenance,
        )
    if difference := results_difference(tree):
        raise IntegrityError(difference)
    numbers, tables = _compare_tables(tree, basis)
    total = numbers + summary + provenance
    return Checked(
        total,
        f"{total:,} numbers of {counted(tables, 'table', 'tables')}, summary and provenance, computed again from "
        f"{_FROM[basis]}",
    )


_FROM = {
    Basis.RESULTS: "results by family",
    Basis.OPENINGS: "the answers and the opened truths",
    Basis.SEEDS: "the answers and the truths of the seeds",
    Basis.RELEASED: "the released numbers",
}


def basis_bytes(basis: Basis) -> bytes:
    """Write down what tables were computed from."""
    return canonical_json({"basis": basis.value})


def _compare_fields(name: str, found: dict[str, object], expected: dict[str, object]) -> int:
    """Compare what can be computed again; return how many numbers there are."""
    known = {field: value for field, value in found.items() if field not in _UNKNOWABLE}
    if difference := value_difference(known, expected):
        raise IntegrityError(f"{name}: {difference}")
    return count_numbers(json.dumps(known))


def _compare_tables(tree: EvidenceTree, basis: Basis) -> tuple[int, int]:
    analysis, folder = analyze_tree(tree, basis), tree.layout.analysis
    numbers = 0
    contents = table_contents(analysis.tables, facts=analysis.to_dict())
    for name, expected in contents.items():
        with tree.naming(folder / name):
            found = (folder / name).read_bytes().decode()
        if difference := text_difference(found, expected):
            raise IntegrityError(f"{tree.layout.relative(folder / name)} {difference}")
        numbers += count_numbers(found)
    for table in analysis.tables:
        path = folder / f"{table.file_stem}.parquet"
        if difference := first_difference(read_table(path), table_columns(table)):
            raise IntegrityError(f"{tree.layout.relative(path)} {difference}")
    own = {*contents, *(f"{table.file_stem}.parquet" for table in analysis.tables)}
    own |= {path.name for path in (tree.layout.basis, tree.layout.summary, tree.layout.provenance)}
    require_same("analysis", "files", sorted(path.name for path in folder.iterdir()), sorted(own))
    return numbers, len(analysis.tables)
