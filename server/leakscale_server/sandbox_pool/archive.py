"""Pack a closure as a deterministic tar, and as an archive that `docker load` takes.

Docker names an image by the digest of its configuration, so the name is known before anything is loaded, and the same
interpreter gives the same name everywhere.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import tarfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leakscale_server.sandbox_pool.closure import Closure

__all__ = [
    "ENVIRONMENT",
    "INTERPRETER",
    "USER_ID",
    "ImageArchive",
    "pack_image",
    "pack_layer",
    "write_layer",
]

INTERPRETER = "/usr/local/bin/python3"
USER_ID = 65534
# The worker empties its environment before it serves.
ENVIRONMENT = {"LD_LIBRARY_PATH": "/usr/local/lib", "PYTHONHOME": "/usr/local", "LANG": "C.UTF-8"}
_MOUNT_POINTS = ("dev", "proc", "sys")
_EPOCH = "1970-01-01T00:00:00Z"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class ImageArchive:
    """An image ready to be loaded."""

    content: bytes
    """What `docker save` would write."""
    image_digest: str
    """`sha256:…` of the configuration."""
    layer_digest: str
    """`sha256:…` of the one layer's tar."""


def pack_layer(closure: Closure) -> bytes:
    """Return the root file system as a tar whose bytes depend on names and contents only."""
    buffer = io.BytesIO()
    write_layer(closure, buffer)
    return buffer.getvalue()


def write_layer(closure: Closure, file: io.BufferedIOBase) -> None:
    """Write what `pack_layer` returns, one file of it in memory at a time."""
    folders = {str(parent) for name in (*closure.files, *closure.links) for parent in PurePosixPath(name).parents}
    with tarfile.open(fileobj=file, mode="w|", format=tarfile.USTAR_FORMAT) as tar:
        for folder in sorted((folders | set(_MOUNT_POINTS)) - {"."}):
            tar.addfile(_member(folder, kind=tarfile.DIRTYPE, mode=0o755))
        for name in sorted(closure.files):
            packed = closure.files[name]
            member = _member(name, mode=0o755 if packed.is_executable else 0o644, size=len(packed.content))
            tar.addfile(member, io.BytesIO(packed.content))
        for name, target in sorted(closure.links.items()):
            tar.addfile(_member(name, kind=tarfile.SYMTYPE, mode=0o777, target=target))


def pack_image(layer: bytes, *, tag: str) -> ImageArchive:
    """Return a layer as an image.

    Args:
        layer: From `pack_layer`.
        tag: Name under which the daemon shows the image; no part of its digest.
    """
    layer_digest = hashlib.sha256(layer).hexdigest()
    configuration = _encoded(_configuration(layer_digest))
    image_digest = hashlib.sha256(configuration).hexdigest()
    layer_name, configuration_name = f"{layer_digest}/layer.tar", f"{image_digest}.json"
    manifest = [{"Config": configuration_name, "RepoTags": [tag], "Layers": [layer_name]}]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(_member(layer_digest, kind=tarfile.DIRTYPE, mode=0o755))
        for name, content in (
            (f"{layer_digest}/VERSION", b"1.0"),
            (f"{layer_digest}/json", _encoded({"id": layer_digest})),
            (layer_name, layer),
            (configuration_name, configuration),
            ("manifest.json", _encoded(manifest)),
        ):
            tar.addfile(_member(name, mode=0o644, size=len(content)), io.BytesIO(content))
    return ImageArchive(buffer.getvalue(), f"sha256:{image_digest}", f"sha256:{layer_digest}")


def _configuration(layer_digest: str) -> dict[str, object]:
    return {
        "architecture": _ARCHITECTURES[os.uname().machine],
        "os": "linux",
        "created": _EPOCH,
        "config": {
            "Env": [f"{name}={value}" for name, value in sorted(ENVIRONMENT.items())],
            "User": f"{USER_ID}:{USER_ID}",
            "WorkingDir": "/",
            "Entrypoint": [INTERPRETER],
            "Labels": {"leakscale.python": sys.version.split()[0]},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
        "history": [{"created": _EPOCH, "created_by": "leakscale"}],
    }


def _encoded(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _member(name: str, *, mode: int, kind: bytes = tarfile.REGTYPE, size: int = 0, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.size, member.linkname = kind, mode, size, target
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member
