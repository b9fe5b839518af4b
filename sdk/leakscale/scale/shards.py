"""Which cases of a frozen bank one of several machines answers. Pure: the bank's size and two numbers in, a range out.

A shard is made of whole questions, so that an engine which computes one distribution a question computes it once, and
of consecutive ones, so that the shards' streams one after another are the bank's stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from leakscale.errors import InvalidRequestError
from leakscale.inference.binding import BankFiles
from leakscale.inference.cases import FrozenBank

__all__ = ["Shard", "parse_shard", "shard_files", "shard_range"]

_SHARD: Final = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of a bank.

    Raises:
        InvalidRequestError: If there is no such part.
    """

    number: int
    """1-based, as a Slurm array `1-8` counts."""
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise InvalidRequestError(f"shard {self.number}/{self.count} does not exist; give 1/N to N/N")

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: str) -> Shard:
    """Read `3/8` as the third of eight parts.

    Raises:
        InvalidRequestError: If it is not of that form, or there is no such part.
    """
    found = _SHARD.fullmatch(text)
    if found is None:
        raise InvalidRequestError(f"shard {text!r} is not of the form i/n; give e.g. 1/8 to 8/8")
    return Shard(int(found[1]), int(found[2]))


def shard_range(bank: FrozenBank, shard: Shard) -> range:
    """Return the cases of a shard; the shards of one count hold every case once, in order, evenly to one question.

    Raises:
        InvalidRequestError: If there are more shards than questions: one would be empty.
    """
    if shard.count > bank.question_count:
        raise InvalidRequestError(
            f"{shard.count} shards are more than the {bank.question_count} questions of bank '{bank.path}'; use fewer"
        )
    first, end = (bank.question_count * place // shard.count for place in (shard.number - 1, shard.number))
    return range(first * bank.draw_count, end * bank.draw_count)


def shard_files(files: BankFiles, shard: Shard) -> BankFiles:
    """Name the files of a shard beside those of its bank; the frozen bank is the same file for all."""

    def named(path: Path) -> Path:
        stem, _, suffixes = path.name.partition(".")
        return path.with_name(f"{stem}.shard-{shard.number}-of-{shard.count}.{suffixes}")

    return replace(files, attempts=named(files.attempts), results=named(files.results), binding=named(files.binding))
