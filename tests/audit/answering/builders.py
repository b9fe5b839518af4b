"""A model that answers as a test says, and audits it is asked in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.audit.registration.builders import NOW, PLAN, an_audit

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.locking import lock_audit
from leakscale.inference.forms import Decoding, FormPrompt, Generated, JsonScalar, OptionScore

__all__ = ["SpokenEngine", "locked_audit"]


class SpokenEngine:
    """Answers each prompt by a function of it; counts what it was asked, and may stop."""

    def __init__(self, say: Callable[[str], str], *, batch_size: int = 3, stops_after: int | None = None) -> None:
        self.say, self.batch_size, self.stops_after = say, batch_size, stops_after
        self.asked: list[str] = []
        self.identity: dict[str, JsonScalar] = {"engine": "spoken"}

    def generate(
        self, prompts: Sequence[FormPrompt], *, decoding: Decoding, seeds: Sequence[bytes] = ()
    ) -> list[Generated]:
        """Say something of each prompt."""
        if self.stops_after is not None and len(self.asked) >= self.stops_after:
            raise KeyboardInterrupt
        self.asked += [prompt.text for prompt in prompts]
        texts = [self.say(prompt.text) for prompt in prompts]
        return [Generated(text, len(text.split()), text.endswith("…"), -0.5) for text in texts]

    def score_options(self, prompt: FormPrompt, options: Sequence[str]) -> list[OptionScore]:
        """Find longer options less probable."""
        self.asked.append(prompt.text)
        return [OptionScore(-float(len(option)), len(option.split())) for option in options]


def locked_audit(folder: Path, *, plan: str = PLAN, control_count: int = 0) -> AuditDirectory:
    """Return a locked audit of four parents in three forms."""
    directory = an_audit(folder, plan=plan, control_count=control_count)
    lock_audit(directory, now=NOW)
    return directory
