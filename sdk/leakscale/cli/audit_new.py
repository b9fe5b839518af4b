"""`leakscale audit new`: draw a sample and lay out an audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["new"]


def new(
    context: typer.Context,
    frame: Annotated[Path, typer.Option(help="Every parent of the benchmark: .jsonl or .parquet.")],
    sample: Annotated[
        list[str], typer.Option(metavar="N|STRATUM=N", help="Parents to draw; of a stratum, repeated for each.")
    ],
    root: Annotated[Path | None, typer.Argument(metavar="DIR", help="New folder; default: FRAME-audit.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    fresh: Annotated[int, typer.Option(help="Places for fresh forms a parent.")] = 2,
    deep: Annotated[int, typer.Option(help="Places for deep paraphrases a parent.")] = 0,
    rewrites: Annotated[
        Path | None, typer.Option(help="Bank that has the rewrites already; it decides --fresh and --deep.")
    ] = None,
    control: Annotated[Path | None, typer.Option(help="Control bank: items that were never public.")] = None,
) -> None:
    r"""Draw the parents of an audit, once, and write a plan to fill in.

    For example:

    ```
    leakscale audit new gsm8k --frame gsm8k.jsonl --sample 200 --seed 1
    leakscale audit new arc --frame arc.jsonl --sample easy=60 \
        --sample hard=140
    ```
    """
    from leakscale.audit.directory import BankRole  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.forms import read_bank  # noqa: PLC0415
    from leakscale.audit.registration.opening import open_audit  # noqa: PLC0415

    directory, record = open_audit(
        root or Path(f"{frame.stem}-audit"),
        frame=frame,
        size=_size(sample),
        seed=seed,
        fresh_count=fresh,
        deep_count=deep,
        rewrites=rewrites,
        control=control,
    )
    if rewrites is not None:
        parents = read_bank(directory.bank(BankRole.AUDIT)).parents
        found = sum(any(parent.fresh) for parent in parents)
        shell_of(context).console.note(
            f"rewrites of {found} of {len(parents)} drawn parents were taken from {rewrites}"
        )
    strata = [name for name in read_bank(directory.frame).strata() if name]
    if strata and not record.strata:
        options = " ".join(f"--sample {name}=N" for name in strata)
        shell_of(context).console.note(
            f"note: the frame has strata, and the sample was drawn across them; {options} draws within them"
        )
    bank = directory.bank(BankRole.AUDIT)
    write = "read     " if rewrites else "rewrite  "
    shell_of(context).console.result(
        {"directory": str(directory.root), "plan": str(directory.plan), "bank": str(bank), "draw": record.to_json()},
        text=(
            f"{record.sample_size:,} of {record.population_size:,} parents drawn with seed {record.seed}\n"
            f"fill in   {directory.plan}\n"
            f"{write} {bank}\n"
            f"then      leakscale audit check {directory.root}"
        ),
    )


def _size(sample: list[str]) -> int | dict[str, int]:
    sizes = {}
    for each in sample:
        stratum, equals, number = each.rpartition("=")
        if not number.isdecimal() or (not equals and len(sample) > 1) or stratum in sizes:
            raise typer.BadParameter(
                f"{each!r} names a stratum a second time; name each once"
                if stratum and stratum in sizes
                else f"{each!r} is no sample; pass one number, or STRATUM=N once for each stratum",
                param_hint="--sample",
            )
        sizes[stratum] = int(number)
    is_simple = len(sample) == 1 and "=" not in sample[0]
    return sizes[""] if is_simple else sizes
