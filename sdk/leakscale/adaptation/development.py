"""The effect on development families: what a trainer may look at while choosing a learning rate or a strength.

Development families come from an edition of their own, never from the one that is reported. The grant's records say
which of its families are exposed and what their right answer is. Of the others nobody but the server knows the right
answer, and nobody needs to: given everything public it is uniform over the four candidates, so a *reference* drawn from
a seed has the same expected accuracy, and its movement is the drift of the control.

The accuracy of a family is the exact conditional probability of its right answer: p of the whole answer with its end
of turn, over the sum of p of the four. No sampling noise, one forward pass for a few families.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from leakscale.adaptation.batching import collate
from leakscale.adaptation.corpus_check import exposed_family_ids
from leakscale.adaptation.loss import is_plain_head, target_log_probabilities
from leakscale.adaptation.rendering import EncodedRecord, encode_completion
from leakscale.errors import InvalidRequestError
from leakscale.models import Family, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt

__all__ = ["Accuracy", "Development", "DevelopmentFamily", "development_set", "require_disjoint"]

_FAMILIES_A_PASS = 8


@dataclass(frozen=True, slots=True)
class DevelopmentFamily:
    """One family as the model reads it."""

    family_id: str
    answers: tuple[EncodedRecord, EncodedRecord, EncodedRecord, EncodedRecord]
    """Prompt and answer of each candidate, in display order."""
    reference: int
    """Index of the right answer of an exposed family, or of the one drawn for a control."""
    is_exposed: bool


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Mean probability of the reference answer in each condition, in [0, 1]."""

    control: float
    exposed: float


@dataclass(frozen=True, slots=True)
class Development:
    """Families on which settings are chosen."""

    families: tuple[DevelopmentFamily, ...]
    """Sorted by family id."""

    @property
    def counts(self) -> tuple[int, int]:
        """Control and exposed families."""
        exposed = sum(family.is_exposed for family in self.families)
        return len(self.families) - exposed, exposed

    def accuracy(self, model: PreTrainedModel) -> Accuracy:
        """Measure the model as it stands, an adapter on it included; leaves it in evaluation mode."""
        model.eval()  # type: ignore[no-untyped-call]
        plain_head = is_plain_head(model, collate(self.families[0].answers[:1]).to(model.device))
        shares: dict[bool, list[float]] = {False: [], True: []}
        for start in range(0, len(self.families), _FAMILIES_A_PASS):
            block = self.families[start : start + _FAMILIES_A_PASS]
            for family, share in zip(block, _reference_shares(model, block, plain_head=plain_head), strict=True):
                shares[family.is_exposed].append(share)
        return Accuracy(control=_mean(shares[False]), exposed=_mean(shares[True]))


def development_set(
    tokenizer: PreTrainedTokenizerBase, families: Sequence[Family], records: Sequence[TrainingRecord], *, seed: int
) -> Development:
    """Join the families of a development edition with the records of its grant.

    Args:
        tokenizer: Of the model that is measured.
        families: Every family of the edition, of both conditions.
        records: Those of its grant.
        seed: Of the controls' references.

    Raises:
        InvalidRequestError: If the records are not those of a grant for these families.
        ModelError: If an answer cannot be masked under the model's chat template.
    """
    exposed = exposed_family_ids(records, families)
    if not exposed:
        raise InvalidRequestError("the development edition exposes no family; redeem a grant for it first")
    answers = {
        record.record_id.rpartition("/")[0]: record.completion
        for record in records
        if record.source is TrainingSource.EXACT_PUBLIC
    }
    return Development(
        tuple(
            DevelopmentFamily(
                family.family_id,
                _encode(tokenizer, family),
                _reference(family, answers.get(family.family_id), seed),
                family.family_id in exposed,
            )
            for family in sorted(families, key=lambda family: family.family_id)
        )
    )


def require_disjoint(development: Sequence[Family], reported: Sequence[Family]) -> None:
    """Refuse development families that are also reported, by identifier or by key.

    Raises:
        InvalidRequestError: If they share one; a setting chosen on it would be fitted to the result.
    """
    for name in ("family_id", "key"):
        shared = {getattr(family, name) for family in development} & {getattr(family, name) for family in reported}
        if shared:
            raise InvalidRequestError(
                f"{len(shared)} development families are also reported (same {name}); choose on another edition"
            )


def _encode(
    tokenizer: PreTrainedTokenizerBase, family: Family
) -> tuple[EncodedRecord, EncodedRecord, EncodedRecord, EncodedRecord]:
    prompt, subject = choice_prompt(family), f"family '{family.family_id}'"
    one, two, three, four = (
        encode_completion(tokenizer, prompt, candidate.answer, subject=subject) for candidate in family.candidates
    )
    return one, two, three, four


def _reference(family: Family, answer: str | None, seed: int) -> int:
    if answer is None:
        return random.Random(f"leakscale-development-v1/{seed}/{family.family_id}").randrange(4)  # noqa: S311
    found = [index for index, candidate in enumerate(family.candidates) if candidate.answer == answer]
    if not found:
        raise InvalidRequestError(
            f"the record of family '{family.family_id}' answers with none of its candidates; redeem the grant again"
        )
    return found[0]


def _reference_shares(
    model: PreTrainedModel, families: Sequence[DevelopmentFamily], *, plain_head: bool
) -> list[float]:
    """Return p of each family's reference answer given that one of the four is written."""
    records = [record for family in families for record in family.answers]
    scores = target_log_probabilities(model, collate(records).to(model.device), plain_head=plain_head)
    whole = [part.sum() for part in torch.split(scores, [len(record.completion_ids) for record in records])]
    shares = torch.stack(whole).reshape(len(families), 4).softmax(dim=1)
    return [float(shares[row, family.reference]) for row, family in enumerate(families)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
