"""The token that a server makes for itself on its first start: an admin's, kept in the file `token`."""

from __future__ import annotations

import hmac
import re
import secrets
from pathlib import Path
from typing import Final

from leakscale.whole_files import load_or_create
from leakscale_server.config import ConfigError
from leakscale_server.errors import TokenRefused
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role

__all__ = ["BOOTSTRAP_PROJECT", "BootstrapToken"]

BOOTSTRAP_PROJECT = "default"
_TOKEN: Final = re.compile(r"lsk_[0-9a-f]{64}")


class BootstrapToken:
    """The one token that no command makes. Who reads the data folder owns the server anyway."""

    def __init__(self, token: str) -> None:
        self.text = token
        self._token = token.encode()
        self._caller = Caller("bootstrap", "bootstrap", BOOTSTRAP_PROJECT, Role.ADMIN, ROLE_SCOPES[Role.ADMIN])

    @classmethod
    def kept_in(cls, path: Path) -> BootstrapToken:
        """Read the token, or make it on first use.

        Raises:
            ConfigError: If the file holds none.
        """
        token = load_or_create(path, _new_token).decode(errors="replace").strip()
        if not _TOKEN.fullmatch(token):
            raise ConfigError(f"{path} holds no token; delete it, and the server makes a new one")
        return cls(token)

    def caller(self, token: str) -> Caller:
        """Return whom it stands for.

        Raises:
            TokenRefused: If the token is another; compared in constant time.
        """
        if not hmac.compare_digest(token.encode(), self._token):
            raise TokenRefused
        return self._caller


def _new_token() -> bytes:
    return f"lsk_{secrets.token_hex(32)}\n".encode()
