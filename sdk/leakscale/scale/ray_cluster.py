"""The Ray cluster that workers run on: joined, or started on this machine."""

from __future__ import annotations

import logging

from leakscale.errors import NotFoundError, UnavailableError
from leakscale.scale.ray_options import RayOptions

try:
    import ray
    from ray.exceptions import RayError
except ModuleNotFoundError as error:
    raise NotFoundError("engine 'ray' needs the package ray; run `pip install 'leakscale[ray]'`") from error

__all__ = ["first_line", "join_cluster", "room_for"]


def join_cluster(address: str | None) -> None:
    """Join a cluster, or start one on this machine; one that is joined already stays.

    Raises:
        UnavailableError: If it cannot be reached.
    """
    if ray.is_initialized():
        return
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (ConnectionError, RayError, RuntimeError, ValueError) as error:
        raise UnavailableError(
            f"Ray cluster '{address or 'of this machine'}' cannot be joined: {first_line(error)}; start one with "
            "`ray start --head`"
        ) from error


def room_for(options: RayOptions) -> int:
    """Return how many workers the cluster has room for.

    Raises:
        UnavailableError: If for none.
    """
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    rooms = [
        resources.get(name, 0) / count
        for name, count in (("CPU", options.cpu_count), ("GPU", options.gpu_count))
        if count > 0
    ]
    room = int(min(rooms))
    if room < 1:
        raise UnavailableError(
            f"the cluster has {resources.get('CPU', 0):g} CPUs and {resources.get('GPU', 0):g} GPUs, and a worker "
            f"needs {options.cpu_count:g} and {options.gpu_count:g}; add a node, or ask for less"
        )
    return room


def first_line(error: BaseException) -> str:
    """Return what an error says, without the stack that Ray puts behind it."""
    return str(error).strip().split("\n", 1)[0]
