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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from leakscale_server.sandbox_pool import archive, closure
from leakscale_server.sandbox_pool.image_build import ImageNames, build_image

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["BuiltImage", "ImageCache", "ImageNames"]

_NULL_DEVICE = "dev/null"
_RECIPE_FILES = (Path(archive.__file__), Path(closure.__file__))


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image, as a file."""

    names: ImageNames
    archive: Path
    """What `docker save` would write."""


class ImageCache:
    """The image of the running interpreter, built when somebody needs it."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "sandbox"
        self._folder.mkdir(parents=True, exist_ok=True)

    def names(self) -> ImageNames:
        """Return the image's names, from the cache if nothing changed since they were computed.

        Raises:
            OSError: If it cannot be built.
        """
        if (known := self.known()) is not None:
            return known
        with self.built() as image:
            return image.names

    def known(self) -> ImageNames | None:
        """Return the image's names if the cache has them; None where it has to be built."""
        try:
            return ImageNames(**json.loads(self._record.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    @contextmanager
    def built(self) -> Iterator[BuiltImage]:
        """Build the image, in a process of its own; its file is there until the block ends.

        Raises:
            OSError: If it cannot be built.
        """
        with tempfile.TemporaryDirectory(prefix="unfinished-", dir=self._folder) as folder:
            path = Path(folder, "image.tar")
            names = build_image(path)
            _replace(self._record, json.dumps(asdict(names)).encode())
            yield BuiltImage(names, path)

    def root_folder(self) -> Path:
        """Return a folder that holds exactly the image's files.

        Raises:
            OSError: If they cannot be built or unpacked.
        """
        known = self.known()
        if known is not None and _layer_digest(self._root(known)) == known.layer_digest:
            return self._root(known)
        with self.built() as image:
            folder = self._root(image.names)
            if folder.is_dir() and _layer_digest(folder) != image.names.layer_digest:
                shutil.rmtree(folder)
            if not folder.is_dir():
                self._unpack(image.archive, folder)
        return folder

    def _root(self, names: ImageNames) -> Path:
        return self._folder / f"rootfs-{names.layer_digest.removeprefix('sha256:')[:32]}"

    def _unpack(self, image: Path, folder: Path) -> None:
        """Unpack beside and rename, so that a folder of that name is always whole."""
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=self._folder))
        try:
            _unpack_layer(image, unfinished)
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
    def _record(self) -> Path:
        sources = closure.find_sources()
        digest = hashlib.sha256(str(shutil.which("strip")).encode())
        for path in (*sources.all_paths(), *_RECIPE_FILES):
            facts = path.stat()
            digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
        return self._folder / f"{digest.hexdigest()[:32]}.json"


class _Digest(io.BufferedIOBase):
    """A file that keeps nothing of what is written to it but the digest."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()

    def write(self, data: Buffer, /) -> int:
        self._state.update(data)
        return memoryview(data).nbytes

    def __str__(self) -> str:
        return f"sha256:{self._state.hexdigest()}"


class _FilesBelow(Mapping[str, closure.ImageFile]):
    """The files of an unpacked layer, each read when it is asked for: together they are fifty megabytes."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self._folder, self._names = folder, names

    def __getitem__(self, name: str) -> closure.ImageFile:
        path = self._folder / name
        return closure.ImageFile(path.read_bytes(), os.access(path, os.X_OK))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _layer_digest(folder: Path) -> str:
    """Return the digest of the layer that a folder was unpacked from; of one that is not there, of an empty layer."""
    digest = _Digest()
    archive.write_layer(_read_back(folder), digest)
    return str(digest)


def _read_back(folder: Path) -> closure.Closure:
    """Return an unpacked layer as the closure that it came from."""
    names: list[str] = []
    links: dict[str, str] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            links[name] = str(path.readlink())
        elif path.is_file() and name != _NULL_DEVICE:
            names.append(name)
    return closure.Closure(_FilesBelow(folder, names), links)


def _unpack_layer(image: Path, folder: Path) -> None:
    """Write a layer of our own making: folders, files and links only. Python 3.11.2's extractall has no filters yet."""
    with tarfile.open(image) as outer:
        layer = next(outer.extractfile(member) for member in outer if member.name.endswith("/layer.tar"))
        with tarfile.open(fileobj=layer) as tar:
            for member in tar:
                path = folder / member.name
                if member.isdir():
                    path.mkdir()
                elif member.issym():
                    path.symlink_to(member.linkname)
                elif (file := tar.extractfile(member)) is not None:
                    with file, path.open("wb") as target:
                        shutil.copyfileobj(file, target)
                    path.chmod(member.mode)


def _replace(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)  # noqa: PTH105 - both are strings of one folder
