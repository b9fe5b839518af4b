"""A study file: what is measured, on what, from which seed. Data; see `studies/demo.toml`."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.models import EditionKind, ShapeFile
from leakscale.plan_files import plan_fields, plan_of_fields
from leakscale.resources import studies_folder
from leakscale.study.fields import Identifier, Strict, StudyEdition, StudyExperiment, StudyModel
from leakscale.study.shape_files import with_files_beside

__all__ = ["Seeds", "Study", "StudyShapes", "load_studies", "load_study", "named_seeds", "read_shape_file"]

_SHAPE_BYTES_MAX: Final = 256 * 1024
"""What the server takes."""


class _CrossedModel(StudyModel):
    """One of several models of a study."""

    id: Identifier


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


class Study(Strict):
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
        return plan_of_fields(fields, type(self), source=f"study '{self.name}'")

    def fingerprint(self) -> dict[str, Any]:
        """Return what decides the study's numbers, JSON-ready; two equal ones are the same study."""
        return self.model_dump(mode="json", exclude={"title": True, "model": {"plan"}})


def named_seeds(study: Study) -> dict[str, int | str]:
    """Return every seed of a study by what people call it; one that only the server has says so."""
    seeds = study.seeds
    is_practice = study.edition.kind is EditionKind.PRACTICE
    return {
        "study": study.seed,
        "edition, public": seeds.public.hex(),
        "edition, private": seeds.practice_private.hex() if is_practice else "drawn by the server",
        "bank": seeds.bank,
        "bootstrap": seeds.bootstrap,
        "adaptation": seeds.adaptation,
    }


@dataclasses.dataclass(frozen=True, slots=True)
class StudyShapes:
    """The files that a study names, from beside the study file or else from what ships."""

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

    def background(self, study: Study) -> Path | None:
        """Return the background recipe that a study names, from beside it or else from those that ship.

        Raises:
            NotFoundError: If it names one that is in neither place.
        """
        name = study.model.background
        if name is None:
            return None
        folders = [studies_folder()] if self.beside is None else [self.beside, studies_folder()]
        for folder in folders:
            if (folder / name).is_file():
                return folder / name
        raise NotFoundError(f"background recipe '{name}' of study '{study.name}' does not exist; check the path")

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


class _CrossedStudy(Strict):
    """A study file of several models over the same families."""

    format: Literal[1]
    name: Identifier
    title: str
    seed: int
    edition: StudyEdition
    models: Annotated[tuple[_CrossedModel, ...], Field(min_length=1)]
    experiment: StudyExperiment

    def studies(self, *, source: str) -> dict[str, Study]:
        """Return the study of each model, by the model's id: its own experiment and directory, the same edition.

        Raises:
            InvalidRequestError: If a name and a model's id together are none for a study; `source` names the file.
        """
        found: dict[str, Study] = {}
        for model in self.models:
            fields = self.model_dump(exclude={"models"})
            fields["name"] = f"{self.name}-{model.id}"
            fields["experiment"]["id"] = f"{self.experiment.id}-{model.id}"
            fields["model"] = model.model_dump(exclude={"id"})
            found[model.id] = plan_of_fields(fields, Study, source=f"{source}: model '{model.id}'")
        return found


def load_study(path: Path, *, model_id: str | None = None) -> Study:
    """Read a study file; of one that crosses several models, the study of one of them.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed, the message names file, line or field, and rule; or if it has several
            models and none is chosen, or none of that id.
    """
    studies = load_studies(path)
    if model_id is None and len(studies) == 1:
        return next(iter(studies.values()))
    if model_id not in studies:
        asked = "needs one of them chosen" if model_id is None else f"has no model {model_id!r}"
        raise InvalidRequestError(f"study '{path}' {asked}; pass --of with {' or '.join(studies)}")
    return studies[model_id]


def load_studies(path: Path) -> dict[str, Study]:
    """Read a study file as one study for each of its models, by the model's id, which a single one may lack.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names file, line or field, and rule.
    """
    absent = f"study file '{path}' does not exist; pass --study with one, e.g. studies/demo.toml"
    fields = plan_fields(path, absent=absent)
    if "models" in fields:
        return plan_of_fields(fields, _CrossedStudy, source=str(path)).studies(source=str(path))
    study = plan_of_fields(fields, Study, source=str(path))
    return {study.name: study}
