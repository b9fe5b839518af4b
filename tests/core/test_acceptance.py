"""The acceptance rule on built scorings: who passes, who is refused, and that refusals keep the truth to themselves."""

from __future__ import annotations

import pytest

from leakscale.models import Ring
from leakscale_server.core.judging.acceptance import Accepted, Scoring, Utility, assess
from leakscale_server.core.judging.endings import name_ending
from leakscale_server.core.judging.faults import find_failure
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.sandbox_pool import Execution, JobResult, Verdict

Grid = list[list[Execution]]


def returned(output: str) -> Execution:
    return Execution(Verdict.RETURNED, output.encode(), "")


def ended(verdict: Verdict) -> Execution:
    return Execution(verdict, b"", "ValueError")


def a_grid(passed: tuple[int, ...] = (8, 6, 3, 0), *, fixtures: int = 8) -> Grid:
    """Programs that are right on the first `passed` fixtures and wrong, each in its own way, on the rest."""
    return [
        [returned(f"right {index}" if index < count else f"wrong {place} {index}") for index in range(fixtures)]
        for place, count in enumerate(passed)
    ]


def renamed(grid: Grid) -> Grid:
    """The same results under other names, which stand in every output."""
    return [
        [each if each.verdict is not Verdict.RETURNED else returned(f"r2 {each.output.decode()}") for each in program]
        for program in grid
    ]


def frozen(grid: Grid) -> JobResult:
    return tuple(tuple(program) for program in grid)


def a_scoring(grid: Grid, *, truth: int = 0, reworded: Grid | None = None, other: Grid | None = None) -> Scoring:
    """One pass: R1 returns what R0 returns, R2 the same under other names, unless they are given."""
    rings = {Ring.R0: grid, Ring.R1: reworded or grid, Ring.R2: other or renamed(grid)}
    return Scoring({ring: frozen(each) for ring, each in rings.items()}, truth)


def assess_twice(grid: Grid, *, truth: int = 0) -> Accepted | Rejection:
    return assess(a_scoring(grid, truth=truth), a_scoring(grid, truth=truth))


def test_family_is_accepted_with_exact_utilities_in_display_order() -> None:
    grid = a_grid((6, 8, 0, 3))

    assert assess_twice(grid, truth=1) == Accepted((Utility(6, 8), Utility(8, 8), Utility(0, 8), Utility(3, 8)))


@pytest.mark.parametrize("perfect", [2, 3, 4])
def test_family_is_rejected_unless_exactly_one_candidate_passes_all(perfect: int) -> None:
    """Two perfect candidates would let a model succeed without the key."""
    outcome = assess_twice(a_grid((8,) * perfect + (0,) * (4 - perfect)))

    assert outcome == Rejection(
        RejectionReason.PERFECT_COUNT,
        candidate_position=0,
        other_position=1,
        fixture_count=8,
        equal_count=8,
        equal_count_max=6,
    )


@pytest.mark.parametrize(("fixtures", "most"), [(8, 6), (16, 12)])
def test_an_alternative_must_fail_a_quarter(fixtures: int, most: int) -> None:
    """The bound is inclusive: a quarter is enough, one fixture less is not."""
    weak = assess_twice(a_grid((fixtures, most + 1, 0, 0), fixtures=fixtures))

    assert isinstance(assess_twice(a_grid((fixtures, most, 0, 0), fixtures=fixtures)), Accepted)
    assert weak == Rejection(
        RejectionReason.WEAK_ALTERNATIVE,
        candidate_position=0,
        other_position=1,
        fixture_count=fixtures,
        equal_count=most + 1,
        equal_count_max=most,
    )


FAILING = [
    each for each in Verdict if each.is_deterministic and each not in {Verdict.RETURNED, Verdict.ARGUMENT_CHANGED}
]
"""How an alternative may end."""


@pytest.mark.parametrize("verdict", FAILING)
def test_an_alternative_may_fail_by_any_deterministic_verdict(verdict: Verdict) -> None:
    grid = a_grid((8, 0, 0, 0))
    grid[2] = [ended(verdict)] * 8

    assert isinstance(assess_twice(grid), Accepted)


def test_an_error_never_equals_an_empty_result() -> None:
    """An exception has no output; a reference that returned nothing must not make it right."""
    grid = a_grid((8, 0, 0, 0))
    grid[0][0] = returned("")
    grid[1] = [ended(Verdict.EXCEPTION)] * 8
    outcome = assess_twice(grid)

    assert isinstance(outcome, Accepted)
    assert outcome.utilities[1] == Utility(0, 8)


