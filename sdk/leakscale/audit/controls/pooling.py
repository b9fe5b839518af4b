"""Several positive controls in one: what a leak does on average, and how sure that is when controls share parents.

    found = pool_controls([AuditDirectory.existing(Path("qwen")), AuditDirectory.existing(Path("olmo"))])
    print(found.to_text())

Controls weigh the same, and each counts with the seed that was registered first. Two parents are one if their originals
are: the same items audited in two models are drawn together.

Source: CleanScore 7.11 (Table 16); METHODS 9.4 and 9.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.controls.effects import leaked_group
from leakscale.audit.controls.filing import analyze_control
from leakscale.audit.controls.plan import ExposureKind
from leakscale.audit.controls.pooled_tables import pooled_tables
from leakscale.audit.controls.registering import control_names
from leakscale.audit.controls.studied import StudiedControl, studied
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.standing import Standing
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.digests import json_digest
from leakscale.errors import InvalidRequestError, NotFoundError, PreconditionError
from leakscale.stats import PooledEffects, pooled_effects
from leakscale.tabled import Tabled
from leakscale.tables import Table

__all__ = ["PooledControls", "pool_controls", "pool_studies"]

_FORMAT: Final = "leakscale-audit-pooled-v1"
_SEED: Final = 0
"""Of the resamples. Fixed, because one that may be chosen may be chosen by what it gives."""
_RESAMPLES: Final = 10_000
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class PooledControls(Tabled):
    """Controls and what they say together, one pool a kind of exposure."""

    controls: tuple[StudiedControl, ...]
    pools: Mapping[ExposureKind, PooledEffects]
    """Of the kinds of which there are two or more."""
    left_out: tuple[str, ...]
    """Controls of the same audits that are not in the pool."""
    tables: tuple[Table[Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what was pooled, the pools and the tables as JSON-ready values."""
        return {
            "format": _FORMAT,
            "controls": {each.name: each.analysis.facts for each in self.controls},
            "left_out": list(self.left_out),
            "pools": {str(kind): pool.to_dict() for kind, pool in self.pools.items()},
            "tables": {one.name: one.to_dict() for one in self.tables},
        }


def pool_controls(directories: Sequence[AuditDirectory], *, names: Sequence[str] = ()) -> PooledControls:
    """Compute the numbers of the controls of one or more audits again, and pool them.

    Args:
        directories: Locked audits.
        names: Controls to pool, in whichever of the audits they are; all by default. What is left out is told.

    Raises:
        InvalidRequestError: If an audit is given twice, be it as a copy.
        NotFoundError: If no audit has a control of such a name.
        PreconditionError: If a control was registered and not finished.
        IntegrityError: If anything that was entered is missing or was changed.
    """
    for directory in directories:
        Standing(directory).require_whole()
    found = [(directory, name) for directory in directories for name in control_names(directory)]
    if unknown := [name for name in names if name not in {each for _, each in found}]:
        raise NotFoundError(f"no audit given has a control '{unknown[0]}'; they have {_listed(n for _, n in found)}")
    chosen = [(directory, name) for directory, name in found if not names or name in names]
    labels = _labels(found)
    left_out = tuple(label for pair, label in zip(found, labels, strict=True) if pair not in chosen)
    controls = [_read(*pair, name=label) for pair, label in zip(found, labels, strict=True) if pair in chosen]
    _require_different(controls)
    return pool_studies(controls, left_out=left_out)


def pool_studies(controls: Sequence[StudiedControl], *, left_out: Sequence[str] = ()) -> PooledControls:
    """Pool controls that were read, each kind of exposure by itself, by the strictest floor and alpha of a kind."""
    pools = {}
    for kind in ExposureKind:
        own = [each for each in controls if each.kind is kind]
        if len(own) >= _LEAST:
            pools[kind] = _pool(own)
    tables = pooled_tables(controls, pools, left_out=left_out)
    return PooledControls(tuple(controls), pools, tuple(left_out), tables)


def _read(directory: AuditDirectory, control: str, *, name: str) -> StudiedControl:
    if not directory.control_numbers(control).is_dir():
        raise PreconditionError(
            f"control '{name}' was registered and has no numbers; finish it by `leakscale audit positive-control`, or "
            "name the others by --control"
        )
    analysis, _ = analyze_control(directory, control)
    return studied(analysis, locked_bank(directory, locked_registration(directory)), name=name)


def _pool(controls: Sequence[StudiedControl]) -> PooledEffects:
    rules = [each.analysis.control.judgement for each in controls]
    return pooled_effects(
        {each.name: each.effects for each in controls},
        planted=leaked_group(controls[0].analysis.control),
        seed=_SEED,
        n_resamples=_RESAMPLES,
        floor=max(rule.floor for rule in rules),
        alpha=min(rule.alpha for rule in rules),
    )


def _labels(found: Sequence[tuple[AuditDirectory, str]]) -> list[str]:
    """Call each control by its name, where another audit has one of that name by its folder too."""
    names = [name for _, name in found]
    return [name if names.count(name) == 1 else f"{directory.root}/{name}" for directory, name in found]


def _require_different(controls: Sequence[StudiedControl]) -> None:
    """Refuse a control that would count twice."""
    seen: dict[bytes, str] = {}
    for each in controls:
        digest = json_digest(each.analysis.facts["scores"])
        if digest in seen:
            raise InvalidRequestError(
                f"controls '{seen[digest]}' and '{each.name}' have the same scores; a control that counts twice looks "
                "surer than it is, so give each audit once"
            )
        seen[digest] = each.name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
