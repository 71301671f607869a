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
device = click.option("--device", metavar="NAME", help="Product of launches whose report does not state it.")
ceilings = click.option(
    "--ceilings", metavar="FILE", help="Measured ceilings: own YAML, or a file of ERT, mixbench or BabelStream."
)
peak_source = click.option(
    "--peak-source", type=click.Choice(["report", "device", "measured"]), default="report", show_default=True,
    help="Which ceilings come first: the report's own peaks, the device table, or those of --ceilings.",
)  # fmt: skip
