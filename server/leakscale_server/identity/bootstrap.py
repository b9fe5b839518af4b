"""The token that a server makes for itself on its first start: an admin's, kept in the file `token`."""

from __future__ import annotations

import hmac

from leakscale_server.errors import TokenRefused
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role

__all__ = ["BOOTSTRAP_PROJECT", "BootstrapToken"]

BOOTSTRAP_PROJECT = "default"


class BootstrapToken:
    """The one token that no command makes. Who reads the data folder owns the server anyway."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._caller = Caller("bootstrap", "bootstrap", BOOTSTRAP_PROJECT, Role.ADMIN, ROLE_SCOPES[Role.ADMIN])

    def caller(self, token: str) -> Caller:
        """Return whom it stands for.

        Raises:
            TokenRefused: If the token is another; compared in constant time.
        """
        if not hmac.compare_digest(token.encode(), self._token):
            raise TokenRefused(
                "the token is not this server's; ask its administrator for one, or read the file `token` of its data "
                "folder"
            )
        return self._caller
