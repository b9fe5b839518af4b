"""`leakscale-server catalog check`: does an author's file keep every rule, and if not, why?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from leakscale.progress import shown_progress
from leakscale_server.catalog_audit.material import Recipe, practice_recipe
from leakscale_server.catalog_check.check import BrokenFile, check_construction, check_families, read_author_files
from leakscale_server.catalog_check.report import CheckReport, ShapeCheck
from leakscale_server.catalog_cli.ending import ExitCode, JsonOption, ending_in_one_line, note, say_json, say_lines
from leakscale_server.catalog_cli.files import find_files
from leakscale_server.config import ServerConfig
from leakscale_server.sandbox_cli.pool import (
    BackendOption,
    CacheDirOption,
    InputError,
    LanesOption,
    RayAddressOption,
    RuntimeOption,
    open_pool,
)
from leakscale_server.sandbox_pool import SandboxPool

__all__ = ["FamiliesOption", "SeedOption", "check", "require_families"]

FamiliesOption = Annotated[int, typer.Option(help="Families in one shape and condition: 4, 8, 12 or 16.")]
SeedOption = Annotated[int, typer.Option(help="Root of the practice seeds: other families of the same shapes.")]


def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Shape files, or folders of them.")],
    *,
    families_per_cell: FamiliesOption = 4,
    seed: SeedOption = 0,
    html: Annotated[Path | None, typer.Option(help="Write every family's table to this page, too.")] = None,
    backend: BackendOption = "auto",
    docker_runtime: RuntimeOption = "",
    ray_address: RayAddressOption = "",
    lanes: LanesOption = None,
    cache_dir: CacheDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check shape files: format, invariants, and a certification of practice families in the local sandbox.

    Nothing is kept and no server is needed. The families come from seeds that anybody can derive, so the table shows
    which candidate is right: nobody is ever measured on them.
    """
    with ending_in_one_line(as_json=as_json):
        require_families(families_per_cell)
        _require_page_name(html)
        files, broken = read_author_files(find_files(paths))
        report = CheckReport(broken, findings=(), shapes=(), backend="")
        if files:
            recipe = practice_recipe(files, families_per_cell=families_per_cell, seed=seed)
            with open_pool(
                backend,
                runtime=docker_runtime,
                cache_dir=cache_dir,
                lane_count=lanes or ServerConfig.default_lane_count(),
                ray_address=ray_address,
            ) as pool:
                report = _check_in(pool, recipe, broken)
        if as_json:
            say_json(report.to_json())
        else:
            from leakscale_server.catalog_check.terminal import report_lines  # noqa: PLC0415 - loads rich

            say_lines(report_lines(report))
        # Last: a page that cannot be written must not take the result with it.
        if html is not None:
            from leakscale_server.catalog_check.page import write_page  # noqa: PLC0415 - loads jinja2

            write_page(html, report)
            note(f"every table is on {html}")
    if not report.holds:
        raise typer.Exit(ExitCode.BROKEN)


def require_families(families_per_cell: int) -> None:
    """Refuse numbers of families that cannot be balanced.

    Raises:
        InputError: With the numbers that can.
    """
    if families_per_cell not in (4, 8, 12, 16):
        raise InputError(f"--families-per-cell {families_per_cell}: choose 4, 8, 12 or 16, which balance every rank")


def _require_page_name(html: Path | None) -> None:
    """Refuse, before anything runs, a page that could not be written or would take the place of an author's file.

    Raises:
        InputError: If it is not named as a page, is a folder, or its folder is not there or takes no file.
    """
    if html is None:
        return
    if html.suffix.lower() not in {".html", ".htm"}:
        raise InputError(f"--html {html}: a page is named .html, so that it overwrites no shape")
    if html.is_dir() or not html.parent.is_dir():
        raise InputError(f"--html {html}: its folder must be there and it must be no folder; choose another place")
    try:
        with tempfile.NamedTemporaryFile(dir=html.parent, prefix=".", suffix=html.suffix):
            pass
    except OSError as error:
        said = error.strerror or str(error)
        raise InputError(f"--html {html}: its folder takes no file ({said}); choose another place") from error


def _check_in(pool: SandboxPool, recipe: Recipe, broken: Sequence[BrokenFile]) -> CheckReport:
    findings = list(check_construction(recipe))
    with shown_progress("check", total=len(recipe.slots()), unit="families", write=note) as bar:
        families = check_families(recipe, pool, advance=bar.advance)
    shapes = [
        ShapeCheck(file, [each for each in families if each.proof.construction.slot.shape_id == file.shape.id])
        for file in recipe.files
    ]
    return CheckReport(broken, findings, shapes, pool.identity.backend)
