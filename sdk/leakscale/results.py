"""What a released experiment says: integer totals first, everything else computed from them or beside them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from leakscale.errors import IntegrityError
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.reading import fault_of, parse_json
from leakscale.statements import Predicate, predicate_of

__all__ = [
    "CellTotal",
    "CohortNumbers",
    "Crossed",
    "Disclosure",
    "Effect",
    "Estimate",
    "RingShare",
    "RingTransfer",
    "disclosure_from_json",
    "disclosure_from_payload",
    "disclosure_to_json",
]

_FORMAT = "leakscale-disclosure-v2"
_BYTE_FIELDS = ("payload", "signature", "public_key")


@dataclass(frozen=True, slots=True)
class CellTotal:
    """Integer outcome of one condition in one model state, over one domain.

    Source: LeakScale E.2 (Table 11).
    """

    domain: Domain
    condition: Condition
    state: ModelState
    family_count: int
    draw_count: int
    """Draws over all families of the cell."""
    correct_count: int
    """Draws whose artifact passes every hidden fixture; to the nearest multiple of the disclosure's `count_step`."""
    valid_count: int
    """Draws whose answer is one of the four exact strings."""

    @property
    def accuracy(self) -> float:
        """Share of correct draws, in [0, 1]."""
        return self.correct_count / self.draw_count


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference of accuracies with its interval, in [-1, 1] or [-2, 2] for a difference in differences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effect:
    """The exposure effect and the two changes it is the difference of."""

    domain: Domain | None
    """None: all domains pooled."""
    effect: Estimate
    """Difference in differences: C2 change minus C0 drift."""
    c0_drift: Estimate
    """Adapted minus base accuracy of the no-key control."""
    c2_change: Estimate
    """Adapted minus base accuracy under targeted exposure."""


@dataclass(frozen=True, slots=True)
class RingShare:
    """The effect in another ring as a share of that in R0, or why there is none.

    Source: CleanScore 7.11; Fieller's set of the shares that the families do not reject.
    """

    domain: Domain | None
    """None: all domains pooled."""
    value: float | None
    """None where withheld."""
    shape: str | None
    """Of the set: `bounded` from `low` to `high`, `two_rays` up to `low` and from `high`, or `everything`; or None."""
    low: float | None
    high: float | None
    withheld: str | None
    """Rule that withholds it: `failed_manipulation`, `censored` (R0 at its ceiling) or `no_variation`."""
    reason: str | None
    """The rule with its numbers, in words."""
    is_censored: bool
    """Whether the exposed families are at the ceiling in the other ring, so that the share is at least this."""


@dataclass(frozen=True, slots=True)
class RingTransfer:
    """What of the exposure acts on the same families asked in another form than the leaked one."""

    ring: Ring
    totals: tuple[CellTotal, ...]
    effects: tuple[Effect, ...]
    """Pooled first, then one per domain."""
    shares: tuple[RingShare, ...]
    """Beside `effects`, one each."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """The effects of two domains taken together, each weighing the same.

    Source: LeakScale Table 17, for one model.
    """

    domains: tuple[Domain, Domain]
    mean: Estimate
    """Of the two effects."""
    difference: Estimate
    """Effect in the first domain less that in the second."""


@dataclass(frozen=True, slots=True)
class CohortNumbers:
    """The numbers over some of the edition's shapes, registered beside the whole."""

    cohort_id: str
    shape_ids: tuple[str, ...]
    totals: tuple[CellTotal, ...]
    effects: tuple[Effect, ...]
    """In R0: pooled first, then one per domain that it has a shape of."""
    transfers: tuple[RingTransfer, ...]
    crossed: Crossed | None
    """None where it has shapes of one domain."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Numbers the server released for one experiment, once, signed."""

    experiment_id: str
    edition_id: str
    edition_kind: str
    """`practice` (its truth can be rebuilt by its author) or `private`."""
    commitment_root: str
    """Hex SHA-256 root over the edition's nonced associations, logged before the first bank opened."""
    assurance_level: str
    """`L0` one party, one machine; `L1` one party trains and submits; `L2` trainer is not submitter; `L3` attested."""
    totals: tuple[CellTotal, ...]
    """In R0, the form that was leaked."""
    effects: tuple[Effect, ...]
    """In R0: pooled first, then one per domain."""
    confidence: float
    """Of every interval, e.g. 0.95."""
    resample_count: int
    bootstrap_seed: int
    payload: bytes
    """An in-toto statement that holds everything above: the bytes that were signed."""
    signature: bytes
    """Ed25519 over `payload`, as a DSSE envelope has it."""
    public_key: bytes
    """Raw Ed25519 key of the server, 32 bytes."""
    transfers: tuple[RingTransfer, ...] = ()
    """One for each other ring that was registered."""
    cohorts: tuple[CohortNumbers, ...] = ()
    """One for each cohort that was registered."""
    crossed: Crossed | None = None
    """None where the edition has one domain."""
    is_rounded: bool = False
    """Whether ends of intervals are rounded outwards, as those of a private edition are."""
    count_step: int = 1
    """What correct counts are rounded to multiples of: the draws of a family on a private edition, 1 where exact."""

    @property
    def numbers(self) -> dict[str, Any]:
        """Everything that was signed, as JSON has it."""
        return predicate_of(self.payload, Predicate.DISCLOSURE)


