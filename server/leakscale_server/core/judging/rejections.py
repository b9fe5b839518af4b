"""Why a family is not certified, in numbers and words that are the same whichever candidate is right."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from leakscale.models import Ring

__all__ = ["Rejection", "RejectionReason"]


class RejectionReason(enum.StrEnum):
    """Which rule a family breaks; they are checked in this order, the first five without running a program."""

    TEXT_NAMES_KEY = "TEXT_NAMES_KEY"
    """A task or a name in it looks like a key or a handle."""
    TEXT_NAMES_CANDIDATE = "TEXT_NAMES_CANDIDATE"
    """A task says a value that its candidates are drawn from."""
    PROMPT_TOO_LONG = "PROMPT_TOO_LONG"
    """A prompt has more tokens than small models read."""
    TASK_NOT_REWORDED = "TASK_NOT_REWORDED"
    """R1's task says R0's in R0's own words."""
    PROGRAM_NOT_REWORDED = "PROGRAM_NOT_REWORDED"
    """R1's program is R0's under other names, in another order, by way of variables or with code that does nothing."""
    UNSTABLE = "UNSTABLE"
    """A program ended in a way that depends on the machine's load."""
    PROGRAM_KILLED = "PROGRAM_KILLED"
    """A program did not end by returning or raising: it crashed, ended its process or asked for what is refused."""
    PROGRAM_FAILED = "PROGRAM_FAILED"
    """No candidate's program of a ring returns on any fixture, so none can be right."""
    ARGUMENT_CHANGED = "ARGUMENT_CHANGED"
    """A Python program changes its argument."""
    NONDETERMINISTIC = "NONDETERMINISTIC"
    """The two passes differ."""
    OUTPUT_DIFFERS = "OUTPUT_DIFFERS"
    """A program does not return what its author says that it returns."""
    REWORDING_DIFFERS = "REWORDING_DIFFERS"
    """R1's program returns something else than R0's."""
    RENAMING_DIFFERS = "RENAMING_DIFFERS"
    """Under other names, candidates agree on other fixtures than before."""
    RENAMED_OUTPUT_DIFFERS = "RENAMED_OUTPUT_DIFFERS"
    """Under other names, a candidate returns other values than before."""
    REFERENCE_FAILED = "REFERENCE_FAILED"
    """The correct candidate's program does not return on every fixture."""
    DEGENERATE = "DEGENERATE"
    """The expected output is the same on every fixture, so a constant program would be right."""
    PERFECT_COUNT = "PERFECT_COUNT"
    """Not exactly one candidate is right on every fixture."""
    WEAK_ALTERNATIVE = "WEAK_ALTERNATIVE"
    """A wrong candidate is right on more than three quarters of the fixtures."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A family that breaks the rule, with numbers that are the same whichever candidate is right.

    A place (`candidate_position`, `fixture_index`) is given only for what is looked for without regard to the truth.
    It does *not* hide from an author what a program of theirs was built to reveal, such as one value that raises:
    whether a family is rejected at all depends on the truth.
    """

    reason: RejectionReason
    ring: Ring = Ring.R0
    """Where it was found."""
    candidate_position: int | None = None
    """0-based display index."""
    other_position: int | None = None
    """0-based display index of the second of a pair."""
    fixture_index: int | None = None
    """0-based."""
    fixture_count: int | None = None
    equal_count: int | None = None
    """Fixtures on which the pair that is hardest to tell apart returns the same."""
    equal_count_max: int | None = None
    """On how many a wrong candidate may return what the correct one does."""
    token_count: int | None = None
    """Of a prompt."""
    token_count_max: int | None = None
    word_count: int | None = None
    """Of a rewording: words of content that the other task does not have."""
    word_count_min: int | None = None
    pair: tuple[str, str] | None = None
    """The values of a pair as programs write them."""
    endings: str = ""
    """How programs ended that did not return: at one place, or of all candidates together, never of the correct one."""

    found: str = ""
    """What stands in a public text and must not."""

    @property
    def figures(self) -> dict[str, int]:
        """Return the numbers by name."""
        found = {name: getattr(self, name) for name in _FIGURES}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def message(self) -> str:
        """Say in one sentence what is wrong and what an author can do."""
        one, other = self.pair or (self.candidate_position, self.other_position)
        is_lone = self.reason is RejectionReason.RENAMING_DIFFERS and self.other_position is None
        words = _RENAMED_ALONE if is_lone else _MESSAGES[self.reason]
        said = words.format(**self.figures, endings=self.endings, found=self.found, one=one, other=other)
        return said if self.ring is Ring.R0 else f"{self.ring}: {said}"


