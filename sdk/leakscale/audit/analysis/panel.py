"""What an audit's tables are computed from: the scores of every model, paired into gaps once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from leakscale.audit.registration.fields import InferenceTable
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.audit.scoring.quality import AnswerQuality
from leakscale.errors import InvalidRequestError
from leakscale.stats import FinitePopulationDesign, Gaps, NearCopies, paired_gap

__all__ = ["AuditSettings", "ModelScores", "Panel"]

_WANTED: Final = {
    None: "accuracies",
    ScoreKind.CONFIDENCE: "confidences",
    ScoreKind.FAMILIARITY: "familiarities",
    ScoreKind.MIN_K: "Min-K statistics",
}
"""What each place of a model's scores is for; None is that of accuracies."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How scores become a finding. Every field is fixed before a score exists, where the audit is registered."""

    design: FinitePopulationDesign
    """The benchmark that the parents were drawn from."""
    inference: InferenceTable
    seed: int = 0
    """Of the subsamples of the planning tables, in [0, 2**53); no finding depends on it."""

    @property
    def bounds(self) -> dict[str, Any]:
        """Return the registered construction of a sensitivity interval, but for its radius, as keywords."""
        rule = self.inference
        return {
            "alpha": rule.alpha,
            "component": rule.component,
            "combine": rule.combine,
            "control": rule.control,
            "bound": rule.bound,
        }


@dataclass(frozen=True)
class ModelScores:
    """Scores of one model in one state on both banks.

    Raises:
        InvalidRequestError: If accuracies stand where confidences belong, or the other way round, or two tables are of
            different models, metrics or parents.
    """

    audit: ScoreTable
    """Accuracies on the audited parents, in draw order."""
    control: ScoreTable | None = None
    """Accuracies on the control bank."""
    confidence: ScoreTable | None = None
    """Mean log-probability a token of the audited forms, for the detectors."""
    familiarity: ScoreTable | None = None
    """Mean log-probability a token of the audited forms themselves."""
    min_k: ScoreTable | None = None
    """The same over the least probable fifth of each form's tokens."""
    quality: AnswerQuality | None = None
    """How the run on the audited parents went; None of a log, whose import says it."""

    def __post_init__(self) -> None:
        for table, kind in (*((each, None) for each in (self.audit, self.control)), *self._signal_places()):
            if table is not None and (table.kind.is_signal if kind is None else table.kind is not kind):
                wanted = _WANTED[kind]
                raise InvalidRequestError(
                    f"scores of {table.model}: kind '{table.kind}' stands where {wanted} belong; pass the other table"
                )
        if self.control is not None:
            self._require_alike(self.control, ("model", "state", "kind", "metric"))
            if shared := set(self.control.parent_ids) & set(self.audit.parent_ids):
                raise InvalidRequestError(
                    f"scores of {self.audit.model}: parent '{min(shared)}' is in the audit and in the control bank; a "
                    "control item is none of the benchmark"
                )
        for table in self.signals.values():
            self._require_alike(table, ("model", "state", "parent_ids", "fresh_count"))

    @property
    def signals(self) -> dict[ScoreKind, ScoreTable]:
        """What there is for detectors, by kind."""
        return {kind: table for table, kind in self._signal_places() if table is not None}

    def _signal_places(self) -> tuple[tuple[ScoreTable | None, ScoreKind], ...]:
        return (
            (self.confidence, ScoreKind.CONFIDENCE),
            (self.familiarity, ScoreKind.FAMILIARITY),
            (self.min_k, ScoreKind.MIN_K),
        )

    @property
    def name(self) -> str:
        """Model, with its state where that is not `base`."""
        return self.audit.model if self.audit.state == "base" else f"{self.audit.model} ({self.audit.state})"

    @cached_property
    def gaps(self) -> Gaps:
        """Gaps of the audited parents."""
        return paired_gap(self.audit.original, self.audit.fresh, strata=self.audit.strata or None)

    @property
    def room(self) -> float:
        """Share of the audited parents without a gap: the greatest advantage that can be planted into them."""
        return 1 - self.gaps.nonzero_count / self.gaps.count

    @cached_property
    def control_gaps(self) -> Gaps | None:
        """Gaps of the control bank, which has no strata: it is no sample of a frame."""
        return None if self.control is None else paired_gap(self.control.original, self.control.fresh)

    def _require_alike(self, other: ScoreTable, fields: Sequence[str]) -> None:
        for field in fields:
            ours, theirs = getattr(self.audit, field), getattr(other, field)
            if ours != theirs:
                shown = "other parents" if field == "parent_ids" else f"{field} {theirs!r} instead of {ours!r}"
                raise InvalidRequestError(
                    f"scores of {self.audit.model}: a table that goes with them has {shown}; pass tables of one run"
                )


