"""One check after the other, each with what it is about and why it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from leakscale.errors import IntegrityError
from leakscale.reading import fault_of

__all__ = ["Check", "Checks"]


@dataclass(frozen=True, slots=True)
class Check:
    """A statement about the files, and whether it holds."""

    subject: str
    """File that it is about, below the directory."""
    claim: str
    """What holds, e.g. `signed by the server's key`."""
    fault: str = ""
    """Why it does not hold, in one line; empty where it does."""

    @property
    def holds(self) -> bool:
        """Tell whether it holds."""
        return not self.fault


@dataclass(slots=True)
class Checks:
    """Checks in the order in which they were made."""

    made: list[Check] = field(default_factory=list)

    @property
    def hold(self) -> bool:
        """Tell whether all of them hold so far."""
        return all(check.holds for check in self.made)

    @contextmanager
    def claim(self, subject: str, claim: str) -> Iterator[None]:
        """Run a check: the claim holds if the block ends, and fails with what it raises of a file's contents."""
        try:
            yield
        except FileNotFoundError:
            self.made.append(Check(subject, claim, "the file is missing; export it again"))
        except (IntegrityError, ValueError, KeyError, TypeError, OSError) as error:
            self.made.append(Check(subject, claim, fault_of(error)))
        else:
            self.made.append(Check(subject, claim))
