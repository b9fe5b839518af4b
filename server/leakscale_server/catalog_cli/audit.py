"""`leakscale-server catalog audit`: does a catalog, or an edition of a server, keep what it promises?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from leakscale.progress import shown_progress
from leakscale.resources import catalog_folder
from leakscale_server.catalog_audit.certification import check_certification, prove_recipe
from leakscale_server.catalog_audit.findings import Finding
from leakscale_server.catalog_audit.invariants import CONSTRUCTION_INVARIANTS
from leakscale_server.catalog_audit.material import Recipe, build_material, practice_recipe
from leakscale_server.catalog_audit.overlap import EarlierEdition, check_overlap, read_corpus
from leakscale_server.catalog_audit.published import (
    PublishedEdition,
    check_published,
    check_reproof,
    open_published,
    public_families,
    read_edition_file,
)
from leakscale_server.catalog_audit.secrecy import check_secrecy, publish
from leakscale_server.catalog_check.check import AuthorFileError, read_author_files
from leakscale_server.catalog_check.terminal import finding_lines
from leakscale_server.catalog_cli.check import FamiliesOption, SeedOption, require_families
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

__all__ = ["audit"]


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is audited."""

    name: str
    recipe: Recipe
    published: PublishedEdition | None = None


def audit(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[PATH | EDITION]", help="Shape files or a folder of them; or the id of an edition."),
    ] = None,
    *,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the server that has the EDITION; its vault is read.")
    ] = None,
    vault_key_command: Annotated[
        str, typer.Option(help="Program that prints the vault's key; else LEAKSCALE_VAULT_KEY or the file vault.key.")
    ] = "",
    corpus: Annotated[
        list[Path] | None, typer.Option(help="Folder or file of texts that no family may repeat. Repeatable.")
    ] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="Frozen edition file (.sqlite) that came before. Repeatable.")
    ] = None,
    families_per_cell: FamiliesOption = 16,
    seed: SeedOption = 0,
    without_sandbox: Annotated[bool, typer.Option("--without-sandbox", help="Leave out what runs programs.")] = False,
    backend: BackendOption = "auto",
    docker_runtime: RuntimeOption = "",
    ray_address: RayAddressOption = "",
    lanes: LanesOption = None,
    cache_dir: CacheDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check every invariant, one line each; of one that does not hold, the first thing that breaks it.

    Without an argument: the catalog that ships, built under practice seeds. With --data-dir: an edition of a server,
    built again from its own seeds and held against what is published.
    """
    with ending_in_one_line(as_json=as_json):
        require_families(families_per_cell)
        if data_dir is not None:
            subject = _served(source, data_dir, vault_key_command)
        else:
            subject = _catalog(source, families_per_cell=families_per_cell, seed=seed)
        before = [read_edition_file(path) for path in earlier or ()]
        found: list[Finding] = []
        for finding in _findings(
            subject,
            corpus=corpus or (),
            earlier=before,
            sandbox=None
            if without_sandbox
            else lambda: open_pool(
                backend,
                runtime=docker_runtime,
                cache_dir=cache_dir,
                lane_count=lanes or ServerConfig.default_lane_count(),
                ray_address=ray_address,
            ),
        ):
            found.append(finding)
            if not as_json:
                say_lines(finding_lines([finding]))
        _conclude(found, subject, is_run=not without_sandbox, as_json=as_json)


def _served(source: str | None, data_dir: Path, vault_key_command: str) -> _Subject:
    if source is None:
        raise InputError(f"--data-dir {data_dir}: name the edition, too, as in `catalog audit demo --data-dir ...`")
    published = open_published(data_dir, source.removeprefix("editions/"), vault_key_command=vault_key_command)
    return _Subject(f"edition {published.edition_id}", published.recipe, published)


def _catalog(source: str | None, *, families_per_cell: int, seed: int) -> _Subject:
    path = catalog_folder() if source is None else Path(source)
    if not path.exists() and not path.is_symlink():
        raise InputError(f"'{source}' does not exist; for an edition, name its server's folder with --data-dir")
    files, broken = read_author_files(find_files([path]))
    if broken:
        raise AuthorFileError(f"{broken[0].message}; `leakscale catalog check {path}` says more")
    return _Subject(str(path), practice_recipe(files, families_per_cell=families_per_cell, seed=seed))


def _findings(
    subject: _Subject,
    *,
    corpus: Sequence[Path],
    earlier: Sequence[EarlierEdition],
    sandbox: Callable[[], AbstractContextManager[SandboxPool]] | None,
) -> Iterator[Finding]:
    recipe, published = subject.recipe, subject.published
    family_count = len(recipe.slots())
    with shown_progress("build", total=family_count, unit="families", write=note) as bar:
        material = build_material(recipe, advance=bar.advance)
    yield from (check(material) for check in CONSTRUCTION_INVARIANTS)
    if published is not None:
        yield from check_published(published, material)
    yield check_secrecy(material, publish(material) if published is None else public_families(published, material))
    before = [*earlier, *(published.earlier if published else ())]
    yield check_overlap(material, corpus=read_corpus(corpus), earlier=before)
    if sandbox is None:
        return
    with sandbox() as pool:
        with shown_progress("run", total=family_count, unit="families", write=note) as bar:
            proven = prove_recipe(recipe, pool, advance=bar.advance)
        yield from check_certification(proven, recipe)
        if published is not None:
            yield check_reproof(published, proven)


def _conclude(found: Sequence[Finding], subject: _Subject, *, is_run: bool, as_json: bool) -> None:
    failed = [finding.invariant for finding in found if not finding.holds]
    if as_json:
        value = {
            "subject": subject.name,
            "families": len(subject.recipe.slots()),
            "holds": not failed,
            "programs_run": is_run,
            "failed": failed,
            "invariants": [{**asdict(each), "holds": each.holds} for each in found],
        }
        say_json(value)
    else:
        left_out = "" if is_run else "; what runs programs was left out"
        said = f"does not hold: {', '.join(failed)}" if failed else f"all {len(found)} invariants hold"
        say_lines([f"{subject.name}: {said}{left_out}"])
    if failed:
        raise typer.Exit(ExitCode.BROKEN)
