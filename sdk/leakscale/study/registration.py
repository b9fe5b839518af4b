"""The registered plan of a study as the server writes it: canonical JSON, whose SHA-256 the ledger has."""

from __future__ import annotations

from leakscale.digests import canonical_json
from leakscale.models import ExperimentPlan
from leakscale.study.config import Study

__all__ = ["plan_bytes", "registered_plan"]


def registered_plan(study: Study, *, model_label: str) -> ExperimentPlan:
    """Return the plan that a study registers before the first answer."""
    plan, seeds = study.experiment, study.seeds
    return ExperimentPlan(
        experiment_id=plan.id,
        edition=f"editions/{study.edition.id}",
        model_label=model_label,
        draw_count=plan.draw_count,
        bank_seed=seeds.bank,
        resample_count=plan.resample_count,
        bootstrap_seed=seeds.bootstrap,
        rings=plan.rings,
        cohort_families_min=plan.families_min,
        # One run trains the model and answers for it.
        is_self_administered=True,
    )


def plan_bytes(plan: ExperimentPlan) -> bytes:
    """Write a plan as the server does; a ledger entry names the SHA-256 of these bytes."""
    return canonical_json(
        {
            "experiment_id": plan.experiment_id,
            "edition_id": plan.edition.removeprefix("editions/"),
            "model_label": plan.model_label,
            "draw_count": plan.draw_count,
            # Seeds have 64 bits, and canonical JSON has doubles only: as text.
            "bank_seed": str(plan.bank_seed),
            "resample_count": plan.resample_count,
            "bootstrap_seed": str(plan.bootstrap_seed),
            "rings": [ring.value for ring in plan.rings],
            "cohorts": {cohort.cohort_id: list(cohort.shape_ids) for cohort in plan.cohorts},
            "cohort_families_min": plan.cohort_families_min,
            "lifetime_s": int(plan.lifetime.total_seconds()),
            "is_self_administered": plan.is_self_administered,
        }
    )