_FIGURES: Final = (
    "candidate_position",
    "other_position",
    "fixture_index",
    "fixture_count",
    "equal_count",
    "equal_count_max",
    "token_count",
    "token_count_max",
    "word_count",
    "word_count_min",
)
_PAIR: Final = (
    "candidates {one} and {other} give the same result on {equal_count} of {fixture_count}"
    " fixtures, and at most {equal_count_max} may; move candidates apart (distance, pool), or have more"
    " values between them (near_candidates of a column, rows of given fixtures)"
)
_RENAMED_ALONE: Final = (
    "candidate {candidate_position} returns on fixture {fixture_index} under one ring's names and not under the"
    " other's; write every slot as a placeholder"
)
_MESSAGES: Final = {
    RejectionReason.TEXT_NAMES_KEY: "the text names {found}, which looks like a key or a handle; say 'the policy value'"
    " instead, or draw other candidates",
    RejectionReason.TEXT_NAMES_CANDIDATE: "the task says {found}, a value that candidates are drawn from; say it in"
    " other words, or draw other candidates",
    RejectionReason.PROMPT_TOO_LONG: "the prompt has {token_count} tokens, and at most {token_count_max} may be;"
    " shorten the task, the words or the number of inputs",
    RejectionReason.TASK_NOT_REWORDED: "the task says R0's with {word_count} other words of content, and must have"
    " {word_count_min} or more; say it in other words: other marks, endings, articles, prepositions, another order and"
    " words that are added to all of R0's are none",
    RejectionReason.PROGRAM_NOT_REWORDED: "the program is written as R0's; write it another way: other names, another"
    " order, code without effect, variables and functions that are used once, and conversions that change nothing are"
    " none",
    RejectionReason.UNSTABLE: "candidate {candidate_position} on fixture {fixture_index} ended with {endings}, which"
    " depends on load; make the program cheaper or the fixtures smaller",
    RejectionReason.PROGRAM_KILLED: "candidate {candidate_position} on fixture {fixture_index} ended with {endings};"
    " return a value: start no thread and no process, and leave the end of this one to the sandbox",
    RejectionReason.PROGRAM_FAILED: "no candidate's program returns: {endings}; correct the program",
    RejectionReason.ARGUMENT_CHANGED: "candidate {candidate_position} changes its argument on fixture {fixture_index};"
    " work on a copy, as `sorted` does",
    RejectionReason.NONDETERMINISTIC: "candidate {candidate_position} gave two different results on fixture"
    " {fixture_index}, with the same argument in two sandboxes; order rows and sets totally, add up decimals in one"
    " order, keep nothing from one call to the next, and use neither clock, chance, hashes, addresses nor surroundings",
    RejectionReason.OUTPUT_DIFFERS: "candidate {candidate_position} does not return what the shape file says on"
    " fixture {fixture_index}; correct the program or the output",
    RejectionReason.REWORDING_DIFFERS: "candidate {candidate_position} gives another result than in R0 on fixture"
    " {fixture_index}; correct one of the two programs",
    RejectionReason.RENAMING_DIFFERS: "candidates {one} and {other} return the same on fixture"
    " {fixture_index} under one ring's names and not under the other's; use names to read values, and for nothing else",
    RejectionReason.RENAMED_OUTPUT_DIFFERS: "candidate {candidate_position} returns something else on fixture"
    " {fixture_index} once tables, columns and fields are renamed; use names to read values, and for nothing else",
    RejectionReason.REFERENCE_FAILED: "the correct candidate must return on all {fixture_count} fixtures; candidates"
    " end with {endings}; write programs that return a value for whatever the generators draw",
    RejectionReason.DEGENERATE: "the expected output is the same on all {fixture_count} fixtures; draw candidates from"
    " the middle of what they are compared with, fewer rows, or values nearer to the candidates",
    RejectionReason.PERFECT_COUNT: _PAIR,
    RejectionReason.WEAK_ALTERNATIVE: _PAIR,
}
