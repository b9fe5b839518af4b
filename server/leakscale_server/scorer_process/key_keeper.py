"""Keep the vault's key out of the API process where it came by the environment.

A key in a variable is in the memory of who was started with it, and each new scorer needs it again. So the server forks
a keeper that holds nothing but the key, and becomes itself anew without it: what the kernel showed of its environment
and all of its memory is gone with that. The keeper writes the key into a pipe of which the scorer has the other end.

Does not guard against an API process that was taken over: it may ask the keeper, as it may read a key file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from typing import Final

from leakscale_server.store.vault_key import KEY_VARIABLE, VaultError

__all__ = ["KeyKeeper"]

_KEEPER_VARIABLE: Final = "LEAKSCALE_VAULT_KEY_KEEPER"


class KeyKeeper:
    """The other end of a keeper."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    @classmethod
    def hand_over(cls) -> KeyKeeper | None:
        """Give the key away and begin this process again; in the second life, return the keeper.

        Call it before a thread is started. Without a key in the environment there is no keeper and no second life.
        """
        descriptor = os.environ.pop(_KEEPER_VARIABLE, "")
        if descriptor:
            os.set_inheritable(int(descriptor), False)
            return cls(socket.socket(fileno=int(descriptor)))
        key = os.environ.pop(KEY_VARIABLE, "")
        if not key:
            return None
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            _keep(key.encode(), theirs)
        ours.set_inheritable(True)
        os.environ[_KEEPER_VARIABLE] = str(ours.fileno())
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - becomes itself without the key
        raise AssertionError("execv does not return")

    def pour(self) -> int:
        """Have the key written into a pipe, and return the descriptor of the end to read from.

        Raises:
            VaultError: If the keeper is gone.
        """
        reader, writer = os.pipe()
        try:
            socket.send_fds(self._channel, [b"k"], [writer])
        except OSError as error:
            os.close(reader)
            raise VaultError(f"the process that keeps {KEY_VARIABLE} is gone; start the server again") from error
        finally:
            os.close(writer)
        return reader


def _keep(key: bytes, channel: socket.socket) -> None:
    """Write the key into every pipe that comes, until nobody is left to send one."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    kept = channel.fileno()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    while True:
        message, pipes, _, _ = socket.recv_fds(channel, 1, 1)
        if not message:
            os._exit(0)
        for pipe in pipes:
            with contextlib.suppress(OSError):
                os.write(pipe, key)
            os.close(pipe)
