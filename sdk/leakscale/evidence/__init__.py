"""The evidence of a study as a tree of files that nobody changes any more, and what a verification says of it."""

from leakscale.evidence.steps import STEPS_FILE, Status, Step, read_steps

__all__ = ["STEPS_FILE", "Status", "Step", "read_steps"]
