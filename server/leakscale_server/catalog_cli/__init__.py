"""`leakscale-server catalog`: write a shape, check it, look at it, and audit a catalog. One verb a file."""

import typer

from leakscale_server.catalog_cli.audit import audit
from leakscale_server.catalog_cli.check import check
from leakscale_server.catalog_cli.new import new
from leakscale_server.catalog_cli.show import show

__all__ = ["catalog_app"]

catalog_app = typer.Typer(
    name="catalog",
    help="Write shapes of your own, check them in the local sandbox, and audit catalogs and editions.",
    epilog="Exit codes: 0 every rule is kept, 1 a rule is broken, 2 it could not be checked, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
catalog_app.command()(new)
catalog_app.command()(check)
catalog_app.command()(show)
catalog_app.command()(audit)
