"""Run every family of a recipe through the sandboxes, several at a time."""

from __future__ import annotations

from collections.abc import Generator

from leakscale_server.catalog_audit.material import Recipe
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.crew import Crew
from leakscale_server.sandbox_pool import SandboxPool
from leakscale_server.scorer.prover import FamilyRequest, Proof, Prover

__all__ = ["prove_all"]


def prove_all(recipe: Recipe, pool: SandboxPool, *, edition_id: str = "practice") -> Generator[Proof, None, None]:
    """Yield the proof of every family, as soon as there is one; closed early, it begins no more.

    Args:
        pool: An even number of lanes; two neighbors prove a family.

    Raises:
        SandboxFault: If a sandbox failed after its retries.
    """
    prover = Prover(pool)
    pair_count = pool.lane_count // 2
    crew = Crew(pool.lane_count)

    def work(number: int, slot: FamilySlot) -> Proof:
        file = recipe.file(slot.shape_id)
        request = FamilyRequest(
            edition_id=edition_id,
            shape=file.shape,
            shape_digest=file.digest,
            slot=slot,
            families_per_cell=recipe.families_per_cell,
            public_seed=recipe.public_seed,
            private_seed=recipe.private_seed,
        )
        # Neighbors start on opposite lanes of a pair, so that both lanes are busy.
        return prover.prove(request, first_lane=2 * (number // 2 % pair_count) + number % 2)

    try:
        yield from crew.run(recipe.slots(), work)
    finally:
        crew.close()
