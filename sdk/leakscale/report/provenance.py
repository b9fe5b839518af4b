"""Where the numbers of a study come from: what ran, on what, from which seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from leakscale.errors import IntegrityError
from leakscale.reading import fault_of, parse_json

__all__ = ["StudyProvenance", "provenance_from_json", "provenance_to_json"]

_FORMAT = "leakscale-provenance-v1"


@dataclass(frozen=True, slots=True)
class StudyProvenance:
    """What a reader needs in order to run a study again and to see that it is the same one.

    Every mapping is printed in its own order, so put first what matters most. Digests are hex SHA-256.
    """

    study: str
    """Name of the study, e.g. `demo`."""
    rerun_command: str
    """The command that makes this study from nothing, e.g. `make demo`."""
    model_id: str
    """Name of the base model."""
    model_digests: Mapping[str, str]
    """Digest of each part of the base model: weights, tokenizer, configuration."""
    adapter_digest: str
    corpus_digest: str
    """Of the training records, in their canonical form."""
    certificates_digest: str
    """Over the certificates of the edition, in family order."""
    certified_count: int
    rejected_count: int
    backend: str
    """Sandbox that proved the families: `docker` or `bubblewrap`."""
    seeds: Mapping[str, int | str]
    """Every seed that went in; what is secret is named and its value replaced by its commitment."""
    stage_seconds: Mapping[str, float]
    """Wall time of each stage, in order."""
    versions: Mapping[str, str]
    """Of the interpreter and of each library that touches a number."""
    backend_identity: Mapping[str, str] = field(default_factory=dict)
    """Image id, interpreter build, SQLite source id and whatever else the certificates bind."""
    bank_digests: Mapping[str, str] = field(default_factory=dict)
    """Digest of the answers of each bank, e.g. `base` and `adapted`."""
    training: Mapping[str, str | int | float] = field(default_factory=dict)
    """Settings of the adaptation, e.g. `lora_rank`."""
    answering: Mapping[str, str | int | float] = field(default_factory=dict)
    """How the banks were answered: mode, engine and its settings."""
    unconstrained_valid_mass: Mapping[str, float] = field(default_factory=dict)
    """Per model state: mean probability, in [0, 1], that an unconstrained answer is one of the four exact strings."""
    finished_at: str = ""
    """ISO 8601 time at which the study ended; empty where a study must be byte-identical."""


def provenance_to_json(provenance: StudyProvenance) -> str:
    """Write a provenance as indented JSON."""
    return json.dumps({"format": _FORMAT, **asdict(provenance)}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def provenance_from_json(text: str) -> StudyProvenance:
    """Read what `provenance_to_json` wrote.

    Raises:
        IntegrityError: If the text is no provenance of this format; the message names what is wrong.
    """
    try:
        values = parse_json(text)
        if not isinstance(values, dict) or values.pop("format", None) != _FORMAT:
            raise IntegrityError(f"provenance is not of format {_FORMAT}; run the study again with this version")
        _check_mappings(values)
        return StudyProvenance(**values)
    except (ValueError, TypeError) as error:
        raise IntegrityError(f"provenance cannot be read: {fault_of(error)}; run the study again") from error


def _check_mappings(values: dict[str, Any]) -> None:
    for one in fields(StudyProvenance):
        if str(one.type).startswith("Mapping") and not isinstance(values.get(one.name, {}), dict):
            raise IntegrityError(f"provenance field '{one.name}' is not a JSON object; run the study again")