@pytest.mark.parametrize("verdict", [each for each in Verdict if not each.is_deterministic])
@pytest.mark.parametrize("pass_index", [0, 1])
@pytest.mark.parametrize("place", range(4))
def test_a_verdict_that_depends_on_load_never_certifies(verdict: Verdict, pass_index: int, place: int) -> None:
    """Not even for an alternative, and not even where both passes agree."""
    grid, other = a_grid(), a_grid()
    (grid, other)[pass_index][place][3] = ended(verdict)

    killed = verdict is Verdict.KILLED
    assert assess(a_scoring(grid), a_scoring(other)) == Rejection(
        RejectionReason.PROGRAM_KILLED if killed else RejectionReason.UNSTABLE,
        candidate_position=place,
        fixture_index=3,
        endings=name_ending(ended(verdict)),
    )


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        ("SIGSYS", "a system call that the sandbox refuses, such as one that starts a thread"),
        ("SIGSEGV", "a crash;"),
        ("exit status 3", "an exit of its own;"),
        ("exit without a result", "an exit of its own;"),
        ("forged result", "a result that it forged;"),
    ],
)
def test_a_program_that_was_killed_is_not_told_to_be_cheaper(detail: str, words: str) -> None:
    """A thread is refused on the fastest machine; and the status with which a program ends may say what it read."""
    grid = a_grid()
    grid[1][2] = Execution(Verdict.KILLED, b"", detail)
    outcome = assess_twice(grid)

    assert isinstance(outcome, Rejection)
    assert outcome.reason is RejectionReason.PROGRAM_KILLED
    assert f"candidate 1 on fixture 2 ended with {words}" in outcome.message
    assert "load" not in outcome.message
    assert "3" not in outcome.message


@pytest.mark.parametrize("changed", [returned("else"), ended(Verdict.EXCEPTION)])
@pytest.mark.parametrize("place", range(4))
def test_two_passes_must_agree_on_every_byte(changed: Execution, place: int) -> None:
    other = a_grid()
    other[place][5] = changed

    assert assess(a_scoring(a_grid()), a_scoring(other)) == Rejection(
        RejectionReason.NONDETERMINISTIC, candidate_position=place, fixture_index=5
    )


def test_times_and_details_are_not_part_of_a_result() -> None:
    """Times differ in every run; the text of an error is for people."""
    one, other = a_grid(), a_grid()
    one[1][0] = Execution(Verdict.EXCEPTION, b"", "ValueError", cpu_time_s=0.1)
    other[1][0] = Execution(Verdict.EXCEPTION, b"", "TypeError", cpu_time_s=0.2)

    assert isinstance(assess(a_scoring(one), a_scoring(other)), Accepted)


@pytest.mark.parametrize("verdict", FAILING)
def test_the_reference_must_return_everywhere(verdict: Verdict) -> None:
    grid = a_grid()
    grid[0][7] = ended(verdict)

    assert assess_twice(grid) == Rejection(
        RejectionReason.REFERENCE_FAILED, fixture_count=8, endings=name_ending(ended(verdict))
    )


def test_how_the_correct_candidate_ended_is_not_told_apart_from_the_others() -> None:
    """A program may raise another class for each value; the class would say which value is right."""
    grid = a_grid()
    for place, name in enumerate(("KeyError", "TypeError", "ValueError", "IndexError")):
        grid[place][place] = Execution(Verdict.EXCEPTION, b"", name)
    outcomes = {assess_twice(grid, truth=truth) for truth in range(4)}

    assert [outcome.endings for outcome in outcomes if isinstance(outcome, Rejection)] == [
        "IndexError or KeyError or TypeError or another"
    ]


def test_a_program_that_never_returns_is_called_so_whatever_is_right() -> None:
    """Advice about the values of fixtures would send its author the wrong way."""
    fault = Execution(Verdict.EXCEPTION, b"", "OperationalError", message="no such column: s.customerid")
    outcomes = {assess_twice([[fault] * 8] * 4, truth=truth) for truth in range(4)}
    (outcome,) = outcomes

    assert isinstance(outcome, Rejection)
    assert outcome.reason is RejectionReason.PROGRAM_FAILED
    assert outcome.message == (
        "no candidate's program returns: OperationalError: no such column: s.customerid; correct the program"
    )


