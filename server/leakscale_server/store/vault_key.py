"""The key of the vault: printed by a command, out of the environment, or out of a file of mode 0600 made on first use.

Only the scorer asks for it. Does not guard against code that runs as the same user: that may read the file, ask the
command, or trace the scorer where the system lets it.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from leakscale.whole_files import load_or_create
from leakscale_server.config import ConfigError

__all__ = ["KEY_BYTES", "KEY_VARIABLE", "VaultError", "read_vault_key"]

KEY_VARIABLE: Final = "LEAKSCALE_VAULT_KEY"
KEY_BYTES: Final = 32
_FORM: Final = re.compile(r"[0-9a-fA-F]{64}")
_RULE: Final = "a vault key is 64 hexadecimal digits, as `openssl rand -hex 32` prints"
_COMMAND_S_MAX: Final = 60.0


class VaultError(ConfigError):
    """The vault cannot be opened; the message says why and what to do, in one line without any byte of the key."""


def read_vault_key(
    data_dir: Path, *, command: str = "", environ: Mapping[str, str] = os.environ, descriptor: int | None = None
) -> bytes:
    """Return the key: what the command prints, else what the environment holds, else what the file does.

    Args:
        data_dir: Holds `vault.db`, and `vault.key` where neither command nor environment gives a key.
        command: Program and arguments, run without a shell; a hook for a key management system. Empty for none.
        environ: Where `LEAKSCALE_VAULT_KEY` is looked for.
        descriptor: Pipe with what the environment held before; read to its end and closed. None for none.

    Raises:
        VaultError: If a source gives no key, the file is open to others, or it is gone while there is a vault.
    """
    if command:
        return _parse(_ask(command), source="--vault-key-command")
    if descriptor is not None:
        with os.fdopen(descriptor, encoding="ascii", errors="replace") as pipe:
            return _parse(pipe.read(), source=KEY_VARIABLE)
    if KEY_VARIABLE in environ:
        return _parse(environ[KEY_VARIABLE], source=KEY_VARIABLE)
    return _from_file(data_dir / "vault.key", vault=data_dir / "vault.db")


def _ask(command: str) -> str:
    try:
        arguments = shlex.split(command)
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMMAND_S_MAX, check=False
        )
    except (OSError, ValueError, IndexError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise VaultError(f"--vault-key-command cannot be run ({reason}); give a program and its arguments") from error
    except subprocess.TimeoutExpired as error:
        raise VaultError(f"--vault-key-command printed no key within {_COMMAND_S_MAX:.0f} s; repair it") from error
    if done.returncode != 0:
        raise VaultError(f"--vault-key-command ended with status {done.returncode} and gave no key; repair it")
    return done.stdout.decode(errors="replace")


def _from_file(path: Path, *, vault: Path) -> bytes:
    if not path.exists() and vault.exists() and vault.stat().st_size:
        raise VaultError(
            f"{vault} is there and {path.name} is not: the key was lost, and without it nothing in the vault can be "
            f"read; restore the file from a copy, or set {KEY_VARIABLE}"
        )
    text = load_or_create(path, _new_key)
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise VaultError(f"{path} has mode {mode:04o} and is open to others; run `chmod 600 {path}`")
    return _parse(text.decode(errors="replace"), source=str(path))


def _parse(text: str, *, source: str) -> bytes:
    digits = text.strip()
    if not _FORM.fullmatch(digits):
        raise VaultError(f"{source} gives {len(digits)} characters that are no key; {_RULE}")
    return bytes.fromhex(digits)


def _new_key() -> bytes:
    return f"{secrets.token_hex(KEY_BYTES)}\n".encode()
