"""Build the image in a process of its own, which gives back all the memory that it takes: half a dozen times the image.

    python -m leakscale_server.sandbox_pool.image_build ARCHIVE

writes what `docker save` would write, and prints the image's names as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from leakscale_server.sandbox_pool.archive import pack_image, pack_layer
from leakscale_server.sandbox_pool.closure import collect, find_sources

__all__ = ["ImageNames", "build_image"]


@dataclass(frozen=True, slots=True)
class ImageNames:
    """What an image is called, without the image."""

    image_digest: str
    layer_digest: str

    @property
    def tag(self) -> str:
        """Return the name under which a daemon shows the image."""
        return f"leakscale-sandbox:{self.layer_digest.removeprefix('sha256:')[:16]}"


def build_image(archive: Path) -> ImageNames:
    """Write the image of this interpreter into a file, and return its names.

    Raises:
        OSError: If it cannot be built or written.
    """
    # Whatever made this package importable here need not be in the environment.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(archive)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise OSError(f"the sandbox image is not built: {(done.stderr.splitlines() or ['killed'])[-1]}")
    return ImageNames(**json.loads(done.stdout))


def main() -> None:
    """Build it, here."""
    layer = pack_layer(collect(find_sources()))
    image = pack_image(layer, tag=ImageNames("", f"sha256:{hashlib.sha256(layer).hexdigest()}").tag)
    Path(sys.argv[1]).write_bytes(image.content)
    print(json.dumps(asdict(ImageNames(image.image_digest, image.layer_digest))))  # noqa: T201 - to who asked


if __name__ == "__main__":
    main()
