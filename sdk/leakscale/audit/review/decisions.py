"""What a reader decided about each form: an append-only log, one decision a line.

A decision is about the bytes that were read. A form that is rewritten afterwards is unread again; a later decision
about the same bytes takes the place of the earlier one, and both stay in the log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from leakscale.audit.clock import utc_now
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.review.queue import ReviewItem
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError, PreconditionError
from leakscale.reading import fault_of, parse_json
from leakscale.whole_files import write_whole

__all__ = ["Decision", "ReviewLog", "Verdict", "require_reading"]

_COMMITMENT: Final = b"leakscale-review-v1/"


class Verdict(StrEnum):
    """What a reader says of a rewrite."""

    ACCEPT = "accept"
    """It asks what its original asks."""
    REJECT = "reject"
    """It does not; it has to be rewritten before the lock."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One reader's word on one form."""

    form: str
    """Name of the form, e.g. `gsm8k-0417/fresh-1`."""
    form_digest: str
    """Of what was read; see `ReviewItem.digest`."""
    verdict: Verdict
    reviewer: str
    note: str
    at: str


class ReviewLog:
    """The decisions of one audit."""

    def __init__(self, directory: AuditDirectory) -> None:
        self._path = directory.review_log

    def commitment(self, nonce: bytes) -> str:
        """Return hex SHA-256 over a nonce and the log, which may be empty.

        A decision names its form by a digest over the gold, so a digest of the log alone would confirm a guess.
        """
        return hashlib.sha256(_COMMITMENT + nonce + b"".join(self._lines())).hexdigest()

    def begins_with(self, commitment: str, nonce: bytes) -> bool:
        """Tell whether the log, or its first lines, are what was committed to under this nonce."""
        found = hashlib.sha256(_COMMITMENT + nonce)
        for line in self._lines():
            if found.hexdigest() == commitment:
                return True
            found.update(line)
        return found.hexdigest() == commitment

    def decisions(self) -> list[Decision]:
        """Read all decisions, oldest first.

        Raises:
            IntegrityError: If a line is no decision.
        """
        found = []
        for number, line in enumerate(self._lines(), start=1):
            try:
                found.append(_decision(parse_json(line)))
            except (KeyError, TypeError, ValueError) as error:
                raise IntegrityError(
                    f"review log '{self._path}', line {number}: no decision ({fault_of(error)}); "
                    "restore the file from a copy"
                ) from error
        return found

    def standing(self, items: Iterable[ReviewItem]) -> dict[str, Decision]:
        """Return the last decision about the present bytes of each form; forms without one are left out."""
        last = {(decision.form, decision.form_digest): decision for decision in self.decisions()}
        keys = {str(item.name): (str(item.name), item.digest) for item in items}
        return {name: last[key] for name, key in keys.items() if key in last}

    def record(
        self,
        verdicts: Mapping[str, tuple[Verdict, str]],
        items: Sequence[ReviewItem],
        *,
        reviewer: str,
        now: datetime | None = None,
    ) -> list[Decision]:
        """Log decisions, all or none of them; one that stands already, word for word, is not logged again.

        Args:
            verdicts: Verdict and note by name of the form.
            items: Forms under review.

        Raises:
            InvalidRequestError: If nobody is named as the reader, a form is rejected without a note, or decided twice.
            NotFoundError: If a form is not under review.
        """
        if not reviewer.strip():
            raise InvalidRequestError("review: no reader is named; pass --by with a name")
        digests = {str(item.name): item.digest for item in items}
        at = (now or utc_now()).isoformat()
        standing, decisions = self.standing(items), []
        for name, (verdict, note) in verdicts.items():
            if name not in digests:
                raise NotFoundError(f"form '{name}' is not under review; name a form as the packet does")
            if verdict is Verdict.REJECT and not note.strip():
                raise InvalidRequestError(f"form '{name}': rejected without a note; say what is wrong with it")
            decision = Decision(name, digests[name], verdict, reviewer.strip(), note.strip(), at)
            before = standing.get(name)
            if before is None or replace(before, at=at) != decision:
                decisions.append(decision)
        kept = self._path.read_bytes() if self._path.exists() else b""
        lines = "".join(json.dumps(asdict(decision), ensure_ascii=False) + "\n" for decision in decisions)
        write_whole(self._path, kept + lines.encode())
        return decisions

    def _lines(self) -> list[bytes]:
        return self._path.read_bytes().splitlines(keepends=True) if self._path.exists() else []


def require_reading(items: Sequence[ReviewItem], standing: Mapping[str, Decision], *, scope: str) -> int:
    """Refuse a lock before the registered reading is done, or over a rejection; return how many forms were read.

    Raises:
        PreconditionError: If a form in the scope is unread, or any form is rejected.
    """
    rejected = [name for name, decision in standing.items() if decision.verdict is Verdict.REJECT]
    if rejected:
        note = standing[rejected[0]].note
        raise PreconditionError(f"form '{rejected[0]}': rejected in review ({note}); rewrite it, and read it again")
    asked = [item for item in items if scope == "all" or (scope == "flagged" and item.is_flagged)]
    unread = [item for item in asked if str(item.name) not in standing]
    if unread:
        raise PreconditionError(
            f"form '{unread[0].name}': not read ({'; '.join(unread[0].reasons)}), and {len(unread) - 1} more of "
            f"{len(asked)} that review.scope = '{scope}' asks for; see `leakscale audit review`"
        )
    return len(standing)


def _decision(fields: dict[str, Any]) -> Decision:
    decision = Decision(**(fields | {"verdict": Verdict(fields["verdict"])}))
    if not all(isinstance(value, str) for value in fields.values()):
        raise TypeError("a field of it is no text")
    return decision
