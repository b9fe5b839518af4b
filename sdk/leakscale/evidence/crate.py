"""A tree described as an RO-Crate, so that archives and other programs know what lies there.

Source: RO-Crate Metadata Specification 1.1, sections 3 to 5 (root data entity, data entities, files).
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.evidence.layout import LAYERS
from leakscale.evidence.manifest import FileEntry

__all__ = ["crate_bytes"]

_CONTEXT: Final = "https://w3id.org/ro/crate/1.1/context"
_SPECIFICATION: Final = "https://w3id.org/ro/crate/1.1"
_DIGEST: Final = "https://schema.org/sha256"
_LAYERS: Final = {
    "source": "What was fixed before the first answer: study, registered plan, shapes, certificates, and the server's "
    "signed ledger with the frozen edition.",
    "training": "What the adapter came from: settings, digests, losses, activity. Corpus and tensors are kept outside.",
    "banks": "Frozen plans, attempts, results and receipts of every bank, and all answers as one table.",
    "analysis": "Every table as JSON, text, CSV and Parquet, with the summary and where the numbers come from.",
    "audits": "The signed disclosure, every seed, and what was found when this tree was made.",
}
_TYPES: Final = {
    ".jsonl": "application/jsonl",
    ".parquet": "application/vnd.apache.parquet",
    ".sqlite": "application/vnd.sqlite3",
    ".toml": "application/toml",
}
_OWN: Final = {
    "manifest.json": "SHA-256 of every file and of every layer; commitments to private files. RFC 8785.",
    "manifest.sha256": "SHA-256 of the manifest.",
}


def crate_bytes(files: Mapping[str, FileEntry], *, study: str, finding: str, finished_at: str) -> bytes:
    """Describe a tree as `ro-crate-metadata.json`, canonical JSON.

    Args:
        files: Every file of the layers, by its name in the tree.
        study: Name of the study.
        finding: Its finding, in one sentence.
        finished_at: When it ended, ISO 8601.
    """
    entities = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": _SPECIFICATION},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"Evidence of the study {study}",
            "description": finding,
            "datePublished": finished_at,
            "license": {"@id": "#license"},
            "hasPart": [*_references(f"{layer}/" for layer in LAYERS), *_references(_OWN)],
        },
        {
            "@id": "#license",
            "@type": "CreativeWork",
            "name": "Not stated",
            "description": "Whoever made the study decides under which license it may be used.",
        },
        *(_layer(layer, files) for layer in LAYERS),
        *(_file(name, entry) for name, entry in sorted(files.items())),
        *({"@id": name, "@type": "File", "name": name, "description": text} for name, text in _OWN.items()),
    ]
    return canonical_json({"@context": [_CONTEXT, {"sha256": _DIGEST}], "@graph": entities})


def _layer(layer: str, files: Mapping[str, FileEntry]) -> dict[str, Any]:
    own = (name for name in sorted(files) if name.startswith(f"{layer}/"))
    return {
        "@id": f"{layer}/",
        "@type": "Dataset",
        "name": layer,
        "description": _LAYERS[layer],
        "hasPart": _references(own),
    }


def _file(name: str, entry: FileEntry) -> dict[str, Any]:
    ending = f".{name.rpartition('.')[2]}"
    return {
        "@id": name,
        "@type": "File",
        "name": name.rpartition("/")[2],
        "contentSize": str(entry.byte_count),
        "encodingFormat": _TYPES.get(ending) or mimetypes.guess_type(name)[0] or "text/plain",
        "sha256": entry.sha256,
    }


def _references(names: Any) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]
