"""What a study will need before anything is run: records, tokens, generations, GPU-hours, disk. No GPU, no server.

    families = [sketch_family(shape) for shape in shapes.read(study)]
    needs = plan_study(study, domain_count=2, tokens=counted_by_tokenizer(folder, families))

Counts of families, records, cases and generations are exact. Prompts are sketched from the shape files, since families
are the server's to build; tokens are counted with the model's own tokenizer where its folder is given and reckoned from
characters otherwise; hours come from rates that the study file states and nobody here measured.
"""

from leakscale.study.plan.needs import Answering, ModelNeeds, TokenCounts, plan_study
from leakscale.study.plan.sketches import sketch_family
from leakscale.study.plan.table import plan_text, plan_to_dict
from leakscale.study.plan.token_counts import counted_by_characters, counted_by_tokenizer

__all__ = [
    "Answering",
    "ModelNeeds",
    "TokenCounts",
    "counted_by_characters",
    "counted_by_tokenizer",
    "plan_study",
    "plan_text",
    "plan_to_dict",
    "sketch_family",
]
