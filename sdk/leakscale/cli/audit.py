"""`leakscale audit`: bound what a public benchmark's score owes to its wording. One module a verb."""

from __future__ import annotations

import typer

from leakscale.cli import (
    audit_amend,
    audit_analyze,
    audit_answer,
    audit_check,
    audit_demo,
    audit_deposit,
    audit_fetch,
    audit_import,
    audit_lock,
    audit_new,
    audit_pool,
    audit_positive_control,
    audit_report,
    audit_review,
    audit_show,
    audit_submit,
    audit_validate,
)

__all__ = ["app"]

app = typer.Typer(help="Audit a public benchmark with private fresh forms.", no_args_is_help=True)
app.command("new")(audit_new.new)
app.command("check")(audit_check.check)
app.command("review")(audit_review.review)
app.command("lock")(audit_lock.lock)
app.command("amend")(audit_amend.amend)
app.command("deposit")(audit_deposit.deposit)
app.command("fetch")(audit_fetch.fetch)
app.command("show")(audit_show.show)
app.command("answer")(audit_answer.answer)
app.command("submit")(audit_submit.submit)
app.command("import")(audit_import.import_)
app.command("analyze")(audit_analyze.analyze)
app.command("positive-control")(audit_positive_control.positive_control)
app.command("pool")(audit_pool.pool)
app.command("demo")(audit_demo.demo)
app.command("validate")(audit_validate.validate)
app.command("report")(audit_report.report)
