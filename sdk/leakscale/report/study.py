"""The two files of a study directory that a report is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.report.provenance import StudyProvenance, provenance_from_json
from leakscale.results import Disclosure, disclosure_from_json

__all__ = ["DISCLOSURE_FILE", "PROVENANCE_FILE", "read_disclosure", "read_provenance"]

_Contents = TypeVar("_Contents")

DISCLOSURE_FILE: Final = Path("analysis/disclosure.json")
"""Numbers the server released, relative to the study directory."""
PROVENANCE_FILE: Final = Path("provenance.json")
"""Where they come from, relative to the study directory."""


def read_disclosure(study: Path) -> Disclosure:
    """Read the released numbers of a study.

    Raises:
        NotFoundError: If the study has not got that far.
        IntegrityError: If the file is damaged; the message names it.
    """
    return _read(study, DISCLOSURE_FILE, disclosure_from_json)


def read_provenance(study: Path) -> StudyProvenance:
    """Read where the numbers of a study come from.

    Raises:
        NotFoundError: If the study has not got that far.
        IntegrityError: If the file is damaged; the message names it.
    """
    return _read(study, PROVENANCE_FILE, provenance_from_json)


def _read(study: Path, name: Path, read: Callable[[str], _Contents]) -> _Contents:
    try:
        return read((study / name).read_text(encoding="utf-8"))
    except (IntegrityError, UnicodeDecodeError) as error:
        raise IntegrityError(f"'{study / name}': {error}") from error
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise NotFoundError(
            f"study '{study}' has no {name}; run `leakscale demo`, or finish the study that this directory belongs to"
        ) from error
