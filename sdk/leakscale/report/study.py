"""The two files of a study directory that a report is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from leakscale.errors import NotFoundError
from leakscale.report.provenance import StudyProvenance, provenance_from_json
from leakscale.results import Disclosure, disclosure_from_json

__all__ = ["DISCLOSURE_FILE", "PROVENANCE_FILE", "read_disclosure", "read_provenance"]

DISCLOSURE_FILE: Final = Path("analysis/disclosure.json")
"""Numbers the server released, relative to the study directory."""
PROVENANCE_FILE: Final = Path("provenance.json")
"""Where they come from, relative to the study directory."""


def read_disclosure(study: Path) -> Disclosure:
    """Read the released numbers of a study.

    Raises:
        NotFoundError: If the study has not got that far.
        InvalidRequestError: If the file is damaged.
    """
    return disclosure_from_json(_read(study, DISCLOSURE_FILE))


def read_provenance(study: Path) -> StudyProvenance:
    """Read where the numbers of a study come from.

    Raises:
        NotFoundError: If the study has not got that far.
        InvalidRequestError: If the file is damaged.
    """
    return provenance_from_json(_read(study, PROVENANCE_FILE))


def _read(study: Path, name: Path) -> str:
    try:
        return (study / name).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise NotFoundError(
            f"study '{study}' has no {name}; run `leakscale demo`, or finish the study that this directory belongs to"
        ) from error
