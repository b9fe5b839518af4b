"""Whether logs may be paired: what they declare about how their answers were made.

Source: CleanScore 7.1 (all forms of an item under one prompt, decoding and parser).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.importers.columns import ORIGINAL, Column, FormColumn
from leakscale.audit.importers.models import PairingRule, Setting
from leakscale.errors import InvalidRequestError

__all__ = ["Difference", "check_pairing", "differences"]

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that a form's log and the original's declare differently."""

    rule: PairingRule
    name: str
    found: Any
    """None where the form's log does not have it."""
    expected: Any

    def __str__(self) -> str:
        return f"{self.rule}: '{self.name}' is {_shown(self.found)} here and {_shown(self.expected)} there"


def check_pairing(
    columns: Mapping[Column, FormColumn], *, may_differ: Collection[str] = (), is_missing_allowed: bool = False
) -> list[Difference]:
    """Check that every log is complete and that all declare the same.

    Args:
        columns: Answers by form, the original among them.
        may_differ: Names of settings that may, e.g. the task argument that names the file of questions.
        is_missing_allowed: Whether a log may lack some of its answers.

    Returns:
        The differences that were allowed.

    Raises:
        InvalidRequestError: If a log did not succeed, or one differs in a setting that is not named.
    """
    for form in columns.values():
        _check_status(form, is_missing_allowed=is_missing_allowed)
    original = columns[ORIGINAL]
    allowed = []
    for form in columns.values():
        found = list(differences(form.settings(), original.settings()))
        refused = [each for each in found if each.name not in may_differ]
        if refused:
            more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
            raise InvalidRequestError(
                f"form {form.column} ('{form.log.path}') cannot be paired with the original ('{original.log.path}'): "
                f"{'; '.join(map(str, refused[:_SHOWN]))}{more}; run both alike, or name what may differ "
                f"(--may-differ {refused[0].name})"
            )
        allowed += found
    return allowed


def differences(found: Mapping[str, Setting], expected: Mapping[str, Setting]) -> Iterator[Difference]:
    """Yield the settings that differ, in the order of the rules and of their names."""
    names = found.keys() | expected.keys()
    rules = list(PairingRule)
    settings = {name: found.get(name) or expected[name] for name in names}
    for name in sorted(names, key=lambda name: (rules.index(settings[name].rule), name)):
        ours, theirs = (table[name].value if name in table else None for table in (found, expected))
        if ours != theirs:
            yield Difference(settings[name].rule, name, ours, theirs)


def _check_status(form: FormColumn, *, is_missing_allowed: bool) -> None:
    status = form.log.settings_by_name().get("status")
    if status is None or status.value != "success":
        raise InvalidRequestError(
            f"log '{form.log.path}' (form {form.column}): {PairingRule.STATUS}: it is "
            f"'{status.value if status else 'unknown'}', not 'success'; run it to its end"
        )
    if form.log.incomplete_count and not is_missing_allowed:
        failed = (answer for answers in form.answers.values() for answer in answers if answer.failure)
        absent = f" ('{form.log.first_absent}' is not in the file)" if form.log.first_absent else ""
        first = next((f" ('{answer.key}': {answer.failure})" for answer in failed), absent)
        raise InvalidRequestError(
            f"log '{form.log.path}' (form {form.column}): {PairingRule.STATUS}: {form.log.incomplete_count:,} of its "
            f"samples did not complete{first}; run them again, or pass --allow-missing to leave them out"
        )


def _shown(value: Any) -> str:
    text = "absent" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
