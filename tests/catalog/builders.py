"""Material of an audit, honest by default, and ways to spoil it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from leakscale_server.catalog_audit.material import AuthorFile, Material, build_material, practice_recipe
from leakscale_server.core.building.construction import Construction, RingForm
from leakscale_server.core.shapes import parse_shape

CATALOGS = Path(__file__).parents[2] / "catalogs"


def an_author_file(path: Path) -> AuthorFile:
    text = path.read_text(encoding="utf-8")
    return AuthorFile(parse_shape(text, source=path.name), path.name, hashlib.sha256(text.encode()).hexdigest())


@cache
def the_material(*names: str, families_per_cell: int = 4) -> Material:
    """Families of shipped shapes; of all of them by default."""
    paths = [CATALOGS / f"{name}.toml" for name in names] or sorted(CATALOGS.glob("*/*.toml"))
    files = [an_author_file(path) for path in paths]
    return build_material(practice_recipe(files, families_per_cell=families_per_cell))


def spoilt(material: Material, change: Callable[[Construction], Construction], *, at: int = 0) -> Material:
    """Return the material with one family changed."""
    families = list(material.families)
    families[at] = change(families[at])
    return dataclasses.replace(material, families=tuple(families))


def with_form(family: Construction, at: int, **changes: Any) -> Construction:
    """Return a family with one ring's form changed; `public` takes changes of the public part."""
    forms: list[RingForm] = list(family.forms)
    public = changes.pop("public", {})
    forms[at] = dataclasses.replace(forms[at], public=dataclasses.replace(forms[at].public, **public), **changes)
    first, second, third = forms
    return dataclasses.replace(family, forms=(first, second, third))
