"""What each candidate did on each fixture, and why that is right or wrong."""

from __future__ import annotations

import enum
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from leakscale.models import Ring
from leakscale_sandbox.canonical_reader import Rows, canonical_text, decode_value
from leakscale_server.catalog_check.excerpts import differing, excerpt
from leakscale_server.core.judging.acceptance import Accepted
from leakscale_server.core.judging.endings import name_ending
from leakscale_server.core.judging.faults import is_equal
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.sandbox_pool import Execution, JobResult, Verdict
from leakscale_server.scorer.prover import Pass, Proof

__all__ = ["Cell", "Mark", "RingTable", "Row", "read_tables", "reason_in_full"]

WIDTH: Final = 64
"""Letters of an output that are shown."""


class Mark(enum.StrEnum):
    """How one candidate fared on one fixture."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    """It returned something else than the right candidate."""
    ENDED = "ended"
    """It did not return."""
    NOT_HELD = "not held"
    """It returned, and there is nothing to hold that against: the right candidate did not return."""
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Cell:
    """One candidate on one fixture."""

    mark: Mark
    got: str
    """What the program returned, shortened, or how it ended."""
    expected: str = ""
    """Of a failure: what the right candidate returned, shortened to where the two part."""


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate on every fixture."""

    position: int
    """0-based display position."""
    literal: str
    """The value as programs write it."""
    shown: str
    """The value as prompts show it: a handle in SQL."""
    is_right: bool
    cells: tuple[Cell, ...]

    @property
    def passed_count(self) -> int:
        """Return the number of fixtures on which it is right."""
        return sum(cell.mark is Mark.PASS for cell in self.cells)


@dataclass(frozen=True, slots=True)
class RingTable:
    """Candidates × fixtures in one ring."""

    ring: Ring
    rows: tuple[Row, ...]
    """In display order."""

    @property
    def is_all_passed(self) -> bool:
        """Return whether every candidate is right on every fixture."""
        return {mark for row in self.marks for mark in row} == {Mark.PASS}

    @property
    def marks(self) -> tuple[tuple[Mark, ...], ...]:
        """Return the table without its reasons."""
        return tuple(tuple(cell.mark for cell in row.cells) for row in self.rows)


def read_tables(proof: Proof) -> tuple[RingTable, ...]:
    """Return the table of every ring out of the first pass; what did not run says so.

    R1 is held against the outputs of R0, which it has to return.
    """
    first: Pass = proof.passes[0] if proof.passes else {}
    truth = proof.construction.truth
    references = {ring: executions[truth] for ring, executions in first.items()}
    if Ring.R1 in references:
        references[Ring.R1] = references[Ring.R0]
    return tuple(_table(proof, ring, first.get(ring), references.get(ring, ())) for ring in Ring)


def _table(proof: Proof, ring: Ring, executions: JobResult | None, reference: Sequence[Execution]) -> RingTable:
    family = proof.construction
    form = family.form(ring)
    count = len(form.fixtures)
    missing = [_missing(proof, ring, place, count) for place in range(len(form.programs))]
    return RingTable(
        ring,
        tuple(
            Row(
                position=position,
                literal=literal,
                shown=candidate.text,
                is_right=position == family.truth,
                cells=_cells(executions[position], reference) if executions else missing[position],
            )
            for position, (literal, candidate) in enumerate(zip(family.literals, form.public.candidates, strict=True))
        ),
    )


def _missing(proof: Proof, ring: Ring, position: int, fixture_count: int) -> tuple[Cell, ...]:
    """Return the cells of a program whose results are not kept: what ended the pass, and what did not run for it."""
    cells = [Cell(Mark.NOT_RUN, "not run: a fault was found before")] * fixture_count
    verdict = proof.verdict
    if (
        isinstance(verdict, Rejection)
        and verdict.endings
        and (verdict.ring, verdict.candidate_position) == (ring, position)
    ):
        cells[verdict.fixture_index or 0] = Cell(Mark.ENDED, f"ended with {verdict.endings}")
    return tuple(cells)


def _cells(executions: Sequence[Execution], reference: Sequence[Execution]) -> tuple[Cell, ...]:
    return tuple(_cell(one, right) for one, right in zip(executions, reference, strict=True))


def _cell(execution: Execution, reference: Execution) -> Cell:
    if execution.verdict is not Verdict.RETURNED:
        return Cell(Mark.ENDED, f"ended with {name_ending(execution)}")
    if is_equal(execution, reference):
        return Cell(Mark.PASS, _excerpt(execution))
    if reference.verdict is not Verdict.RETURNED:
        expected = f"nothing: the right candidate ended with {name_ending(reference)}"
        return Cell(Mark.NOT_HELD, _excerpt(execution), expected)
    expected, got = differing(*_texts(reference.output, execution.output), width=WIDTH)
    return Cell(Mark.FAIL, got, expected)


def _excerpt(execution: Execution) -> str:
    return excerpt(_texts(execution.output)[0], width=WIDTH)


def _texts(*outputs: bytes) -> list[str]:
    """Write outputs for people: of SQL the rows alone, where all have the same columns."""
    values = [decode_value(output) for output in outputs]
    columns = {value.column_names if isinstance(value, Rows) else None for value in values}
    if None in columns or len(columns) > 1:
        return [canonical_text(output) for output in outputs]
    rows = (value.rows for value in values if isinstance(value, Rows))
    return [json.dumps(each, separators=(",", ":"), default=repr) for each in rows]


def reason_in_full(proof: Proof) -> list[str]:
    """Say why a family is rejected: the rule in one line, and the outputs that show it, where there are two."""
    verdict = proof.verdict
    if isinstance(verdict, Accepted):
        return []
    return [f"{verdict.reason}: {verdict.message}", *_evidence(proof, verdict)]


def _evidence(proof: Proof, verdict: Rejection) -> list[str]:
    position, index = verdict.candidate_position, verdict.fixture_index
    sides = None if position is None or index is None else _sides(proof, verdict, position, index)
    if sides is None:
        return []
    (one_name, one), (other_name, other) = sides
    texts = _texts(one, other) if isinstance(one, bytes) and isinstance(other, bytes) else map(_said, (one, other))
    one_text, other_text = differing(*texts, width=WIDTH)
    return [f"{one_name}: {one_text}", f"{other_name}: {other_text}"]


Side: TypeAlias = tuple[str, bytes | str]
"""A name, and canonical bytes or how a program ended."""


def _sides(proof: Proof, verdict: Rejection, position: int, index: int) -> tuple[Side, Side] | None:
    """Return the two results that should have been one."""

    def side(name: str, which: int, ring: Ring) -> Side:
        execution = proof.passes[which][ring][position][index]
        return name, execution.output if execution.verdict is Verdict.RETURNED else name_ending(execution)

    ring = verdict.ring
    match verdict.reason:
        case RejectionReason.NONDETERMINISTIC:
            return side("first pass", 0, ring), side("second pass", 1, ring)
        case RejectionReason.REWORDING_DIFFERS:
            return side("R0", 0, Ring.R0), side("R1", 0, Ring.R1)
        case RejectionReason.RENAMED_OUTPUT_DIFFERS:
            return side("R0", 0, Ring.R0), side("R2", 0, Ring.R2)
        case RejectionReason.OUTPUT_DIFFERS:
            return ("stated", proof.construction.outputs[ring][position][index]), side("returned", 0, ring)
        case _:
            return None


def _said(result: bytes | str) -> str:
    return result if isinstance(result, str) else canonical_text(result)
