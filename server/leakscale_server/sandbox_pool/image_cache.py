"""Remember which image this interpreter gives, so that it is built once and not at every start.

The cache is keyed by size and time of every file that goes in, this package's own recipe included. Deleting it costs
one rebuild. An unpacked root file system is read back and compared with its digest before it is used: a certificate
names what ran, not what was once unpacked.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from leakscale_server.sandbox_pool import archive, closure

__all__ = ["ImageCache", "ImageNames"]

_NULL_DEVICE = "dev/null"
_RECIPE_FILES = (Path(archive.__file__), Path(closure.__file__))


@dataclass(frozen=True, slots=True)
class ImageNames:
    """What an image is called, without the image."""

    image_digest: str
    layer_digest: str

    @property
    def tag(self) -> str:
        """Return the name under which a daemon shows the image."""
        return f"leakscale-sandbox:{self.layer_digest.removeprefix('sha256:')[:16]}"


class ImageCache:
    """The image of the running interpreter, built when somebody needs it."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "sandbox"
        self._folder.mkdir(parents=True, exist_ok=True)

    def names(self) -> ImageNames:
        """Return the image's names, from the cache if nothing changed since they were computed."""
        record = self._folder / f"{self._key}.json"
        try:
            return ImageNames(**json.loads(record.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            names = ImageNames(self._archive.image_digest, self._archive.layer_digest)
        _replace(record, json.dumps(asdict(names)).encode())
        return names

    def build(self) -> archive.ImageArchive:
        """Return the image itself."""
        return self._archive

    def root_folder(self) -> Path:
        """Return a folder that holds exactly the image's files."""
        digest = self.names().layer_digest
        folder = self._folder / f"rootfs-{digest.removeprefix('sha256:')[:32]}"
        if folder.is_dir() and _layer_digest(archive.pack_layer(_read_back(folder))) != digest:
            shutil.rmtree(folder)
        if not folder.is_dir():
            self._unpack(folder)
        return folder

    def _unpack(self, folder: Path) -> None:
        """Unpack beside and rename, so that a folder of that name is always whole."""
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=self._folder))
        try:
            _unpack_layer(self._layer, unfinished)
            # Somewhere to bind the one device that a worker needs.
            (unfinished / _NULL_DEVICE).touch()
            unfinished.chmod(0o755)
            unfinished.rename(folder)
        except OSError:
            shutil.rmtree(unfinished, ignore_errors=True)
            # Another process may have been faster, and then its folder serves as well.
            if not folder.is_dir():
                raise

    @cached_property
    def _sources(self) -> closure.Sources:
        return closure.find_sources()

    @cached_property
    def _key(self) -> str:
        digest = hashlib.sha256(str(shutil.which("strip")).encode())
        for path in (*self._sources.all_paths(), *_RECIPE_FILES):
            facts = path.stat()
            digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
        return digest.hexdigest()[:32]

    @cached_property
    def _layer(self) -> bytes:
        return archive.pack_layer(closure.collect(self._sources))

    @cached_property
    def _archive(self) -> archive.ImageArchive:
        layer = self._layer
        names = ImageNames("", _layer_digest(layer))
        return archive.pack_image(layer, tag=names.tag)


def _layer_digest(layer: bytes) -> str:
    return "sha256:" + hashlib.sha256(layer).hexdigest()


def _read_back(folder: Path) -> closure.Closure:
    """Return an unpacked layer as the closure that it came from."""
    files: dict[str, closure.ImageFile] = {}
    links: dict[str, str] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            links[name] = str(path.readlink())
        elif path.is_file() and name != _NULL_DEVICE:
            files[name] = closure.ImageFile(path.read_bytes(), os.access(path, os.X_OK))
    return closure.Closure(files, links)


def _unpack_layer(layer: bytes, folder: Path) -> None:
    """Write a layer of our own making: folders, files and links only. Python 3.11.2's extractall has no filters yet."""
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        for member in tar:
            path = folder / member.name
            if member.isdir():
                path.mkdir()
            elif member.issym():
                path.symlink_to(member.linkname)
            elif (file := tar.extractfile(member)) is not None:
                path.write_bytes(file.read())
                path.chmod(member.mode)


def _replace(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)  # noqa: PTH105 - both are strings of one folder
