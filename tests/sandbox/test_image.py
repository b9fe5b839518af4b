"""The image: a function of the interpreter alone."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from leakscale_server.sandbox_pool import open_backend
from leakscale_server.sandbox_pool.archive import pack_image, pack_layer
from leakscale_server.sandbox_pool.bundle import worker_digest, worker_source
from leakscale_server.sandbox_pool.closure import Closure, ImageFile, collect, find_sources
from leakscale_server.sandbox_pool.image_build import build_image
from leakscale_server.sandbox_pool.image_cache import ImageCache

PRINT_DIGEST = """
import sys, decimal, sqlite3, asyncio  # another state of the process must not show
from pathlib import Path
from leakscale_server.sandbox_pool.image_cache import ImageCache
print(ImageCache(Path(sys.argv[1])).names().image_digest)
"""
PRINT_GROWTH = """
import resource, sys
from pathlib import Path
from leakscale_server.sandbox_pool.image_cache import ImageCache
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
for _ in range(2):  # built and unpacked, then read back and compared
    folder = ImageCache(Path(sys.argv[1])).root_folder()
print(peak() - before, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024)
"""


@pytest.fixture(scope="module")
def layer() -> bytes:
    return pack_layer(collect(find_sources()))


def test_the_image_is_the_same_from_another_process(layer: bytes, tmp_path: Path) -> None:
    """Its digest is in every certificate; a stranger must be able to make it again."""
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    told = subprocess.run(
        [sys.executable, "-c", PRINT_DIGEST, str(tmp_path)], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()

    assert told == pack_image(layer, tag="any:tag").image_digest


def test_the_image_holds_no_shell_and_no_path_of_this_host(layer: bytes) -> None:
    """Nothing to run but the interpreter, nothing to learn about the machine that made it."""
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        names = tar.getnames()
        executables = {name for name in names if name.startswith("usr/local/bin/")}

    assert executables == {"usr/local/bin/python3", "usr/local/bin/python"}
    assert not any(name.endswith(("/sh", "/bash", "/busybox")) for name in names)
    assert not any(name.startswith(("root/", "home/", "etc/ssl")) for name in names)
    assert any("_sqlite3" in name for name in names)
    assert len(names) == len(set(names))


def test_the_archive_is_named_by_its_configuration(layer: bytes) -> None:
    """The daemon computes the same name, so a loaded image can be told from another."""
    image = pack_image(layer, tag="leakscale-sandbox:x")

    with tarfile.open(fileobj=io.BytesIO(image.content)) as tar:
        manifest = json.load(tar.extractfile("manifest.json") or io.BytesIO())[0]
        configuration = (tar.extractfile(manifest["Config"]) or io.BytesIO()).read()

    assert image.image_digest == "sha256:" + hashlib.sha256(configuration).hexdigest()
    assert json.loads(configuration)["rootfs"]["diff_ids"] == [image.layer_digest]
    assert json.loads(configuration)["config"]["User"] == "65534:65534"


def test_a_layer_depends_on_names_and_contents_only() -> None:
    """Neither the order of collecting nor a time stamp may show."""
    one = Closure({"a/b": ImageFile(b"1"), "c": ImageFile(b"2", True)}, {"d": "c"})
    other = Closure({"c": ImageFile(b"2", True), "a/b": ImageFile(b"1")}, {"d": "c"})

    assert pack_layer(one) == pack_layer(other)
    assert pack_layer(one) != pack_layer(Closure({"a/b": ImageFile(b"1"), "c": ImageFile(b"2")}, {"d": "c"}))


def test_a_closure_without_strip_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """`strip` comes with a compiler, which a fresh machine need not have."""
    monkeypatch.setenv("PATH", "/nonexistent")

    closure = collect(find_sources())

    assert "usr/local/bin/python3" in closure.files


def test_names_are_remembered(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second start must not build the image again."""
    first = ImageCache(state_dir).names()
    # What would build it now is not there.
    monkeypatch.setattr(sys, "executable", "/nonexistent")
    again = ImageCache(state_dir)
    vars(again)["_record"] = next((state_dir / "sandbox").glob("*.json"))

    assert again.known() == again.names() == first


def test_an_image_takes_no_memory_of_the_process_that_needs_it(tmp_path: Path) -> None:
    """It is the scorer, whose memory is bounded for as long as it runs; an image is built once."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    told = subprocess.run(
        [sys.executable, "-c", PRINT_GROWTH, str(tmp_path)], env=environment, capture_output=True, text=True, check=True
    ).stdout
    growth_kib, image_kib = map(int, told.split())

    assert image_kib > 20_000
    assert growth_kib < image_kib // 2


def test_an_image_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    """A full disk is the likeliest reason, and the server tells whoever starts it."""
    with pytest.raises(OSError, match=r"^the sandbox image is not built: .*No such file or directory"):
        build_image(tmp_path / "missing" / "image.tar")


def test_a_broken_cache_is_rebuilt(tmp_path: Path) -> None:
    """A disk that was full left half a file."""
    first = ImageCache(tmp_path).names()
    for record in (tmp_path / "sandbox").glob("*.json"):
        record.write_text("{")

    assert ImageCache(tmp_path).names() == first


def test_a_changed_root_folder_is_not_used(tmp_path: Path) -> None:
    """A certificate names the digest; a folder that no longer holds those files must not run under it."""
    cache = ImageCache(tmp_path)
    json_module = next(cache.root_folder().rglob("json/__init__.py"))
    honest = json_module.read_bytes()
    json_module.write_bytes(honest + b"# changed")

    again = next(ImageCache(tmp_path).root_folder().rglob("json/__init__.py"))

    assert again.read_bytes() == honest


@pytest.mark.docker
def test_the_daemon_agrees_about_the_image(state_dir: Path) -> None:
    """The name that goes into certificates is the one that the daemon runs."""
    docker = pytest.importorskip("docker")
    backend = open_backend("docker", state_dir=state_dir)
    names = ImageCache(state_dir).names()
    client = docker.from_env()
    image = client.images.get(names.tag)
    client.close()
    backend.close()

    assert backend.image_digest == names.image_digest
    assert image.attrs["RootFS"]["Layers"] == [names.layer_digest]


def test_the_worker_fits_one_argument_and_has_a_digest() -> None:
    """The kernel takes 128 KiB an argument; the digest is in every certificate."""
    source = worker_source()

    compile(source, "worker", "exec")
    assert len(source.encode()) < 120 << 10
    assert worker_digest() == "sha256:" + hashlib.sha256(source.encode()).hexdigest()
