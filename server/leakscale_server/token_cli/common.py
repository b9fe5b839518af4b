"""What all verbs do: open the registry of a data folder, read durations, speak, and fail in one line."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from leakscale_server.config import ConfigError

if TYPE_CHECKING:
    from leakscale_server.identity.token_registry import IssuedToken, StoredToken, TokenRegistry
    from leakscale_server.store.database import InsertOnlyDatabase
    from leakscale_server.store.ledger import Ledger

__all__ = [
    "DataDirOption",
    "JsonOption",
    "duration",
    "ending_in_one_line",
    "facts_of",
    "opened_ledger",
    "opened_registry",
    "opened_tokens",
    "said_time",
    "say",
    "say_issued",
]

DataDirOption = Annotated[Path, typer.Option(help="Data folder of the server; it may be running.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]

_USAGE, _UNAVAILABLE = 2, 3
_DURATION: Final = re.compile(r"(\d{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration(text: str, *, option: str) -> timedelta:
    """Read a duration such as `90d`, `12h`, `30m` or `45s`.

    Raises:
        ConfigError: If it is none.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ConfigError(
            f"{option} {text}: write a number of at most six digits and a unit, as in 90d, 12h, 30m or 45s"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


@contextmanager
def opened_registry(data_dir: Path) -> Iterator[InsertOnlyDatabase]:
    """Open the registry of a server's data folder.

    Raises:
        ConfigError: If the folder is no server's, or has another format.
    """
    # They load a database library, which other commands of the server's do not need.
    from leakscale_server.store.data_folder import require_format  # noqa: PLC0415
    from leakscale_server.store.registry_tables import open_registry  # noqa: PLC0415

    if not (data_dir / "registry.db").is_file():
        raise ConfigError(
            f"--data-dir {data_dir}: it holds no registry; start a server on it first, with "
            f"`leakscale-server --data-dir {data_dir}`"
        )
    require_format(data_dir)
    registry = open_registry(data_dir)
    try:
        yield registry
    finally:
        registry.close()


@contextmanager
def opened_ledger(data_dir: Path) -> Iterator[tuple[InsertOnlyDatabase, Ledger]]:
    """Open the registry of a server's data folder and its ledger.

    Raises:
        ConfigError: If the folder is no server's, or has another format.
    """
    from leakscale_server.store.ledger import Ledger  # noqa: PLC0415 - loads cryptography
    from leakscale_server.store.signing import Signer  # noqa: PLC0415

    with opened_registry(data_dir) as registry:
        yield registry, Ledger(registry, Signer.load_or_create(data_dir / "signing.key"))


@contextmanager
def opened_tokens(data_dir: Path) -> Iterator[TokenRegistry]:
    """Open the tokens of a server's data folder.

    Raises:
        ConfigError: If the folder is no server's, or has another format.
    """
    from leakscale_server.identity.token_registry import TokenRegistry  # noqa: PLC0415 - loads gRPC

    with opened_registry(data_dir) as registry:
        yield TokenRegistry(registry)


@contextmanager
def ending_in_one_line(*, as_json: bool) -> Iterator[None]:
    """Turn what may go wrong into one line on standard error and an exit code: 2 for the asker, 3 for this host."""
    from leakscale_server.errors import ServerFault  # noqa: PLC0415

    try:
        yield
    except (ConfigError, ServerFault) as error:
        code, message = _USAGE, str(error)
    except (OSError, sqlite3.Error) as error:
        code, message = _UNAVAILABLE, f"the data folder cannot be used: {error}"
    else:
        return
    line = " ".join(message.split())
    sys.stderr.write(json.dumps({"error": {"message": line, "exit_code": code}}) if as_json else f"error: {line}")
    sys.stderr.write("\n")
    raise typer.Exit(code)


def facts_of(token: StoredToken) -> dict[str, Any]:
    """Return what may be shown of a token: everything but its digest."""
    caller = token.caller
    return {
        "token_id": caller.token_id,
        "principal": caller.principal,
        "project": caller.project,
        "role": caller.role.value,
        "scopes": sorted(caller.scopes),
        "create_time": said_time(token.create_time),
        "end_time": said_time(token.end_time),
    }


def said_time(moment: datetime | None) -> str | None:
    """Write a time in UTC to the second; None stays None."""
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def say(value: Any) -> None:
    """Print one JSON value."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def say_issued(issued: IssuedToken, *, as_json: bool, note: str = "") -> None:
    """Print a new token: alone on standard output, so that `TOKEN=$(…)` takes it, and about it on standard error."""
    facts = facts_of(issued.stored)
    if as_json:
        say({"token": issued.text, **facts})
        return
    sys.stdout.write(issued.text + "\n")
    sys.stderr.write(
        f"{facts['role']} token {facts['token_id']} of {facts['principal']} in project {facts['project']}, "
        f"until {facts['end_time'] or 'it is revoked'}; it is shown this once{note}\n"
    )
