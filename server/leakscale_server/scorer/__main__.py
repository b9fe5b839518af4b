"""Become the scorer of a server: `python -m leakscale_server.scorer DESCRIPTOR`, started by the server alone."""

from __future__ import annotations

import socket
import sys

from leakscale_server.scorer.child import run

if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])))
