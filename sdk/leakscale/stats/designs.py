"""Which population of parent items a sample was drawn from, and how.

The sample is drawn without replacement and with equal chances: from the whole population, or inside each stratum with
a sample size fixed for the stratum beforehand. Other schemes (clusters, unequal chances) are not covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from leakscale.stats import parameters
from leakscale.stats.errors import DesignError

__all__ = ["FinitePopulationDesign", "Stratum"]


@dataclass(frozen=True, slots=True)
class Stratum:
    """A named part of the benchmark that is sampled on its own."""

    population_size: int
    """Parent items of the benchmark in this stratum, N_h, at least 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "population_size", _size(self.population_size, "a stratum"))


@dataclass(frozen=True, slots=True)
class FinitePopulationDesign:
    """A benchmark of N parent items, sampled whole or stratum by stratum.

    Raises:
        DesignError: If a size is no whole number from 1, there is no stratum in `strata`, two have one name, or they
            do not add up to N.

    Equal designs have equal hashes, and the strata cannot be changed afterwards.

    Source: METHODS 0 and 1; CleanScore 3.1 and Propositions 1 and 2.
    """

    population_size: int | None
    """Parent items of the benchmark, N. None: the items are one realisation of a writing procedure (a control bank),
    so there is no finite population and no correction for it."""
    strata: Mapping[str, Stratum] | None = None
    """Strata by name, in the order in which they are reported; None: one simple random sample."""

    def __post_init__(self) -> None:
        if self.population_size is not None:
            object.__setattr__(self, "population_size", _size(self.population_size, "the population"))
        if self.strata is None:
            return
        object.__setattr__(self, "strata", _FrozenStrata(self.strata))
        if self.population_size is None:
            raise DesignError("strata without a population size have no weights; pass the size of the benchmark")
        total = sum(stratum.population_size for stratum in self.strata.values())
        if total != self.population_size:
            raise DesignError(
                f"the strata hold {total} parents and the population {self.population_size}; each parent belongs to "
                "exactly one stratum"
            )

    @property
    def weights(self) -> dict[str, float]:
        """Share W_h = N_h / N of each stratum in the benchmark; empty without strata."""
        if self.strata is None or self.population_size is None:
            return {}
        return {name: stratum.population_size / self.population_size for name, stratum in self.strata.items()}

    def require_sample(self, count: int) -> None:
        """Refuse a simple random sample that the population cannot have given.

        Raises:
            DesignError: If more parents were sampled than there are.
        """
        if self.population_size is not None and count > self.population_size:
            raise DesignError(
                f"{count} parents were sampled from a population of {self.population_size}; sampling is without "
                "replacement, so check the population size"
            )

    def is_census(self, count: int) -> bool:
        """Tell whether a sample of `count` parents is the whole population."""
        return bool(count == self.population_size)

    def to_dict(self) -> dict[str, object]:
        """Return the sizes as JSON-ready values."""
        strata = {name: stratum.population_size for name, stratum in (self.strata or {}).items()} or None
        return {"population_size": self.population_size, "strata": strata}

    def __str__(self) -> str:
        if self.population_size is None:
            return "superpopulation of parent items"
        strata = f" in {len(self.strata)} strata" if self.strata else ""
        return f"population of {self.population_size} parent items{strata}"


class _FrozenStrata(Mapping[str, Stratum]):
    """Strata by name, in the order given, that compare like a dict and can be hashed."""

    __slots__ = ("_strata",)

    def __init__(self, strata: Mapping[str, Stratum]) -> None:
        if not isinstance(strata, Mapping):
            raise DesignError(f"strata are {strata!r}; pass a mapping of names to `Stratum`")
        names = parameters.names(strata, "strata", error=DesignError)
        if len(set(names)) < len(names):
            raise DesignError(f"two strata have one name among {', '.join(names)}; 1 and '1' are the same label")
        for name, stratum in zip(names, strata.values(), strict=True):
            if not isinstance(stratum, Stratum):
                raise DesignError(f"stratum {name!r} is {stratum!r}; pass `Stratum(population_size)`")
        self._strata = dict(zip(names, strata.values(), strict=True))

    def __getitem__(self, name: str) -> Stratum:
        return self._strata[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._strata)

    def __len__(self) -> int:
        return len(self._strata)

    def __hash__(self) -> int:
        return hash(frozenset(self._strata.items()))

    def __repr__(self) -> str:
        return repr(self._strata)


def _size(size: object, subject: str) -> int:
    try:
        return parameters.count(size, subject, 1, error=DesignError)
    except DesignError:
        raise DesignError(
            f"{subject} has size {size!r}; a size is a whole number of parent items, at least 1 and below 2^53"
        ) from None
