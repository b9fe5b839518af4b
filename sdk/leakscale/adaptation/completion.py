"""The record that makes an adapter folder complete, and the rule under which it may be used again.

A folder appears under its final name only when everything in it is written, so that a run killed at any moment leaves
either nothing there or a whole adapter.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.adaptation.config import AdapterIdentity, Diagnostics
from leakscale.adaptation.digests import safetensors_digest
from leakscale.errors import ConflictError, IntegrityError, ModelError

__all__ = ["Completion", "adapter_digest", "check_reusable", "publish", "read_completion"]

_FORMAT: Final = "leakscale-adapter-v1"
_FILE: Final = "completion.json"


@dataclass(frozen=True, slots=True)
class Completion:
    """What an adapter folder came from, and what its training reported."""

    identity: AdapterIdentity
    config: dict[str, Any]
    diagnostics: Diagnostics


def read_completion(folder: Path) -> Completion:
    """Read the record of an adapter folder and recompute the digest of its tensors.

    Raises:
        ModelError: If the folder is no completed adapter.
        IntegrityError: If the tensors are not the ones that the record was written for.
    """
    try:
        stored = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        completion = Completion(
            AdapterIdentity(**stored["identity"]), stored["config"], Diagnostics(**stored["diagnostics"])
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"folder '{folder}' holds no completed adapter (no readable {_FILE}); delete it and run `leakscale adapt`"
        ) from error
    found = adapter_digest(folder)
    if found != completion.identity.adapter:
        raise IntegrityError(
            f"adapter '{folder}' has tensors {found[:12]}, its {_FILE} says {completion.identity.adapter[:12]}; "
            "delete the folder and adapt again"
        )
    return completion


def check_reusable(folder: Path, wanted: AdapterIdentity) -> Completion:
    """Return the record of an existing adapter if it came from exactly what is wanted now.

    `wanted.adapter` is not compared: it is what the training would find out.

    Raises:
        ConflictError: If anything differs; the message names each.
    """
    completion = read_completion(folder)
    found, asked = asdict(completion.identity), asdict(wanted)
    differing = [name for name in asked if name != "adapter" and asked[name] != found[name]]
    if differing:
        raise ConflictError(
            f"adapter '{folder}' was made from another {', '.join(differing)}; choose another output folder, or delete "
            "this one to train again"
        )
    return completion


def publish(partial: Path, folder: Path, completion: Completion) -> None:
    """Write the completion record into a finished partial folder and give it its final name, durably."""
    record = {"format": _FORMAT, **asdict(completion)}
    (partial / _FILE).write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    for file in partial.iterdir():
        _sync(file)
    _sync(partial)
    partial.rename(folder)
    _sync(folder.parent)


def adapter_digest(folder: Path) -> str:
    """Hash the tensors of an adapter folder."""
    return safetensors_digest(sorted(folder.glob("adapter_model*.safetensors")))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
