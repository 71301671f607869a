"""Options that mean the same in every command."""

from __future__ import annotations

import click

output = click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output (-).")
cc = click.option("--cc", metavar="X.Y", help="Compute capability of launches whose report does not state it.")
map_ = click.option("--map", "map_", metavar="FILE", help="A metric map that answers first for its architectures.")
locale = click.option(
    "--locale", type=click.Choice(["auto", "c", "european"]), default="auto", show_default=True,
    help="Number format of the reports.",
)  # fmt: skip
