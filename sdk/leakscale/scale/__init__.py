"""Past one machine: a bank in shards whose merge is the bank, and an engine that asks a Ray cluster.

    part = shard_range(bank, Shard(3, 8))
    answer_bank(bank, engine, shard_files(files, Shard(3, 8)), indices=part)
    merge_shards(bank, files, shard_count=8)

Neither changes an answer: a case's answer depends on the case and on the model alone, so shards, nodes and lost nodes
decide only when it is given. Ray is an extra, and is loaded where the engine `ray` is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscale.scale.merging import merge_shards
from leakscale.scale.shards import Shard, parse_shard, shard_files, shard_range

if TYPE_CHECKING:
    from leakscale.scale.ray_engine import RayEngine

__all__ = ["Shard", "merge_shards", "open_ray", "parse_shard", "shard_files", "shard_range"]


def open_ray(*, model: str | Path, adapter: Path | None, options: Mapping[str, Any]) -> RayEngine:
    """Open the engine `ray`; see `leakscale.inference.open_engine`.

    Raises:
        NotFoundError: If the extra `ray` is not installed.
    """
    from leakscale.scale.ray_engine import open_cluster  # noqa: PLC0415 - loads ray

    return open_cluster(model=model, adapter=adapter, options=options)
