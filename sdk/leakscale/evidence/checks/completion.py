"""Completion: every registered bank is there, every case has its one answer, and as many are valid as were released.

Source: LeakScale E.6 (Table 18), F.1.
"""

from __future__ import annotations

from leakscale.digests import canonical_json
from leakscale.evidence.checks.outcome import Checked, counted, require_same
from leakscale.evidence.tree import EvidenceTree
from leakscale.models import Domain, ModelState, Ring
from leakscale.reading import parse_json
from leakscale.results import CellTotal

__all__ = ["check_completion"]


def check_completion(tree: EvidenceTree) -> Checked:
    """Hold bindings and receipts against the registered experiment and the released totals."""
    planned = tree.planned_banks()
    require_same("banks", "banks", tree.layout.bank_ids(), sorted(planned))
    draws = tree.study.experiment.draw_count
    valid: dict[tuple[Domain, ModelState, Ring], tuple[int, int]] = {}
    for bank_id, (domain, state, ring) in planned.items():
        files = tree.layout.bank(bank_id)
        cases = draws * sum(family.domain is domain for family in tree.edition.families[ring])
        name = tree.layout.relative(files.binding)
        with tree.naming(files.binding):
            binding = parse_json(files.binding.read_bytes())
        require_same(name, "case_count", binding["case_count"], cases)
        require_same(name, "first_case", binding["first_case"], 0)
        _require_receipt(tree, bank_id, cases)
        valid[domain, state, ring] = cases, binding["valid_count"]
    source = tree.layout.relative(tree.layout.disclosure)
    for (domain, state, ring), found in valid.items():
        totals = [each for each in _totals(tree, ring) if each.domain is domain and each.state is state]
        released = sum(each.draw_count for each in totals), sum(each.valid_count for each in totals)
        require_same(source, f"draws and valid ones of {domain}, {state}, {ring}", released, found)
    cases, valid_count = (sum(each[place] for each in valid.values()) for place in (0, 1))
    return Checked(
        cases,
        f"{counted(cases, 'planned case', 'planned cases')} of {counted(len(planned), 'bank', 'banks')} with one "
        f"answer each, {valid_count:,} of them valid, as released",
    )


def _require_receipt(tree: EvidenceTree, bank_id: str, cases: int) -> None:
    path = tree.layout.receipt(bank_id)
    name = tree.layout.relative(path)
    with tree.naming(path):
        receipt = parse_json(path.read_bytes())
    require_same(name, "case_count", receipt["case_count"], cases)
    require_same(name, "bank", receipt["bank"], f"experiments/{tree.study.experiment.id}/banks/{bank_id}")
    entry = next((each for each in tree.ledger if each["position"] == receipt["ledger_index"]), {})
    for field, expected in (
        ("kind", "bank-sealed"),
        ("experiment", tree.study.experiment.id),
        ("bank", bank_id),
        ("answers", receipt["answers_digest"]),
    ):
        require_same(f"{name}: ledger entry {receipt['ledger_index']}", field, entry.get(field), expected)
    require_same(name, "fields", sorted(receipt), ["answers_digest", "bank", "case_count", "ledger_index"])
    require_same(name, "content", path.read_bytes(), canonical_json(receipt))


def _totals(tree: EvidenceTree, ring: Ring) -> tuple[CellTotal, ...]:
    if ring is Ring.R0:
        return tree.disclosure.totals
    return next((each.totals for each in tree.disclosure.transfers if each.ring is ring), ())
