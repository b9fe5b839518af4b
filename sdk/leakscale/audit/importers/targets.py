"""What the answers to a parent's forms were scored against: one gold, as the rewrites keep the original's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from leakscale.audit.importers.columns import ORIGINAL, Column, FormColumn
from leakscale.audit.importers.models import PairingRule
from leakscale.errors import InvalidRequestError

__all__ = ["check_targets"]

_NAME: Final = "target"


def check_targets(
    columns: Mapping[Column, FormColumn], parent_ids: Sequence[str], *, may_differ: Collection[str]
) -> None:
    """Refuse logs in which a form of a parent was scored against another answer than its original.

    Of a worked solution, what follows its last `####` counts. Logs that say no target are not looked at.

    Args:
        columns: Answers by form, the original among them.
        parent_ids: Parents to compare.
        may_differ: Names of settings that may; `target` is one.

    Raises:
        InvalidRequestError: Naming form and both answers.
    """
    if _NAME in may_differ:
        return
    for parent_id in parent_ids:
        wanted = _targets(columns[ORIGINAL], parent_id)
        for form in columns.values():
            if wanted and (found := _targets(form, parent_id)) and found != wanted:
                ours, theirs = (", ".join(sorted(each)) for each in (found, wanted))
                raise InvalidRequestError(
                    f"log '{form.log.path}': {PairingRule.SCORING}: form '{form.name(parent_id)}' was scored against "
                    f"{ours[:60]!r}, and its original against {theirs[:60]!r}; score all forms against one answer, or "
                    f"pass --may-differ {_NAME} if both are written differently"
                )


def _targets(form: FormColumn, parent_id: str) -> set[str]:
    answers = form.answers.get(parent_id, ())
    return {answer.target.rpartition("####")[2].strip() for answer in answers if answer.target is not None}
