"""From a study to the numbers of its plan. Pure.

Source: LeakScale 4.1 (families, shapes), 4.2 (draws), D.1 (two records a C2 family, each repeated), E.6 (262,144
generations).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from leakscale.models import Condition, ModelState, Ring
from leakscale.study.config import Study
from leakscale.study.fields import ModelThroughput

__all__ = ["Answering", "ModelNeeds", "Records", "TokenCounts", "plan_study"]

_RECORDS_PER_EXPOSED_FAMILY: Final = 2
_REPEAT_COUNT: Final = 32
"""Default of `AdaptationConfig`, whose module loads torch."""
_CANDIDATES: Final = 4
_PASSES: Final = 2
_WEIGHT_BYTES: Final = 2
"""bfloat16, unquantized."""
_ADAPTER_BYTES: Final = 4
"""Adapters are float32."""
_CHECKPOINT_FACTOR: Final = 6
"""Adapter and the two moments of AdamW, twice: a new one is whole before the old one goes."""
_BYTES_PER_CASE: Final = 340
"""Attempts, results and the server's row of one case, as written (`tests/study/test_plan.py` holds it to that)."""
_BYTES_PER_QUESTION: Final = 2_400
"""Line of a frozen bank, with the token ids of prompt and answers; likewise."""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Mean tokens, and how they were come by."""

    public_prompt: float
    lookup_prompt: float
    answer: float
    """With the end of turn."""
    how: str
    background_count: int = 0
    """Records of unrelated supervision."""
    background_prompt: float = 0
    background_answer: float = 0


@dataclass(frozen=True, slots=True)
class Records:
    """Training records of one source."""

    source: str
    physical_count: int
    repeat_count: int
    tokens: float
    """Of one record, mean."""
    supervised_tokens: float

    @property
    def epoch_count(self) -> int:
        """Records of the one epoch."""
        return self.physical_count * self.repeat_count


@dataclass(frozen=True, slots=True)
class Answering:
    """What answering every bank of a model takes in one mode."""

    mode: str
    prompt_count: int
    read_tokens: float
    written_tokens: float
    gpu_hours: float | None
    """None where the study states no rate."""


@dataclass(frozen=True, slots=True)
class ModelNeeds:
    """The plan of one model."""

    study: str
    model: str
    shape_count: int
    family_count: int
    exposed_family_count: int
    program_run_count: int
    """Of certification: every candidate's program in every ring, twice, each time on all fixtures of its family."""
    rings: tuple[Ring, ...]
    draw_count: int
    tokens: TokenCounts
    records: tuple[Records, ...]
    bank_count: int
    case_count: int
    """Generations: families, rings, states and draws multiplied."""
    answering: tuple[Answering, ...]
    throughput: ModelThroughput | None
    train_gpu_hours: float | None
    disk_bytes: dict[str, int]
    """By what lies there; weights and adapter only where the study states their size."""

    @property
    def epoch_tokens(self) -> float:
        """Tokens of the one epoch, padding not counted."""
        return sum(each.tokens * each.epoch_count for each in self.records)

    @property
    def epoch_supervised_tokens(self) -> float:
        """Tokens that the loss sees."""
        return sum(each.supervised_tokens * each.epoch_count for each in self.records)


def plan_study(study: Study, *, domain_count: int, tokens: TokenCounts) -> ModelNeeds:
    """Reckon what one model of a study needs.

    Args:
        study: What is measured, on what.
        domain_count: Domains that its shapes belong to.
        tokens: Mean lengths for this model.
    """
    shape_count = len(study.edition.shapes)
    per_condition = shape_count * study.edition.families_per_cell
    family_count = len(Condition) * per_condition
    ring_count, draw_count = len(study.experiment.rings), study.experiment.draw_count
    questions = family_count * ring_count * len(ModelState)
    stated = study.model.plan
    repeat_count = int(study.model.adaptation.get("repeat_count", _REPEAT_COUNT))
    records = _records(study, per_condition, tokens, repeat_count)
    epoch_tokens = sum(each.tokens * each.epoch_count for each in records)
    return ModelNeeds(
        study=study.name,
        model=study.model.source,
        shape_count=shape_count,
        family_count=family_count,
        exposed_family_count=per_condition,
        program_run_count=family_count * len(Ring) * _CANDIDATES * _PASSES,
        rings=study.experiment.rings,
        draw_count=draw_count,
        tokens=tokens,
        records=records,
        bank_count=domain_count * ring_count * len(ModelState),
        case_count=questions * draw_count,
        answering=_answering(questions, draw_count, tokens, stated),
        throughput=stated,
        train_gpu_hours=_gpu_hours(stated, train=epoch_tokens),
        disk_bytes=_disk_bytes(questions, draw_count, stated),
    )


def _records(study: Study, exposed: int, tokens: TokenCounts, repeat_count: int) -> tuple[Records, ...]:
    public, lookup = tokens.public_prompt + tokens.answer, tokens.lookup_prompt + tokens.answer
    background = tokens.background_prompt + tokens.background_answer
    return (
        Records("exact-public", exposed, repeat_count, public, tokens.answer),
        Records("direct-lookup", exposed, repeat_count, lookup, tokens.answer),
        Records("preservation", study.model.preservation_count, 1, public, tokens.answer),
        Records("background", tokens.background_count, 1, background, tokens.background_answer),
    )


def _answering(
    questions: int, draw_count: int, tokens: TokenCounts, stated: ModelThroughput | None
) -> tuple[Answering, ...]:
    prompts = questions * tokens.public_prompt
    # Each of the four answers is read once on the cache of its prompt, the last token of each excepted.
    exact = prompts + questions * _CANDIDATES * max(tokens.answer - 1, 0)
    written = questions * draw_count * tokens.answer
    return (
        Answering("exact choice", questions, exact, 0, _gpu_hours(stated, read=exact)),
        Answering("sampled", questions, prompts, written, _gpu_hours(stated, read=prompts, written=written)),
    )


def _gpu_hours(
    stated: ModelThroughput | None, *, train: float = 0, read: float = 0, written: float = 0
) -> float | None:
    if stated is None:
        return None
    seconds = (
        train / stated.train_tokens_per_s + read / stated.prompt_tokens_per_s + written / stated.answer_tokens_per_s
    )
    return seconds * stated.device_count / 3600


def _disk_bytes(questions: int, draw_count: int, stated: ModelThroughput | None) -> dict[str, int]:
    banks = questions * (_BYTES_PER_QUESTION + draw_count * _BYTES_PER_CASE)
    if stated is None:
        return {"banks": banks}
    adapter = stated.lora_parameter_count * _ADAPTER_BYTES
    return {
        "base weights": stated.parameter_count * _WEIGHT_BYTES,
        "adapter": adapter,
        "checkpoint": adapter * _CHECKPOINT_FACTOR,
        "banks": banks,
    }
