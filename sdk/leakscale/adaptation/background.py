"""Background supervision from a recipe: unrelated records that keep an adaptation from being about keys alone.

A recipe is TOML. It names sources, each either a generator of this package or a JSONL file bound by its SHA-256, and
how many records each gives. The same recipe gives the same records on every machine.

    format = 1
    seed = 11

    [[source]]
    kind = "arithmetic"
    count = 256

    [[source]]
    kind = "jsonl"
    path = "conversations.jsonl"    # beside the recipe; {"messages": [...]} a line, the last turn the assistant's
    sha256 = "…"
    count = 2000

Source: LeakScale D.2 (unrelated background supervision). Deviation: the paper's own background corpus is not public.
"""

from __future__ import annotations

import hashlib
import json
import random
import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leakscale.adaptation.background_tasks import GENERATORS
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.models import Message, TrainingRecord, TrainingSource

__all__ = ["BackgroundRecipe", "background_records", "load_recipe", "recipe_records"]

_ROLES: Final = ("system", "user", "assistant")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GeneratedSource(_Strict):
    """Records that this package writes."""

    kind: Literal["arithmetic", "words", "table"]
    count: Annotated[int, Field(ge=1, le=1_000_000)]


class FileSource(_Strict):
    """Records from a file of chats."""

    kind: Literal["jsonl"]
    path: Annotated[str, Field(min_length=1)]
    """Relative to the recipe."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    """How many of its chats are taken, by a seeded draw without repetition."""


class BackgroundRecipe(_Strict):
    """What unrelated supervision an adaptation gets."""

    format: Literal[1]
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    source: Annotated[tuple[GeneratedSource | FileSource, ...], Field(min_length=1)]


def load_recipe(path: Path) -> BackgroundRecipe:
    """Read a recipe.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names the field and the rule.
    """
    try:
        return BackgroundRecipe.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise NotFoundError(
            f"background recipe '{path}' cannot be read; pass a file such as studies/background/plain.toml"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidRequestError(f"background recipe '{path}': not valid TOML: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "file"
        raise InvalidRequestError(f"background recipe '{path}': field '{field}': {first['msg'].lower()}") from error


def background_records(recipe: BackgroundRecipe, *, folder: Path) -> list[TrainingRecord]:
    """Write or read the records of a recipe.

    Args:
        recipe: What to take.
        folder: That of the recipe, in which its files are.

    Raises:
        NotFoundError: If a file is not there.
        IntegrityError: If a file is not the one that the recipe was written for.
        InvalidRequestError: If a file has fewer chats than asked for, or a line that is no chat.
    """
    records = []
    for number, source in enumerate(recipe.source):
        # One stream a source, so that a change of one leaves the others as they are.
        rng = random.Random(f"leakscale-background-v1/{recipe.seed}/{number}/{source.kind}")  # noqa: S311
        chats = _file_chats(source, folder, rng) if isinstance(source, FileSource) else _generated(source, rng)
        records += [
            TrainingRecord(f"background/{number}-{source.kind}/{index:06d}", TrainingSource.BACKGROUND, *chat)
            for index, chat in enumerate(chats)
        ]
    return records


def recipe_records(path: Path | None) -> list[TrainingRecord]:
    """Return the records of a recipe file, or none where there is no recipe.

    Raises:
        LeakScaleError: As `load_recipe` and `background_records`.
    """
    return background_records(load_recipe(path), folder=path.parent) if path is not None else []


_Chat = tuple[tuple[Message, ...], str]
"""The turns before the last, and the assistant's last one."""


def _generated(source: GeneratedSource, rng: random.Random) -> list[_Chat]:
    write = GENERATORS[source.kind]
    tasks = (write(rng) for _ in range(source.count))
    return [((Message("user", question),), answer) for question, answer in tasks]


def _file_chats(source: FileSource, folder: Path, rng: random.Random) -> list[_Chat]:
    path = folder / source.path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"background file '{path}' cannot be read; put it beside the recipe") from error
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise IntegrityError(
            f"background file '{path}' has SHA-256 {found[:12]}, its recipe says {source.sha256[:12]}; get the file "
            "that the recipe was written for, or write its digest into the recipe"
        )
    lines = [line for line in content.decode("utf-8").split("\n") if line.strip()]
    if len(lines) < source.count:
        raise InvalidRequestError(
            f"background file '{path}' holds {len(lines)} chats of the {source.count} asked for; lower its count"
        )
    taken = sorted(rng.sample(range(len(lines)), source.count))
    return [_chat(lines[index], subject=f"background file '{path}', chat {index + 1}") for index in taken]


def _chat(line: str, *, subject: str) -> _Chat:
    try:
        turns = [Message(str(turn["role"]), str(turn["content"])) for turn in json.loads(line)["messages"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidRequestError(
            f'{subject}: not of the form {{"messages": [{{"role": ..., "content": ...}}]}}; repair the line'
        ) from error
    if len(turns) < 2 or turns[-1].role != "assistant" or any(turn.role not in _ROLES for turn in turns):
        raise InvalidRequestError(f"{subject}: must end with an assistant turn after a user's; repair the line")
    return tuple(turns[:-1]), turns[-1].content
