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
    path = "conversations.jsonl"    # beside the recipe; see `leakscale.background.chat_file`
    sha256 = "…"
    count = 2000

Source: LeakScale D.2 (unrelated background supervision). Deviation: the paper's own background corpus is not public.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from leakscale.background.chat_file import Chat, chat_lines, parse_chat
from leakscale.background.tasks import GENERATORS
from leakscale.errors import InvalidRequestError
from leakscale.models import Message, TrainingRecord, TrainingSource
from leakscale.plan_files import read_plan

__all__ = ["BackgroundRecipe", "background_records", "load_recipe", "recipe_records"]


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
    absent = f"background recipe '{path}' cannot be read; pass a file such as studies/background/plain.toml"
    return read_plan(path, BackgroundRecipe, absent=absent)


def background_records(recipe: BackgroundRecipe, *, folder: Path) -> list[TrainingRecord]:
    """Write or read the records of a recipe; those of a file are named by its lines.

    Args:
        recipe: What to take.
        folder: That of the recipe, in which its files are.

    Raises:
        NotFoundError: If a file is not there.
        IntegrityError: If a file is not the one that the recipe was written for.
        InvalidRequestError: If a file has fewer chats than asked for, or a line that is no chat with an answer.
    """
    records = []
    for number, source in enumerate(recipe.source):
        # One stream a source, so that a change of one leaves the others as they are.
        rng = random.Random(f"leakscale-background-v1/{recipe.seed}/{number}/{source.kind}")  # noqa: S311
        chats = _drawn(source, folder, rng) if isinstance(source, FileSource) else _generated(source, rng)
        records += [
            TrainingRecord(f"background/{number}-{source.kind}/{index:06d}", TrainingSource.BACKGROUND, *chat)
            for index, chat in chats
        ]
    return records


def recipe_records(path: Path | None) -> list[TrainingRecord]:
    """Return the records of a recipe file, or none where there is no recipe.

    Raises:
        LeakScaleError: As `load_recipe` and `background_records`.
    """
    return background_records(load_recipe(path), folder=path.parent) if path is not None else []


def _generated(source: GeneratedSource, rng: random.Random) -> list[tuple[int, Chat]]:
    write = GENERATORS[source.kind]
    tasks = (write(rng) for _ in range(source.count))
    return [(index, ((Message("user", question),), answer)) for index, (question, answer) in enumerate(tasks)]


def _drawn(source: FileSource, folder: Path, rng: random.Random) -> list[tuple[int, Chat]]:
    path = folder / source.path
    lines = chat_lines(path, sha256=source.sha256)
    if len(lines) < source.count:
        raise InvalidRequestError(
            f"background file '{path}' holds {len(lines)} chats of the {source.count} asked for; lower its count"
        )
    taken = sorted(rng.sample(range(len(lines)), source.count))
    return [(lines[place].number, parse_chat(lines[place], path)) for place in taken]
