"""`plimsoll learn` and its subcommands, put together.

Deliberately not here: what each of them does (`learn_workload` without a subcommand, else the module of its name).
"""

from __future__ import annotations

import typer

from plimsoll.cli import learn_check, learn_digests, learn_report, learn_schema, learn_workload
from plimsoll.cli.help import Command, Group

app = typer.Typer(cls=Group, rich_markup_mode=None)
app.callback(invoke_without_command=True)(learn_workload.learn)
app.command("digests", cls=Command)(learn_digests.digests)
app.command("report", cls=Command)(learn_report.report)
app.command("schema", cls=Command)(learn_schema.schema)
app.command("check", cls=Command)(learn_check.check)
