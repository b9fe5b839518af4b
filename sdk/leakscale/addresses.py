"""Which addresses stay on this machine; a token may travel in the clear to no other."""

from __future__ import annotations

import ipaddress

__all__ = ["is_local"]


def is_local(address: str) -> bool:
    """Tell whether `host:port` is a loopback address, or the address a UNIX socket (`unix:PATH`).

    A host name other than `localhost` is not looked up: what it names may change between the look and the call.
    """
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        return False
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        return False  # an IPv6 address without brackets: where it ends and the port begins is anybody's guess
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
