"""The record that makes an adapter folder complete, and the rule under which it may be used again.

A folder appears under its final name only when everything in it is written, so that a run killed at any moment leaves
either nothing there or a whole adapter.
"""

from __future__ import annotations

import json
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from leakscale.adaptation.config import AdapterIdentity, Diagnostics
from leakscale.adaptation.identity import adapter_digest
from leakscale.errors import ConflictError, IntegrityError, NotFoundError
from leakscale.reading import fault_of, parse_json
from leakscale.whole_files import sync

__all__ = ["Completion", "Scaling", "check_reusable", "publish", "read_completion"]

_FORMAT: Final = "leakscale-adapter-v2"
_FILE: Final = "completion.json"


@dataclass(frozen=True, slots=True)
class Scaling:
    """How an adapter was made out of a trained one."""

    strength: float
    """What its lora_B tensors were multiplied by."""
    source: str
    """Digest of the trained adapter."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What an adapter folder came from, and what its training reported."""

    identity: AdapterIdentity
    config: dict[str, Any]
    """The settings as they were resolved on the machine that trained: no `auto` is left in them."""
    diagnostics: Diagnostics
    corpus: dict[str, Any] = field(default_factory=dict)
    """Token counts of each source, and what the check for no-key families looked at."""
    environment: dict[str, Any] = field(default_factory=dict)
    """Libraries and hardware; for people, never compared."""
    scaling: Scaling | None = None


def read_completion(folder: Path) -> Completion:
    """Read the record of an adapter folder and recompute the digest of its tensors and settings.

    Raises:
        NotFoundError: If the folder holds no completed adapter.
        IntegrityError: If the record cannot be read, or the tensors or settings are not the ones that it was written
            for.
    """
    try:
        completion = _from_json(parse_json((folder / _FILE).read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(
            f"folder '{folder}' holds no completed adapter (no {_FILE}); give the one that `leakscale adapt` wrote"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"'{folder / _FILE}' cannot be read ({fault_of(error)}); delete the folder and adapt again"
        ) from error
    found = adapter_digest(folder)
    if found != completion.identity.adapter:
        raise IntegrityError(
            f"adapter '{folder}' has tensors and settings {found[:12]}, its {_FILE} says "
            f"{completion.identity.adapter[:12]}; delete the folder and adapt again"
        )
    return completion


def check_reusable(folder: Path, wanted: AdapterIdentity, config: dict[str, Any]) -> Completion:
    """Return the record of an existing adapter if it came from exactly what is wanted now.

    `wanted.adapter` is not compared: it is what the training would find out.

    Raises:
        ConflictError: If anything differs; the message names each, and of the settings each field with both values.
    """
    completion = read_completion(folder)
    differing = differences(completion.identity, wanted, completion.config, config)
    if completion.scaling is not None:
        differing.append(f"strength ({completion.scaling.strength:g} there, unscaled now)")
    if differing:
        raise ConflictError(
            f"adapter '{folder}' was made from another {', '.join(differing)}; choose another output folder, or delete "
            "this one to train again"
        )
    return completion


def differences(
    found: AdapterIdentity, wanted: AdapterIdentity, found_config: dict[str, Any], config: dict[str, Any]
) -> list[str]:
    """Name what two origins of an adapter do not share; the adapters themselves are not compared."""
    there, now = asdict(found), asdict(wanted)
    names = [name for name in now if name != "adapter" and now[name] != there[name]]
    if "config" in names:
        fields = [name for name in config if found_config.get(name) != config[name]]
        values = (f"{name} {found_config.get(name)!r} there, {config[name]!r} now" for name in fields)
        names[names.index("config")] = f"config ({'; '.join(values)})" if fields else "config"
    return names


def publish(partial: Path, folder: Path, completion: Completion) -> None:
    """Write the completion record into a finished partial folder and give it its final name, durably."""
    record = {"format": _FORMAT, **asdict(completion)}
    (partial / _FILE).write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    mode = stat.S_IMODE((partial / _FILE).stat().st_mode)
    for file in partial.iterdir():
        file.chmod(mode)  # safetensors keeps its file to its owner, and a folder is handed over whole
        sync(file)
    sync(partial)
    partial.rename(folder)
    sync(folder.parent)


def _from_json(stored: dict[str, Any]) -> Completion:
    if stored["format"] != _FORMAT:
        raise ValueError(stored["format"])
    return Completion(
        AdapterIdentity(**stored["identity"]),
        stored["config"],
        Diagnostics(**stored["diagnostics"]),
        corpus=stored["corpus"],
        environment=stored["environment"],
        scaling=Scaling(**stored["scaling"]) if stored["scaling"] else None,
    )
