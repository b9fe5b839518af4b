"""The tables of a study, from the most that its evidence gives: single results, or else what was released."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscale.analysis import (
    Analysis,
    AnsweredBank,
    FamilyKey,
    Identities,
    ReleasePolicy,
    analyze_results,
)
from leakscale.analysis.disclosed import analyze_disclosure, plan_of, require_same_totals
from leakscale.analysis.joining import join_banks
from leakscale.analysis.result_files import read_results, result_columns
from leakscale.analysis.result_table import ResultTable
from leakscale.analysis.study import identities_of
from leakscale.evidence.answers import first_difference
from leakscale.evidence.tree import EvidenceTree
from leakscale.report.provenance import provenance_from_json
from leakscale.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Basis", "analyze_tree", "basis_of", "knows_truths", "results_difference", "table_columns"]


class Basis(enum.StrEnum):
    """What the tables of a tree were computed from."""

    RESULTS = "results"
    """Results by family that lie in the tree."""
    OPENINGS = "openings"
    """The answers of the banks, and the openings of the retired edition."""
    SEEDS = "seeds"
    """The answers of the banks, and the truths that the seeds of a practice edition give again."""
    RELEASED = "released"
    """The numbers that the server released."""


def basis_of(tree: EvidenceTree) -> Basis:
    """Return the best basis that there is."""
    if tree.layout.results() is not None:
        return Basis.RESULTS
    if tree.openings is not None:
        return Basis.OPENINGS
    if tree.rebuilt is not None and tree.rebuilt.has_truth:
        return Basis.SEEDS
    return Basis.RELEASED


def analyze_tree(tree: EvidenceTree, basis: Basis) -> Analysis:
    """Compute every table of a tree.

    Raises:
        IntegrityError: If single results do not add up to what was released.
        InvalidRequestError, PreconditionError: If results by family cannot be analyzed.
    """
    numbers = tree.disclosure.numbers
    identities = _identities(tree, numbers)
    if basis is Basis.RELEASED:
        return analyze_disclosure(tree.disclosure, numbers, identities)
    plan = plan_of(tree.disclosure)
    policy = ReleasePolicy(tree.disclosure.edition_kind, is_retired=tree.openings is not None)
    analysis = analyze_results(_results(tree, basis), plan, policy=policy, identities=identities)
    require_same_totals(analysis, tree.disclosure, numbers)
    return analysis


def table_columns(table: Table[Any]) -> pa.Table:
    """Return a table as columns, as its CSV has them; one that is withheld has the reason."""
    import pyarrow as arrow  # noqa: PLC0415 - an extra

    records = table.to_records()
    names = list(records[0]) if records else ["empty"]
    return arrow.table({name: arrow.array([record[name] for record in records]) for name in names})


def _identities(tree: EvidenceTree, numbers: Mapping[str, Any]) -> Identities:
    provenance = provenance_from_json(tree.layout.provenance.read_text(encoding="utf-8"))
    return identities_of(tree.layout.root, provenance=provenance, numbers=numbers, results=tree.layout.results())


def knows_truths(tree: EvidenceTree) -> bool:
    """Tell whether answers can be scored again: of a practice edition that was built again, or an opened one."""
    return bool(_keys_by_seed(tree) or _keys_by_opening(tree))


def results_difference(tree: EvidenceTree) -> str:
    """Score every answer again and hold it against the results by family of the tree; say where they differ first.

    Empty if they agree, if the tree has none, or if nobody knows the truths.
    """
    path, keys = tree.layout.results(), _keys_by_seed(tree) or _keys_by_opening(tree)
    if path is None or not keys:
        return ""
    found, expected = (_sorted_columns(table) for table in (read_results(path), _joined(tree, keys)))
    if strange := sorted(set(found.column_names) - set(expected.column_names)):
        return f"{tree.layout.relative(path)} has the column {strange[0]!r}, which no other file gives, expected none"
    shared = [name for name in found.column_names if name in expected.column_names]
    difference = first_difference(found.select(shared), expected.select(shared))
    return f"{tree.layout.relative(path)} {difference}" if difference else ""


def _sorted_columns(table: ResultTable) -> pa.Table:
    import pyarrow as arrow  # noqa: PLC0415

    columns = {
        name: column.cast(arrow.string()) if arrow.types.is_dictionary(column.type) else column
        for name, column in result_columns(table).items()
    }
    order = [(name, "ascending") for name in ("family", "ring", "state", "draw") if name in columns]
    return arrow.table(columns).sort_by(order)


def _results(tree: EvidenceTree, basis: Basis) -> ResultTable:
    path = tree.layout.results()
    if basis is Basis.RESULTS and path is not None:
        return read_results(path)
    return _joined(tree, _keys_by_opening(tree) if basis is Basis.OPENINGS else _keys_by_seed(tree))


def _joined(tree: EvidenceTree, keys: Mapping[str, FamilyKey]) -> ResultTable:
    return join_banks(
        (
            AnsweredBank(
                model=tree.disclosure_model,
                state=tree.state_of(bank_id),
                plan=tree.layout.bank(bank_id).plan,
                results=tree.layout.bank(bank_id).results,
                laws=_laws(tree, bank_id),
            )
            for bank_id in tree.layout.bank_ids()
        ),
        keys,
    )


def _laws(tree: EvidenceTree, bank_id: str) -> Path | None:
    """Return the attempts of a bank whose engine read exact distributions."""
    mode = tree.attempts_headers[bank_id]["mode"]
    return tree.layout.bank(bank_id).attempts if mode.startswith("exact-") else None


def _keys_by_opening(tree: EvidenceTree) -> dict[str, FamilyKey]:
    by_id = tree.edition.by_id
    return {
        each.family_id: FamilyKey(
            by_id[each.family_id].domain, by_id[each.family_id].shape_id, each.condition, each.truth
        )
        for each in tree.openings or ()
    }


def _keys_by_seed(tree: EvidenceTree) -> dict[str, FamilyKey]:
    families = tree.rebuilt.families.values() if tree.rebuilt is not None else ()
    return {
        each.family_id: FamilyKey(each.domain, each.shape, each.condition, each.truth, each.truth_rank)
        for each in families
        if each.truth is not None
    }
