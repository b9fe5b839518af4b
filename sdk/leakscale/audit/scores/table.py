"""Scores of one model in one state on every form of a sample.

Source: METHODS 0 (one original and K fresh forms a parent, K general).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leakscale.audit.forms.models import FormBank, FormName
from leakscale.audit.scores.lines import table_fields, table_lines
from leakscale.audit.scores.models import ScoreKind, ScoreSource, form_columns, require_state
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.reading import fault_of, parse_json
from leakscale.whole_files import replacing

__all__ = ["ScoreTable"]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of every form of every parent, by one model in one state.

    Two tables are equal if their digests are.

    Raises:
        InvalidRequestError: If the shape does not fit the names, a parent comes twice, or a score is out of range.
    """

    model: str
    """Name of the model, with its revision where there is one."""
    kind: ScoreKind
    metric: str
    """How a score was made, e.g. `numeric` or `exact_match,strict-match`; compared before tables are."""
    parent_ids: tuple[str, ...]
    """In draw order."""
    scores: NDArray[np.float64]
    """Shape (parents, 1 + K + J): the original, K fresh forms, J deep paraphrases; NaN where there is no score."""
    fresh_count: int
    """K, at least 1."""
    strata: tuple[str, ...] = ()
    """Stratum of each parent; empty where nothing is stratified."""
    state: str = "base"
    """Which state of the model, e.g. `base`, `adapted-seed-3`."""
    bank_digest: str = ""
    """Digest of the bank of forms; empty where only a log is known."""
    sources: tuple[ScoreSource, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", ScoreKind(self.kind))
        # Adding zero writes -0.0 as 0.0; the two are equal and would hash apart.
        scores = np.array(self.scores, np.float64) + 0.0
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)
        self._check_names()
        self._check_shape()
        self._check_range()

    @classmethod
    def of(
        cls,
        bank: FormBank,
        scores: Mapping[FormName, float],
        *,
        model: str,
        kind: ScoreKind,
        metric: str,
        state: str = "base",
        sources: Iterable[ScoreSource] = (),
    ) -> ScoreTable:
        """Put scores of single forms into the draw order of their bank; a form without one gets NaN.

        Raises:
            InvalidRequestError: If a score is of a form that the bank has no place for.
        """
        deep_count = max((len(parent.deep) for parent in bank.parents), default=0)
        columns = list(form_columns(bank.fresh_count, deep_count))
        unplaced = scores.keys() - {
            FormName(parent.parent_id, *column) for parent in bank.parents for column in columns
        }
        if unplaced:
            raise InvalidRequestError(
                f"form '{min(unplaced)}' has a score and no place in the bank; score the forms of one bank"
            )
        rows = [
            [scores.get(FormName(parent.parent_id, *column), np.nan) for column in columns] for parent in bank.parents
        ]
        strata = tuple(parent.stratum for parent in bank.parents)
        return cls(
            model=model,
            kind=kind,
            metric=metric,
            parent_ids=tuple(parent.parent_id for parent in bank.parents),
            scores=np.array(rows, np.float64).reshape(len(bank.parents), len(columns)),
            fresh_count=bank.fresh_count,
            strata=strata if any(strata) else (),
            state=state,
            bank_digest=bank.digest,
            sources=tuple(sources),
        )

    @property
    def deep_count(self) -> int:
        """J, deep paraphrases a parent; 0 where there are none."""
        return int(self.scores.shape[1]) - 1 - self.fresh_count

    @property
    def original(self) -> NDArray[np.float64]:
        """Scores of the public originals, shape (parents,)."""
        return self.scores[:, 0]

    @property
    def fresh(self) -> NDArray[np.float64]:
        """Scores of the fresh forms, shape (parents, K)."""
        return self.scores[:, 1 : 1 + self.fresh_count]

    @property
    def deep(self) -> NDArray[np.float64]:
        """Scores of the deep paraphrases, shape (parents, J)."""
        return self.scores[:, 1 + self.fresh_count :]

    @property
    def exchangeable(self) -> NDArray[np.float64]:
        """Scores of original and fresh forms, shape (parents, 1 + K): what a relabelling test takes."""
        return self.scores[:, : 1 + self.fresh_count]

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 over everything in the table: of its file, without the digest that the file itself holds."""
        return hashlib.sha256("".join(f"{line}\n" for line in table_lines(self)).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, ScoreTable) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def missing(self) -> Iterator[FormName]:
        """Yield the forms without a score, parent by parent."""
        columns = list(form_columns(self.fresh_count, self.deep_count))
        for row, column in np.argwhere(np.isnan(self.scores)):
            yield FormName(self.parent_ids[row], *columns[column])

    def take(self, parent_ids: Sequence[str]) -> ScoreTable:
        """Return the table of these parents, in this order.

        Raises:
            InvalidRequestError: If a parent is not in the table.
        """
        rows = {parent_id: row for row, parent_id in enumerate(self.parent_ids)}
        if unknown := [parent_id for parent_id in parent_ids if parent_id not in rows]:
            raise InvalidRequestError(
                f"parent '{unknown[0]}' is not in the scores of {self.model} ({self.state}); name parents of that table"
            )
        chosen = [rows[parent_id] for parent_id in parent_ids]
        return replace(
            self,
            parent_ids=tuple(parent_ids),
            scores=self.scores[chosen],
            strata=tuple(self.strata[row] for row in chosen) if self.strata else (),
        )

    def to_jsonl(self, path: Path) -> None:
        """Write the table, complete or not at all."""
        with replacing(path) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the bytes of the table's file."""
        header, *rows = table_lines(self)
        # The digest stands last in the header, so that what it is over is the file without it.
        return "".join(f"{line}\n" for line in (f'{header[:-1]},"digest":"{self.digest}"}}', *rows)).encode()

    @classmethod
    def from_jsonl(cls, path: Path) -> ScoreTable:
        """Read what `to_jsonl` wrote.

        Raises:
            NotFoundError: If there is no such file.
            InvalidRequestError: If it is no file of scores, or holds values that no table may.
            IntegrityError: If its bytes do not match its digest.
        """
        if not path.is_file():
            raise NotFoundError(f"scores '{path}' do not exist; answer the audit or import a log first")
        return cls.from_bytes(path.read_bytes(), source=str(path))

    @classmethod
    def from_bytes(cls, content: bytes, *, source: str) -> ScoreTable:
        """Read what `content` returned; raises as `from_jsonl`.

        Args:
            content: Of a file of scores.
            source: Where it is from, for messages.
        """
        try:
            header, *rows = [parse_json(line) for line in content.decode("utf-8").removesuffix("\n").split("\n")]
            table = cls(**table_fields(header, rows))
            written = table.to_bytes()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidRequestError(
                f"'{source}' is no file of scores ({fault_of(error)}); import or answer again"
            ) from error
        # A table has one file: bytes that mean the same and are others were not written by `to_jsonl`.
        if written != content:
            raise IntegrityError(
                f"scores '{source}' were changed after they were written (digest {str(header.get('digest'))[:12]}, of "
                f"what is there {table.digest[:12]}); restore the file from a copy"
            )
        return table

    def _check_names(self) -> None:
        require_state(self.state)
        for name in ("model", "metric"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InvalidRequestError(f"scores: {name} is {value!r}; name the {name} that the scores are of")
        if not self.parent_ids:
            raise InvalidRequestError(f"scores of {self.model}: no parent; a table has at least one")
        twice, count = Counter(self.parent_ids).most_common(1)[0]
        if count > 1:
            raise InvalidRequestError(f"parent '{twice}' comes {count} times in the scores of {self.model}; keep one")
        if self.strata and len(self.strata) != len(self.parent_ids):
            raise InvalidRequestError(
                f"scores of {self.model}: {len(self.strata)} strata for {len(self.parent_ids)} parents; give each one"
            )

    def _check_shape(self) -> None:
        shape = self.scores.shape
        if len(shape) != 2 or shape[0] != len(self.parent_ids):
            raise InvalidRequestError(
                f"scores of {self.model} have shape {shape}; pass (parents, 1 + K + J) for "
                f"{len(self.parent_ids)} parents"
            )
        if not 1 <= self.fresh_count < shape[1]:
            raise InvalidRequestError(
                f"scores of {self.model}: {self.fresh_count} fresh forms in {shape[1]} columns; a gap needs an "
                "original and at least one fresh form"
            )

    def _check_range(self) -> None:
        outside = np.argwhere(~self.kind.allows(self.scores))
        if outside.size:
            row, column = outside[0]
            name = FormName(self.parent_ids[row], *list(form_columns(self.fresh_count, self.deep_count))[column])
            raise InvalidRequestError(
                f"form '{name}' has the score {self.scores[row, column]:g} from {self.model}, which is out of range "
                f"for '{self.kind}' ({self.kind.range_words}); check the metric '{self.metric}'"
            )
