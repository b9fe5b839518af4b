"""Whether every family keeps the acceptance rule, seen by running all of it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from leakscale.models import Condition, Ring
from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Recipe
from leakscale_server.catalog_audit.proving import prove_all
from leakscale_server.core.commitments import fixtures_commitment
from leakscale_server.core.judging.acceptance import Utility
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.sandbox_pool import SandboxPool, Verdict
from leakscale_server.scorer.prover import Proof

__all__ = ["Proven", "check_certification", "prove_recipe"]


_RUN_RULES: Final = (
    ("renaming", {RejectionReason.RENAMING_DIFFERS, RejectionReason.RENAMED_OUTPUT_DIFFERS}, "R2 against R0"),
    ("purity", {RejectionReason.ARGUMENT_CHANGED}, "the arguments"),
)
"""Rules of the acceptance that an audit names by themselves: invariant, reasons, and what was looked at."""


@dataclass(slots=True)
class Proven:
    """What is kept of every family's proof; fixtures and outputs are not."""

    attempts: dict[str, int] = field(default_factory=dict)
    """By family id: how many draws of the fixtures were thrown away."""
    utilities: dict[str, tuple[Utility, ...]] = field(default_factory=dict)
    """By family id, of certified families, in display order."""
    commitments: dict[str, dict[Ring, bytes]] = field(default_factory=dict)
    """By family id and ring: the commitment to what the fixtures hold."""
    faults: dict[str, str] = field(default_factory=dict)
    """By family id, of the others: why."""
    reasons: dict[str, RejectionReason] = field(default_factory=dict)
    """By family id, of the same: which rule they break."""
    references: Counter[Ring] = field(default_factory=Counter)
    """Fixtures on which the right candidate returned."""


def prove_recipe(recipe: Recipe, pool: SandboxPool, *, advance: Callable[[], None] = lambda: None) -> Proven:
    """Run every family in three rings and two passes.

    Args:
        advance: Called after each family.

    Raises:
        SandboxFault: If a sandbox failed after its retries.
    """
    proven = Proven()
    for proof in prove_all(recipe, pool):
        _keep(proven, proof)
        advance()
    return proven


def _keep(proven: Proven, proof: Proof) -> None:
    name = proof.construction.family_id
    proven.attempts[name] = proof.attempt
    proven.commitments[name] = {
        form.public.ring: fixtures_commitment(form.contents, nonce=proof.construction.nonce)
        for form in proof.construction.forms
    }
    if isinstance(proof.verdict, Rejection):
        slot = proof.construction.slot
        place = f"{slot.shape_id} {slot.condition} {slot.ordinal}"
        proven.reasons[name] = proof.verdict.reason
        proven.faults[name] = f"{name} ({place}) is rejected: {proof.verdict.reason}: {proof.verdict.message}"
        return
    proven.utilities[name] = proof.verdict.utilities
    for ring, executions in proof.passes[0].items():
        right = executions[proof.construction.truth]
        proven.references[ring] += sum(execution.verdict is Verdict.RETURNED for execution in right)


def check_certification(proven: Proven, recipe: Recipe) -> Iterator[Finding]:
    """Yield what was proved: every reference returns, and exactly one candidate is right, by a margin."""
    first_fault = next(iter(proven.faults.values()), "")
    count = len(proven.attempts)
    expected = sum(shape.fixture_count * len(Condition) * recipe.families_per_cell for shape in recipe.shapes)
    returned = " / ".join(f"{proven.references[ring]:,}" for ring in Ring)
    fault = first_fault or ("" if all(proven.references[ring] == expected for ring in Ring) else "a reference failed")
    yield Finding("references", f"{returned} runs of right candidates in R0 / R1 / R2", fault)
    redrawn = sum(attempt > 0 for attempt in proven.attempts.values())
    checked = f"{count:,} families in 3 rings and 2 passes, {redrawn} redrawn"
    margins = " and ".join(_margins(proven))
    yield Finding("one right", f"{checked}; wrong candidates right on at most {margins}", first_fault)
    for invariant, reasons, programs in _RUN_RULES:
        faults = (fault for name, fault in proven.faults.items() if proven.reasons[name] in reasons)
        yield find(invariant, f"{programs} of {counted(count, 'family', 'families')}", faults)


def _margins(proven: Proven) -> Iterator[str]:
    """Say on how many fixtures the best wrong candidate of any family is right, for each number of fixtures."""
    wrong: dict[int, int] = {}
    for utilities in proven.utilities.values():
        total = utilities[0].fixture_count
        best = sorted(utility.passed_count for utility in utilities)[-2]
        wrong[total] = max(best, wrong.get(total, 0))
    for total, best in sorted(wrong.items()):
        yield f"{best} of {total}"
