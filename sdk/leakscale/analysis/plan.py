"""How an experiment is analyzed, and what may be shown of it: both are settled before a number is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leakscale.errors import InvalidRequestError

__all__ = ["AnalysisPlan", "Identities", "ReleasePolicy"]


@dataclass(frozen=True, slots=True)
class AnalysisPlan:
    """The registered settings of every estimate.

    Raises:
        InvalidRequestError: If a setting is out of its range.
    """

    seed: int
    """Of every resample; each estimate starts from it anew, so none depends on which others were made."""
    resample_count: int = 10_000
    """10,000 in the paper."""
    alpha: float = 0.05
    """Probability left outside each interval."""
    strength: float | None = None
    """Which strength of the adapters is reported; None where the results hold one."""

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InvalidRequestError(f"seed is {self.seed}; take a whole number from 0")
        if not 100 <= self.resample_count <= 1_000_000:
            raise InvalidRequestError(f"resample_count is {self.resample_count}; take 100 to 1,000,000")
        if not 0 < self.alpha < 1:
            raise InvalidRequestError(f"alpha is {self.alpha}; take a probability between 0 and 1")

    def to_dict(self) -> dict[str, int | float | None]:
        """Return the settings as JSON-ready values."""
        return {
            "seed": self.seed,
            "resample_count": self.resample_count,
            "alpha": self.alpha,
            "strength": self.strength,
        }


@dataclass(frozen=True, slots=True)
class ReleasePolicy:
    """What may be shown of an edition.

    It guards against showing more than is meant to be shown. It does not hide what the results say from whoever has
    them: before retirement, only the server does.
    """

    edition_kind: str
    """`practice` (its author knows the truth) or `private`."""
    is_retired: bool = False
    """Whether the openings of a private edition are public."""

    @classmethod
    def of_practice(cls) -> ReleasePolicy:
        """Return the policy that withholds nothing."""
        return cls("practice")

    def withholds(self, what: str) -> str | None:
        """Return why a table that tells families of one edition apart is withheld, or None.

        Args:
            what: What the table is over, e.g. `16 families of a shape`.
        """
        if self.edition_kind == "practice" or self.is_retired:
            return None
        return (
            f"the edition is private and not retired, and this table is over {what}, from which keys can be worked "
            "out; retire the edition, then analyze again"
        )


@dataclass(frozen=True, slots=True)
class Identities:
    """Digests and seeds that tie the numbers to what they were computed from; what nobody knows is left out."""

    artifacts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """SHA-256 of (model, part), e.g. (`tiny`, `adapter`)."""
    results: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """SHA-256 of the result stream and of the attempt stream of each bank."""
    seeds: Mapping[str, int | str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of what the edition was built from and of what was analyzed."""
