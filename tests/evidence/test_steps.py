"""What a verification found travels as JSON and comes back the same, and means one thing for an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError, NotFoundError
from leakscale.evidence import Status, Step, read_steps
from leakscale.evidence.steps import STEP_NAMES, steps_from_json, steps_to_json, verdict_of

HOLDS = Step("manifest", Status.HOLDS, 3, "3 files")
UNKNOWN = Step("regeneration", Status.UNCHECKED, 0, "nothing rebuilt", "the server package is not installed")
FAILS = Step("balance", Status.FAILS, 4, "4 cells", "source/edition.sqlite: shape 'a' has 3 families in C0, 4 in C2")
REST = tuple(Step(name, Status.HOLDS, 1, "one thing") for name in STEP_NAMES[3:])
WHOLE = (HOLDS, UNKNOWN, FAILS, *REST)


def test_steps_come_back_from_their_file(tmp_path: Path) -> None:
    """A report reads what a verification wrote."""
    path = tmp_path / "verification.json"
    path.write_bytes(canonical_json(steps_to_json(WHOLE)))

    assert read_steps(path) == WHOLE


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [([HOLDS], Status.HOLDS), ([HOLDS, UNKNOWN], Status.UNCHECKED), ([UNKNOWN, FAILS, HOLDS], Status.FAILS)],
)
def test_a_failure_outweighs_what_nobody_looked_at(steps: list[Step], verdict: Status) -> None:
    """Exit code 1 says that the evidence is wrong, and 2 only that it is incomplete."""
    assert verdict_of(steps) is verdict
    assert steps_to_json(steps)["verdict"] == verdict.value


def test_a_changed_byte_of_a_verification_is_refused() -> None:
    """A report must not print `holds` of a step that was edited into it beside another verdict."""
    content = canonical_json(steps_to_json(WHOLE))
    for place in range(len(content)):
        changed = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        try:
            steps = steps_from_json(changed)
        except IntegrityError:
            continue
        assert steps != WHOLE, f"byte {place} says nothing"


def test_a_verdict_that_its_steps_do_not_give_is_refused() -> None:
    """The verdict is what a hurried reader looks at."""
    fields = steps_to_json(WHOLE) | {"verdict": "holds"}

    with pytest.raises(IntegrityError, match="not the ones that were written"):
        steps_from_json(canonical_json(fields))
    with pytest.raises(IntegrityError, match="no verification"):
        steps_from_json(json.dumps([]).encode())


@pytest.mark.parametrize("steps", [(), (HOLDS,), (*WHOLE, HOLDS), WHOLE[::-1]])
def test_a_verification_with_other_steps_is_refused(steps: tuple[Step, ...]) -> None:
    """Of no steps at all, none fails: a report would say that 0 of 0 hold."""
    content = canonical_json(steps_to_json(steps))

    with pytest.raises(IntegrityError, match=rf"its steps are {len(steps)} others than the 9 of a verification"):
        steps_from_json(content)


def test_a_missing_verification_names_the_command(tmp_path: Path) -> None:
    """Whoever has a study without evidence is told how to make it."""
    with pytest.raises(NotFoundError, match="leakscale evidence build"):
        read_steps(tmp_path / "verification.json")
