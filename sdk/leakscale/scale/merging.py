"""Put the shards of a bank together: byte for byte the files of a run that answered it alone.

1  every shard is there, and its binding holds
2  every shard was answered by the same engine in the same mode
3  streams one after another, under the header of the whole bank
4  results follow from attempts, for the whole bank again
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leakscale.errors import ConflictError, NotFoundError
from leakscale.inference.binding import BankFiles, Binding, bind, verify_bank
from leakscale.inference.cases import FrozenBank
from leakscale.inference.lines import read_header, stamped_line
from leakscale.scale.shards import Shard, shard_files, shard_range

__all__ = ["merge_shards"]


def merge_shards(bank: FrozenBank, files: BankFiles, *, shard_count: int) -> Binding:
    """Merge the answered shards of a bank into its files; the shards stay as they are.

    Attempts stand in the order of the shards. An engine that answers questions in turn leaves the very file that it
    would have left alone; of an engine that answers many at once the results are the same, in case order, and the
    attempts in another order, as from one run to the next.

    Args:
        bank: The frozen bank of all shards.
        files: Of the whole bank. Files of an unfinished run there are not overwritten.
        shard_count: As it was answered.

    Raises:
        NotFoundError: If a shard is missing or not answered to its end; the message names all of them.
        IntegrityError: If a shard's streams are not what its binding says.
        ConflictError: If shards were answered by different engines or of another bank, or other answers are in place.
    """
    shards = [Shard(number, shard_count) for number in range(1, shard_count + 1)]
    parts = [shard_files(files, shard) for shard in shards]
    missing = [str(shard) for shard, part in zip(shards, parts, strict=True) if not part.binding.exists()]
    if missing:
        raise NotFoundError(f"bank '{bank.path}' lacks shard {', '.join(missing)}; answer them to their end first")
    for shard, part in zip(shards, parts, strict=True):
        _check_range(bank, shard, verify_bank(part))
    streams = {getattr(files, kind): [getattr(part, kind) for part in parts] for kind in ("attempts", "results")}
    partials = {whole: _join(each, whole, case_count=bank.case_count) for whole, each in streams.items()}
    _check_free(partials)
    for whole, partial in partials.items():
        partial.replace(whole)
    bind(bank, files, range(bank.case_count))
    return verify_bank(files)


def _check_range(bank: FrozenBank, shard: Shard, binding: Binding) -> None:
    expected = shard_range(bank, shard)
    if binding.plan != bank.digest or (binding.first_case, binding.case_count) != (expected.start, len(expected)):
        raise ConflictError(f"shard {shard} is not of bank '{bank.path}' as it is now; answer it again")


def _join(parts: list[Path], whole: Path, *, case_count: int) -> Path:
    """Write the lines of every part under one header, durably, beside where they belong."""
    header = _common_header(parts, case_count)
    partial = whole.with_name(f"{whole.name}.partial")
    with partial.open("wb") as opened:
        opened.write(stamped_line(header))
        for part in parts:
            opened.writelines(_body(part))
        opened.flush()
        os.fsync(opened.fileno())
    return partial


def _check_free(partials: dict[Path, Path]) -> None:
    taken = [whole for whole, partial in partials.items() if whole.exists() and not _same(whole, partial)]
    if taken:
        for partial in partials.values():
            partial.unlink()
        raise ConflictError(f"'{taken[0]}' holds other answers than the shards; move it away, then merge again")


def _common_header(parts: list[Path], case_count: int) -> dict[str, Any]:
    whole = {"first_case": 0, "case_count": case_count}
    first, *others = ({**read_header(part, mend="answer this shard again"), **whole} for part in parts)
    for part, header in zip(parts[1:], others, strict=True):
        differing = sorted(name for name in {*first, *header} if first.get(name) != header.get(name))
        if differing:
            raise ConflictError(
                f"'{part}' was answered with another {', '.join(differing)} than '{parts[0]}'; answer it again with "
                "the same model, adapter and options"
            )
    return first


def _body(path: Path) -> Iterable[bytes]:
    with path.open("rb") as opened:
        opened.readline()
        yield from opened


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        return all(a == b for a, b in zip(left, right, strict=True))
