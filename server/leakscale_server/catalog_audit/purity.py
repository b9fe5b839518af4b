"""Whether Python programs leave their argument as it was.

A program that changes it cannot be called twice with one argument, and what it returns may be the changed argument
itself. Certification gives each call a fresh argument and never sees this; here, a few lines behind the program compare
the argument before and after, in the sandbox.

It is a check for honest authors: a program that wants to deceive it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from leakscale.models import Domain, Ring
from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.catalog_audit.findings import Finding, find
from leakscale_server.catalog_audit.material import Recipe
from leakscale_server.core.building.construction import Construction
from leakscale_server.sandbox_pool import Job, SandboxPool, Verdict
from leakscale_server.scorer.prover import PROOF_LIMITS

__all__ = ["check_purity"]

_RINGS: Final = (Ring.R0, Ring.R1)
_COMPARED: Final = """

import copy as _leakscale_copy
_leakscale_transform = transform

def transform(records):
    before = _leakscale_copy.deepcopy(records)
    _leakscale_transform(records)
    return repr(records) == repr(before)
"""


def check_purity(recipe: Recipe, pool: SandboxPool) -> Iterator[Finding]:
    """Run the programs of one Python family of each shape, and compare their argument before and after.

    Yields:
        One finding; none where no shape is Python's.

    Raises:
        SandboxFault: If a sandbox failed after its retries.
    """
    slots = {slot.shape_id: slot for slot in reversed(recipe.slots())}
    python = [slots[shape.id] for shape in recipe.shapes if shape.language is Domain.PYTHON]
    if python:
        faults = (fault for slot in python for fault in _faults(recipe.build(slot), pool))
        yield find("purity", f"{8 * len(python)} Python programs", faults)


def _faults(family: Construction, pool: SandboxPool) -> Iterator[str]:
    for ring in _RINGS:
        form = family.form(ring)
        programs = tuple(program + _COMPARED for program in form.programs)
        results = pool.run(Job(Domain.PYTHON, programs, form.fixtures, limits=PROOF_LIMITS))
        for literal, executions in zip(family.literals, results, strict=True):
            for index, execution in enumerate(executions):
                # A program that does not return is certification's to judge.
                if execution.verdict is Verdict.RETURNED and decode_value(execution.output) is not True:
                    yield (
                        f"{family.slot.shape_id} in {ring} changes its argument on fixture {index} "
                        f"(candidate {literal}); work on a copy"
                    )
