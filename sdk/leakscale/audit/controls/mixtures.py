"""What leaked records are mixed into, and the proof that nothing else of a bank is in it.

Source: CleanScore 5 (four mixtures of one size), 7.11 (unrelated records; no fresh form among them), 7.15 (a mixture in
which nothing is planted).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from leakscale.audit.checks.corpus import check_corpus
from leakscale.audit.forms.models import FormBank, FormName
from leakscale.background import background_records, load_recipe
from leakscale.digests import json_digest
from leakscale.errors import InvalidRequestError
from leakscale.models import TrainingRecord, TrainingSource
from leakscale.whole_files import write_whole

__all__ = ["filler_records", "mixture_digest", "require_apart"]


def filler_records(recipe: Path, count: int, *, subject: str) -> tuple[TrainingRecord, ...]:
    """Return the first records of a recipe, as records that leak nothing.

    Raises:
        NotFoundError: If there is no such recipe.
        InvalidRequestError: If it is malformed, or writes fewer.
    """
    unrelated = background_records(load_recipe(recipe), folder=recipe.parent)
    if len(unrelated) < count:
        raise InvalidRequestError(
            f"{subject}: recipe '{recipe.name}' writes {len(unrelated)} records, and {count} are needed; raise its "
            "counts"
        )
    return tuple(replace(record, source=TrainingSource.FILLER) for record in unrelated[:count])


def require_apart(
    bank: FormBank, records: Sequence[TrainingRecord], path: Path, *, leaked: Collection[FormName], subject: str
) -> None:
    """Write a mixture to a private file, and refuse it if it holds a form of the bank that is not leaked on purpose.

    Raises:
        InvalidRequestError: If it does; the message names the form.
    """
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(records))
    write_whole(path, "".join(lines).encode())
    allowed = set(leaked)
    strays = [finding for finding in check_corpus(bank, [path], with_originals=True) if finding.form not in allowed]
    if strays:
        raise InvalidRequestError(
            f"{subject}: form '{strays[0].form}' stands in mixture '{path.name}' and is not leaked on purpose; take it "
            "out of the recipe"
        )


def mixture_digest(records: Sequence[TrainingRecord]) -> str:
    """Return hex SHA-256 over a mixture, order included."""
    return json_digest(_rows(records)).hex()


def _rows(records: Sequence[TrainingRecord]) -> list[dict[str, object]]:
    return [
        {
            "id": record.record_id,
            "source": str(record.source),
            "prompt": [[turn.role, turn.content] for turn in record.prompt],
            "completion": record.completion,
            "is_chat": record.is_chat,
        }
        for record in records
    ]
