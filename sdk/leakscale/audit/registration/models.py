"""What a registration and an amendment hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from leakscale.audit.directory import REGISTERED
from leakscale.audit.registration.plan import AuditPlan, plan_from_fields
from leakscale.errors import InvalidRequestError
from leakscale.stats import FinitePopulationDesign, Stratum

__all__ = ["Amendment", "BankFacts", "DrawRecord", "GateResolution", "Registration"]

_FIXED: Final = frozenset({"format", "name", "title", "benchmark", "control", "checks", "review", "gates"})
"""Tables that no amendment can change: what was true at the lock, or what a claim has to pass."""


@dataclass(frozen=True, slots=True)
class DrawRecord:
    """How the parents were drawn; with the frame, enough to draw them again."""

    frame_digest: str
    population_size: int
    """Parents of the frame, N."""
    strata: Mapping[str, int]
    """Parents of each stratum of the frame; empty for a simple random sample."""
    size: int | Mapping[str, int]
    """Parents drawn; of each stratum, where there are strata."""
    seed: int
    fresh_count: int
    """K, fresh forms a parent."""
    deep_count: int

    @property
    def sample_size(self) -> int:
        """Parents drawn, n."""
        return self.size if isinstance(self.size, int) else sum(self.size.values())

    def design(self) -> FinitePopulationDesign:
        """Return the design as the estimators take it."""
        strata = {name: Stratum(count) for name, count in self.strata.items()} or None
        return FinitePopulationDesign(self.population_size, strata=strata)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "frame_digest": self.frame_digest,
            "population_size": self.population_size,
            # As a list: canonical JSON sorts the members of an object, and tables keep the frame's order.
            "strata": [[name, count] for name, count in self.strata.items()],
            "size": self.size if isinstance(self.size, int) else [[name, each] for name, each in self.size.items()],
            "seed": self.seed,
            "fresh_count": self.fresh_count,
            "deep_count": self.deep_count,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> DrawRecord:
        """Read what `to_json` wrote."""
        size = fields["size"]
        return cls(**(dict(fields) | {"strata": dict(fields["strata"])} | {"size": _size(size)}))


@dataclass(frozen=True, slots=True)
class BankFacts:
    """What is locked of a bank of forms, without showing one."""

    digest: str
    """Hex SHA-256 over every form and option, in draw order, without the golds."""
    gold_commitment: str
    """Hex SHA-256 over the golds and the audit's nonce; see `FormBank.gold_commitment`."""
    parent_count: int
    fresh_count: int
    deep_form_count: int
    """Deep paraphrases of all parents together."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class GateResolution:
    """How finely a registered gate can see."""

    id: str
    half_width: float
    tolerance: float

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Registration:
    """Everything that was decided before a model was asked."""

    plan: AuditPlan
    draw: DrawRecord
    bank: BankFacts
    control: BankFacts | None
    gates: tuple[GateResolution, ...]
    review_commitment: str
    """Hex SHA-256 over the audit's nonce and the log of the human reading, which names forms with their golds."""
    reviewed_form_count: int
    locked_at: str
    """UTC, ISO 8601, by the clock of whoever locked."""
    leakscale_version: str
    variant: str = REGISTERED
    """`registered`, or the amendment whose changes are in the plan."""
    assurance_level: str = "L0"
    """L0: whoever locked also holds the forms and the key, on one machine. A server that scored says another level; it
    is not part of what is signed here. Every report prints it."""

    @property
    def name(self) -> str:
        """Name of the audit."""
        return self.plan.name

    @property
    def is_retrospective(self) -> bool:
        """Tell whether answers existed before the lock; reports say so."""
        return any(model.is_asked_already for model in self.plan.models)

    def design(self) -> FinitePopulationDesign:
        """Return the design of the sample as the estimators take it."""
        return self.draw.design()

    def with_amendment(self, amendment: Amendment) -> Registration:
        """Return the registration with an amendment's changes, as the variant that it is reported as.

        Raises:
            InvalidRequestError: If it changes what nothing may change, or the changed plan breaks a rule.
        """
        fields = self.plan.to_json()
        for path, value in amendment.changes.items():
            _change(fields, path, value)
        plan = plan_from_fields(fields, source=f"amendment of audit '{self.name}'")
        return replace(self, plan=plan, variant=amendment.variant)

    def to_json(self) -> dict[str, Any]:
        """Return what is signed as plain JSON values: neither the variant nor the assurance level."""
        return {
            "plan": self.plan.to_json(),
            "draw": self.draw.to_json(),
            "bank": self.bank.to_json(),
            "control": self.control and self.control.to_json(),
            "gates": [gate.to_json() for gate in self.gates],
            "review_commitment": self.review_commitment,
            "reviewed_form_count": self.reviewed_form_count,
            "locked_at": self.locked_at,
            "leakscale_version": self.leakscale_version,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Registration:
        """Read what `to_json` wrote, and nothing more."""
        if beyond := fields.keys() & {"variant", "assurance_level"}:
            raise TypeError(f"it says its own {min(beyond)}")
        read = {
            "plan": plan_from_fields(fields["plan"], source="registration"),
            "draw": DrawRecord.from_json(fields["draw"]),
            "bank": BankFacts(**fields["bank"]),
            "control": BankFacts(**fields["control"]) if fields["control"] else None,
            "gates": tuple(GateResolution(**gate) for gate in fields["gates"]),
        }
        return cls(**(dict(fields) | read))


@dataclass(frozen=True, slots=True)
class Amendment:
    """A change after the lock. What it changes is reported beside what was registered, never instead."""

    number: int
    """From 1."""
    reason: str
    changes: Mapping[str, Any]
    """New values by dotted field of the plan, e.g. `decoding.token_count_max`; each relative to the registration."""
    amended_at: str
    files_seen: tuple[str, ...]
    """Answers and scores that existed already: what whoever amends may have seen."""

    @property
    def variant(self) -> str:
        """Name under which its answers and scores are kept."""
        return f"amendment-{self.number}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "number": self.number,
            "reason": self.reason,
            "changes": dict(self.changes),
            "amended_at": self.amended_at,
            "files_seen": list(self.files_seen),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Amendment:
        """Read what `to_json` wrote."""
        return cls(**(dict(fields) | {"files_seen": tuple(fields["files_seen"])}))


def _change(fields: dict[str, Any], path: str, value: Any) -> None:
    *tables, name = path.split(".")
    table: Any = fields
    for part in tables:
        table = _entry(table, part)
    if not tables or tables[0] in _FIXED or name == "id" or not isinstance(table, dict) or name not in table:
        raise InvalidRequestError(
            f"amendment: field '{path}' is none that can be changed; name one of models, prompt, decoding, scoring or "
            "inference, e.g. decoding.token_count_max"
        )
    table[name] = value


def _entry(table: Any, part: str) -> Any:
    """Return a table's member, or the entry of a list of tables with that id."""
    if isinstance(table, list):
        return next((each for each in table if isinstance(each, dict) and each.get("id") == part), None)
    return table.get(part) if isinstance(table, dict) else None


def _size(size: Any) -> int | dict[str, int]:
    return size if isinstance(size, int) else dict(size)