def test_rows_in_another_order_are_left_to_the_comparison_of_passes() -> None:
    """An odd lane alone says so of a program that returns on every even one."""
    executions = ((ended(Verdict.ORDER_DEPENDENT), ended(Verdict.EXCEPTION)),) * 4

    assert find_failure({Ring.R0: executions}) is None


@pytest.mark.parametrize("verdict", [each for each in Verdict if each is not Verdict.RETURNED])
def test_every_ending_has_words_without_what_a_program_chose(verdict: Verdict) -> None:
    """An exit status is eight bits of a fixture, if its program likes."""
    one, other = (name_ending(Execution(verdict, b"", f"exit status {number}")) for number in (1, 2))

    assert one
    assert verdict is Verdict.EXCEPTION or one == other


def test_a_reference_that_always_answers_alike_is_refused() -> None:
    """A constant program would be right, so the fixtures examine nothing."""
    grid = a_grid()
    grid[0] = [returned("[]")] * 8

    assert assess_twice(grid) == Rejection(RejectionReason.DEGENERATE, fixture_count=8)


def test_passes_of_different_form_are_our_own_fault() -> None:
    """A missing fixture must not count as a pass."""
    for other in (a_grid()[:3], a_grid(fixtures=7), [*a_grid()[:3], a_grid(fixtures=7)[3]]):
        with pytest.raises(ValueError, match="same rings, programs"):
            assess(a_scoring(a_grid()), a_scoring(other))
    with pytest.raises(ValueError, match="same rings, programs"):
        assess(a_scoring(a_grid(), truth=0), a_scoring(a_grid(), truth=1))
    lone = Scoring({Ring.R0: frozen(a_grid())}, 0)
    with pytest.raises(ValueError, match="same rings, programs"):
        assess(lone, lone)


@pytest.mark.parametrize("counts", [(8, 8, 0, 3), (8, 7, 6, 0), (8, 8, 8, 8)])
def test_a_rejection_is_the_same_whichever_candidate_is_right(counts: tuple[int, ...]) -> None:
    """Its reason and numbers, shown to anybody, leave each candidate at one in four."""
    grid = a_grid(counts)
    outcomes = {truth: assess_twice(grid, truth=truth) for truth in range(4)}
    rejections = {outcome for outcome in outcomes.values() if isinstance(outcome, Rejection)}

    assert isinstance(outcomes[0], Rejection)
    assert len(rejections) == 1


def test_the_closest_pair_is_named_even_where_the_correct_candidate_is_not_in_it() -> None:
    """Naming the pair that made the rejection would name the correct candidate, or say that it is one of two."""
    grid = a_grid((8, 7, 0, 0))
    grid[3] = grid[2]
    outcomes = [assess_twice(grid, truth=truth) for truth in range(4)]

    assert len(set(outcomes)) == 1
    assert isinstance(outcomes[0], Rejection)
    assert (outcomes[0].candidate_position, outcomes[0].other_position, outcomes[0].equal_count) == (2, 3, 8)


def test_a_reworded_program_must_return_what_the_exact_one_does() -> None:
    """Otherwise R1 asks another question, and its difference to R0 says nothing about the wording."""
    reworded = a_grid()
    reworded[2][6] = returned("else")
    outcomes = {
        assess(a_scoring(a_grid(), truth=truth, reworded=reworded), a_scoring(a_grid(), truth=truth, reworded=reworded))
        for truth in range(4)
    }

    assert outcomes == {Rejection(RejectionReason.REWORDING_DIFFERS, Ring.R1, candidate_position=2, fixture_index=6)}


def test_a_reworded_program_may_raise_where_the_exact_one_raises() -> None:
    """An alternative fails in both; of which class the exception is, is for people."""
    grid, reworded = a_grid(), a_grid()
    grid[1][7] = Execution(Verdict.EXCEPTION, b"", "KeyError")
    reworded[1][7] = Execution(Verdict.EXCEPTION, b"", "IndexError")
    scoring = a_scoring(grid, reworded=reworded)

    assert isinstance(assess(scoring, scoring), Accepted)