@dataclass(frozen=True)
class Panel:
    """The models of one audit, on the same parents.

    Raises:
        InvalidRequestError: If there is none, two have one name, or one was scored on other parents.
    """

    models: tuple[ModelScores, ...]
    near_copies: NearCopies | None = None
    """Which fresh forms are close to their original; None where the forms are not at hand."""

    def __post_init__(self) -> None:
        if not self.models:
            raise InvalidRequestError("an analysis needs the scores of at least one model; answer or import some")
        first = self.models[0]
        for model in self.models[1:]:
            if model.audit.parent_ids != first.audit.parent_ids or model.audit.fresh_count != first.audit.fresh_count:
                raise InvalidRequestError(
                    f"{model.name} was scored on other parents or forms than {first.name}; a panel has one bank"
                )
            banks = {model.audit.bank_digest, first.audit.bank_digest} - {""}
            if len(banks) > 1:
                raise InvalidRequestError(
                    f"{model.name} was scored on another bank of forms than {first.name}; a panel has one bank"
                )
        names = [model.name for model in self.models]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidRequestError(f"{twice[0]} comes twice; pass one table of accuracies a model and state")
        copies = self.near_copies
        if copies is not None and copies.similarities.shape[0] != len(first.audit.parent_ids):
            raise InvalidRequestError(
                f"similarities are of {copies.similarities.shape[0]} parents, scores of {len(first.audit.parent_ids)}; "
                "compare the forms of the bank that was scored"
            )

    @classmethod
    def of(cls, tables: Iterable[ScoreTable], controls: Iterable[ScoreTable] = ()) -> Panel:
        """Sort tables by model and state: accuracies of the parents, signals, accuracies of the control bank.

        Raises:
            InvalidRequestError: As the class, and if a control or a signal belongs to no model.
        """
        tables = list(tables)
        accuracies = [table for table in tables if not table.kind.is_signal]
        signals = {(*_key(table), table.kind): table for table in tables if table.kind.is_signal}
        of_controls = {_key(table): table for table in controls}
        known = {_key(table) for table in accuracies}
        for model, state in sorted(({key[:2] for key in signals} | of_controls.keys()) - known):
            raise InvalidRequestError(f"{model} ({state}) has no accuracies on the audited parents; pass them as well")
        return cls(
            tuple(
                ModelScores(
                    table,
                    of_controls.get(_key(table)),
                    signals.get((*_key(table), ScoreKind.CONFIDENCE)),
                    signals.get((*_key(table), ScoreKind.FAMILIARITY)),
                    signals.get((*_key(table), ScoreKind.MIN_K)),
                )
                for table in accuracies
            )
        )

    def __iter__(self) -> Iterator[ModelScores]:
        return iter(self.models)

    @property
    def parent_count(self) -> int:
        """Audited parents, whether or not every form has a score."""
        return len(self.models[0].audit.parent_ids)

    def sizes(self, wanted: Sequence[int], settings: AuditSettings) -> list[int]:
        """Return the sizes of audits that the benchmark can give; this audit's own where it can give none of them."""
        population = settings.design.population_size
        possible = [size for size in wanted if population is None or size <= population]
        return possible or [min(model.gaps.count for model in self.models)]


def _key(table: ScoreTable) -> tuple[str, str]:
    return table.model, table.state
