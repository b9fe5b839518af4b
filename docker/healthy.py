"""Exit with 0 if the server that listens for HTTP at a URL says that it serves, else with 1 and one line.

    python3 healthy.py https://127.0.0.1:7480

Standard library only. The certificate is not checked: it is for the name by which others know the server, and this asks
from within its container, with no token that could be lost.
"""

from __future__ import annotations

import json
import ssl
import sys
import urllib.request


def main(url: str) -> int:
    """Ask once."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    request = urllib.request.Request(  # noqa: S310 - whoever names the URL runs the server
        f"{url}/grpc.health.v1.Health/Check", b"{}", {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=4, context=context) as response:  # noqa: S310
            status = str(json.load(response).get("status"))
    except (OSError, ValueError) as error:
        status = f"no answer from {url}: {error}"
    if status != "SERVING":
        sys.stderr.write(f"{status}\n")
    return int(status != "SERVING")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