@pytest.mark.parametrize("change", [("wrong 1 6", 2, 6), ("r2 else", 1, 0)])
def test_renaming_must_leave_who_agrees_with_whom(change: tuple[str, int, int]) -> None:
    """A program that sorts by a name, or reads one as a value, would be another program in R2."""
    output, place, index = change
    other = renamed(a_grid())
    other[place][index] = returned(output if output.startswith("r2") else f"r2 {output}")
    outcomes = {
        assess(a_scoring(a_grid(), truth=truth, other=other), a_scoring(a_grid(), truth=truth, other=other))
        for truth in range(4)
    }
    (outcome,) = outcomes

    assert isinstance(outcome, Rejection)
    assert (outcome.reason, outcome.ring) == (RejectionReason.RENAMING_DIFFERS, Ring.R2)
    assert outcome.message.startswith("R2: candidates ")


def test_renaming_must_leave_where_a_candidate_returns() -> None:
    """A slot that was not written as a placeholder is a missing column in R2."""
    other = renamed(a_grid())
    other[3][5] = ended(Verdict.EXCEPTION)
    scoring = a_scoring(a_grid(), other=other)
    outcome = assess(scoring, scoring)

    assert outcome == Rejection(RejectionReason.RENAMING_DIFFERS, Ring.R2, candidate_position=3, fixture_index=5)
    assert outcome.message.startswith("R2: candidate 3 returns on fixture 5 under one ring's names and not")


@pytest.mark.parametrize("ring", Ring)
@pytest.mark.parametrize("place", range(4))
def test_a_program_that_changes_its_argument_certifies_nothing(ring: Ring, place: int) -> None:
    """Of any candidate, right or wrong, for which one it was would say whether it is the right one."""
    grid = a_grid()
    grid[place][3] = ended(Verdict.ARGUMENT_CHANGED)
    rings = {each: frozen(a_grid()) for each in Ring} | {ring: frozen(grid)}
    outcomes = {assess(Scoring(rings, truth), Scoring(rings, truth)) for truth in range(4)}

    assert outcomes == {Rejection(RejectionReason.ARGUMENT_CHANGED, ring, candidate_position=place, fixture_index=3)}


def test_programs_that_all_change_their_argument_are_told_so() -> None:
    """They gave values, so `no candidate's program returns` would send their author the wrong way."""
    outcome = assess_twice([[ended(Verdict.ARGUMENT_CHANGED)] * 8] * 4)

    assert isinstance(outcome, Rejection)
    assert outcome.reason is RejectionReason.ARGUMENT_CHANGED
    assert "work on a copy" in outcome.message


@pytest.mark.parametrize("ring", Ring)
def test_every_ring_is_judged(ring: Ring) -> None:
    """A ring that is published and not certified would look certified."""
    for reason, broken in (
        (RejectionReason.UNSTABLE, [[ended(Verdict.TIMEOUT)] * 8] * 4),
        (RejectionReason.PROGRAM_FAILED, [[ended(Verdict.EXCEPTION)] * 8] * 4),
    ):
        rings = {each: frozen(a_grid()) for each in Ring} | {ring: frozen(broken)}
        outcome = assess(Scoring(rings, 0), Scoring(rings, 0))

        assert isinstance(outcome, Rejection)
        assert (outcome.reason, outcome.ring) == (reason, ring)


@pytest.mark.parametrize("ring", Ring)
def test_two_passes_must_agree_in_every_ring(ring: Ring) -> None:
    changed = a_grid()
    changed[3][2] = returned("else")
    first = {each: frozen(a_grid()) for each in Ring}

    assert assess(Scoring(first, 0), Scoring(first | {ring: frozen(changed)}, 0)) == Rejection(
        RejectionReason.NONDETERMINISTIC, ring, candidate_position=3, fixture_index=2
    )


@pytest.mark.parametrize("fault", [ended(Verdict.TIMEOUT), returned("else")])
def test_a_place_in_a_rejection_does_not_depend_on_the_truth(fault: Execution) -> None:
    other = a_grid()
    other[2][4] = fault
    outcomes = {assess(a_scoring(a_grid(), truth=truth), a_scoring(other, truth=truth)) for truth in range(4)}

    assert len(outcomes) == 1


@pytest.mark.parametrize("reason", RejectionReason)
def test_every_reason_has_a_message_made_of_its_figures(reason: RejectionReason) -> None:
    rejection = Rejection(
        reason,
        candidate_position=1,
        other_position=3,
        fixture_index=2,
        fixture_count=8,
        equal_count=7,
        equal_count_max=6,
        token_count=300,
        token_count_max=256,
        word_count=1,
        word_count_min=3,
        endings="KeyError",
        found="K-1234abcd",
    )

    assert "{" not in rejection.message
    assert all(isinstance(value, int) for value in rejection.figures.values())