def disclosure_from_payload(payload: bytes, *, signature: bytes, public_key: bytes) -> Disclosure:
    """Read the numbers out of the signed bytes. The signature is carried along, not checked.

    Raises:
        IntegrityError: If the bytes are no disclosure; the message names what is wrong.
    """
    try:
        fields = predicate_of(payload, Predicate.DISCLOSURE)
        return Disclosure(
            experiment_id=fields["experiment_id"],
            edition_id=fields["edition_id"],
            edition_kind=fields["edition_kind"],
            commitment_root=fields["commitment_root"],
            assurance_level=fields["assurance_level"],
            totals=tuple(_total(total) for total in fields["totals"]),
            effects=tuple(_effect(effect) for effect in fields["effects"]),
            confidence=fields["confidence"],
            resample_count=fields["resample_count"],
            bootstrap_seed=int(fields["bootstrap_seed"]),
            payload=payload,
            signature=signature,
            public_key=public_key,
            transfers=tuple(_transfer(transfer) for transfer in fields.get("transfers", ())),
            cohorts=tuple(_cohort(cohort) for cohort in fields.get("cohorts", ())),
            crossed=_crossed(fields.get("crossed")),
            is_rounded=fields.get("intervals") == "rounded_outwards",
            count_step=int(fields.get("count_step", 1)),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise IntegrityError(f"disclosure cannot be read: {fault_of(error)}; fetch it from the server again") from error


def disclosure_to_json(disclosure: Disclosure) -> str:
    """Write a disclosure as indented JSON: the numbers for people, and the signed bytes that they are."""
    signed = {name: base64.b64encode(getattr(disclosure, name)).decode() for name in _BYTE_FIELDS}
    fields = {"format": _FORMAT, "numbers": disclosure.numbers, **signed}
    return json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def disclosure_from_json(text: str) -> Disclosure:
    """Read what `disclosure_to_json` wrote. The signature is carried along, not checked.

    Raises:
        IntegrityError: If the text is no disclosure of this format, or the numbers for people are not the signed ones.
    """
    try:
        fields = parse_json(text)
        if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
            raise IntegrityError(f"disclosure is not of format {_FORMAT}; write it with this version of leakscale")
        payload, signature, public_key = (base64.b64decode(fields[name], validate=True) for name in _BYTE_FIELDS)
        shown = fields["numbers"]
    except (ValueError, TypeError, KeyError) as error:
        raise IntegrityError(f"disclosure cannot be read: {fault_of(error)}; fetch it from the server again") from error
    disclosure = disclosure_from_payload(payload, signature=signature, public_key=public_key)
    if shown != disclosure.numbers:
        raise IntegrityError("disclosure shows numbers that are not the signed ones; fetch it from the server again")
    return disclosure


def _total(fields: dict[str, Any]) -> CellTotal:
    enums = {
        "domain": Domain(fields["domain"]),
        "condition": Condition(fields["condition"]),
        "state": ModelState(fields["state"]),
    }
    return CellTotal(**(fields | enums))


def _effect(fields: dict[str, Any]) -> Effect:
    domain = fields["domain"]
    return Effect(
        domain=None if domain is None else Domain(domain),
        effect=_estimate(fields["effect"]),
        c0_drift=_estimate(fields["c0_drift"]),
        c2_change=_estimate(fields["c2_change"]),
    )


def _cohort(fields: dict[str, Any]) -> CohortNumbers:
    return CohortNumbers(
        cohort_id=fields["cohort_id"],
        shape_ids=tuple(fields["shape_ids"]),
        totals=tuple(_total(total) for total in fields["totals"]),
        effects=tuple(_effect(effect) for effect in fields["effects"]),
        transfers=tuple(_transfer(transfer) for transfer in fields.get("transfers", ())),
        crossed=_crossed(fields.get("crossed")),
    )


def _crossed(fields: dict[str, Any] | None) -> Crossed | None:
    if fields is None:
        return None
    first, second = (Domain(domain) for domain in fields["domains"])
    return Crossed((first, second), _estimate(fields["mean"]), _estimate(fields["difference"]))


def _transfer(fields: dict[str, Any]) -> RingTransfer:
    return RingTransfer(
        ring=Ring(fields["ring"]),
        totals=tuple(_total(total) for total in fields["totals"]),
        effects=tuple(_effect(effect) for effect in fields["effects"]),
        shares=tuple(_share(share) for share in fields["shares"]),
    )


def _share(fields: dict[str, Any]) -> RingShare:
    domain, bounds = fields["domain"], fields["bounds"] or {}
    return RingShare(
        domain=None if domain is None else Domain(domain),
        value=fields["share"],
        shape=bounds.get("shape"),
        low=bounds.get("low"),
        high=bounds.get("high"),
        withheld=fields["withheld"],
        reason=fields["reason"],
        is_censored=fields["is_censored"],
    )


def _estimate(fields: dict[str, Any]) -> Estimate:
    return Estimate(fields["value"], fields["low"], fields["high"])
