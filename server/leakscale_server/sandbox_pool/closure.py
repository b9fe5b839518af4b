"""Collect the running interpreter's closure: everything the image needs, and nothing else.

Works for a virtual environment on Debian's python3 as for a build of pyenv or of python-build-standalone: the real
executable, its standard library, and the shared libraries that the dynamic loader itself names. All of it moves to
/usr/local, so that the image looks the same whatever the host looks like. There is no shell in it.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import CodeType

__all__ = ["Closure", "ImageFile", "Sources", "collect", "find_sources"]

PREFIX = PurePosixPath("usr/local")
_SKIPPED_FOLDERS = frozenset(
    {"__pycache__", "dist-packages", "ensurepip", "idle_test", "idlelib", "lib2to3", "pydoc_data", "site-packages"}
    | {"test", "tests", "tkinter", "turtledemo", "unittest", "venv", "wsgiref", "xmlrpc"}
)
_SKIPPED_MODULES = re.compile(
    r"(_test|_xx|xxlimited|_tkinter|_curses|_dbm|_gdbm|nis|ossaudiodev|readline|_ctypes_test)"
)
_STRIPPED_BYTES_MIN = 256 << 10
_USERS = b"root:x:0:0:root:/:/nonexistent\nnobody:x:65534:65534:nobody:/:/nonexistent\n"
_GROUPS = b"root:x:0:\nnogroup:x:65534:\n"


@dataclass(frozen=True, slots=True)
class ImageFile:
    """One regular file of the image."""

    content: bytes
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """Files and symbolic links of the image, by path without the leading slash."""

    files: Mapping[str, ImageFile]
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where on this host the parts of the image come from."""

    executable: Path
    loader: Path
    libraries: tuple[Path, ...]
    modules: tuple[tuple[PurePosixPath, Path], ...]
    """Path within the standard library, and path on this host."""

    def all_paths(self) -> list[Path]:
        """Return every file that the image is made from."""
        return [self.executable, self.loader, *self.libraries, *(path for _, path in self.modules)]


def find_sources() -> Sources:
    """Find the parts without reading them.

    Raises:
        OSError: If the interpreter is not a dynamic ELF executable, or the loader cannot be run.
    """
    executable = Path(sys.executable).resolve()
    loader = _loader_of(executable)
    modules = tuple(_walk(Path(sysconfig.get_path("stdlib"))))
    extensions = [path for _, path in modules if path.suffix == ".so"]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        found = workers.map(lambda path: _libraries_of(loader, path), [executable, *extensions])
        libraries = sorted({library for names in found for library in names})
    return Sources(executable, loader, tuple(libraries), modules)


def collect(sources: Sources) -> Closure:
    """Read, strip and compile the parts. The same parts give the same closure, in any process."""
    library_folder = PREFIX / "lib"
    module_folder = PREFIX / sys.platlibdir / Path(sysconfig.get_path("stdlib")).name
    binaries = {
        str(PREFIX / "bin" / "python3"): sources.executable,
        **{str(library_folder / path.name): path for path in sources.libraries},
        **{str(module_folder / name): path for name, path in sources.modules if path.suffix == ".so"},
    }
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        contents = workers.map(_stripped, binaries.values())
        files = {name: ImageFile(content, True) for name, content in zip(binaries, contents, strict=True)}
    files[str(sources.loader).lstrip("/")] = ImageFile(sources.loader.read_bytes(), True)
    for name, path in sources.modules:
        if path.suffix == ".py":
            files.update(_module_files(module_folder / name, path.read_bytes()))
    files["etc/passwd"] = ImageFile(_USERS)
    files["etc/group"] = ImageFile(_GROUPS)
    return Closure(files, {str(PREFIX / "bin" / "python"): "python3"})


def _walk(stdlib: Path) -> list[tuple[PurePosixPath, Path]]:
    found: list[tuple[PurePosixPath, Path]] = []
    for folder, subfolders, names in os.walk(stdlib):
        subfolders[:] = sorted(set(subfolders) - _SKIPPED_FOLDERS)
        subfolders[:] = [name for name in subfolders if not name.startswith("config-")]
        for name in sorted(names):
            path = Path(folder, name)
            is_extension = name.endswith(".so") and not _SKIPPED_MODULES.match(name)
            if (is_extension or name.endswith(".py")) and path.is_file():
                found.append((PurePosixPath(path.relative_to(stdlib)), path))
    return found


def _loader_of(executable: Path) -> Path:
    """Read the dynamic loader's path (PT_INTERP) out of a 64-bit ELF file."""
    with executable.open("rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            raise OSError(f"{executable.name} is not a 64-bit ELF executable")
        (table,) = struct.unpack_from("<Q", header, 32)
        entry_bytes, entry_count = struct.unpack_from("<HH", header, 54)
        for number in range(entry_count):
            file.seek(table + number * entry_bytes)
            kind, _, offset, _, _, size = struct.unpack("<IIQQQQ", file.read(40))
            if kind == 3:  # PT_INTERP
                file.seek(offset)
                return Path(file.read(size).rstrip(b"\0").decode())
    raise OSError(f"{executable.name} is linked statically")


def _libraries_of(loader: Path, path: Path) -> set[Path]:
    """Ask the loader itself, as ldd does; ldd is a shell script that a small image may lack."""
    listing = subprocess.run([loader, "--list", path], capture_output=True, text=True, check=False).stdout
    return {Path(found) for found in re.findall(r"=> (/\S+)", listing) if Path(found) != loader}


def _stripped(path: Path) -> bytes:
    """Return a binary without its debugging symbols, which can be most of it; as it is where `strip` is missing."""
    content = path.read_bytes()
    strip = shutil.which("strip")
    if strip is None or len(content) < _STRIPPED_BYTES_MIN:
        return content
    with tempfile.NamedTemporaryFile() as stripped:
        done = subprocess.run([strip, "--strip-unneeded", "-o", stripped.name, path], capture_output=True, check=False)
        return Path(stripped.name).read_bytes() if done.returncode == 0 else content


def _module_files(name: PurePosixPath, source: bytes) -> dict[str, ImageFile]:
    files = {str(name): ImageFile(source)}
    try:
        code = compile(source, f"/{name}", "exec", dont_inherit=True, optimize=0)
    except SyntaxError:  # templates of lib2to3 and the like
        return files
    cached = name.parent / "__pycache__" / f"{name.stem}.{sys.implementation.cache_tag}.pyc"
    files[str(cached)] = ImageFile(_unchecked_pyc(source, code))
    return files


def _unchecked_pyc(source: bytes, code: CodeType) -> bytes:
    """Return a hash-based .pyc that is never checked again: it holds no time stamp."""
    flags = struct.pack("<I", 0b01)
    # Version 2 writes no back references: which objects newer versions refer back to depends on reference counts, and
    # so on what else the building process has imported.
    return importlib.util.MAGIC_NUMBER + flags + importlib.util.source_hash(source) + marshal.dumps(code, 2)
