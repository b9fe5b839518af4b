"""`leakscale freshness`: whether an edition was met, and what changed since it was opened."""

from __future__ import annotations

import typer

from leakscale.cli import freshness_drift, freshness_scan

__all__ = ["app"]

app = typer.Typer(help="How fresh an edition still is: where it was met, and what changed since.", no_args_is_help=True)
app.command("scan")(freshness_scan.scan)
app.command("drift")(freshness_drift.drift)
app.command("life")(freshness_drift.life)
