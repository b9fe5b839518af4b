"""`leakscale-server catalog new`: a shape file to begin with, which passes its check as it is."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

import typer

from leakscale.models import Domain
from leakscale_server.catalog_cli.ending import JsonOption, ending_in_one_line, say_json, say_lines
from leakscale_server.sandbox_cli.pool import InputError

__all__ = ["new"]

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ID_CHARACTERS_MAX: Final = 48


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case words joined by dashes, e.g. my-family.")],
    *,
    domain: Annotated[Domain, typer.Option(help="Language of the programs.")] = Domain.SQL,
    folder: Annotated[Path, typer.Option(help="Where NAME.toml goes.")] = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write NAME.toml: a whole shape with a comment at every field, to be changed into one of your own."""
    with ending_in_one_line(as_json=as_json):
        shape_id = f"{domain}-{name}"
        if not _NAME.fullmatch(name) or len(shape_id) > _ID_CHARACTERS_MAX:
            raise InputError(
                f"'{name}' is no name of a shape: use lower-case words joined by dashes, and at most "
                f"{_ID_CHARACTERS_MAX - len(domain) - 1} characters, such as my-family"
            )
        path = folder / f"{name}.toml"
        template = files("leakscale_server.catalog_cli").joinpath(f"templates/{domain}.toml").read_text("utf-8")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(template.replace("NAME", name))
        except FileExistsError as error:
            raise InputError(f"'{path}' exists; choose another name, or remove the file") from error
        if as_json:
            say_json({"path": str(path), "shape": shape_id})
        else:
            say_lines([f"wrote {path}; check it with `leakscale catalog check {path}`"])
