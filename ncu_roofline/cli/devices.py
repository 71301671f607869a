"""``ncu-roofline devices``: the device table, and which product a name means."""

from __future__ import annotations

import click

from ncu_roofline.cli import options
from ncu_roofline.cli.output import write
from ncu_roofline.errors import UsageError


@click.group()
def devices() -> None:
    """Look at the device table: published dense peaks by product."""


@devices.command("list")
@options.output
def list_(output: str | None) -> None:
    """List the products with their compute capability and some peaks."""
    from ncu_roofline.render.device_table import device_list

    write(device_list(), output, [])


@devices.command()
@click.argument("name", metavar="NAME")
@options.output
def show(name: str, output: str | None) -> None:
    """Print every number of a product with its clock and confidence; NAME as ncu prints it, or shortened."""
    from ncu_roofline.devices import match_device
    from ncu_roofline.render.device_table import device_sheet

    match = match_device(name)
    if match.device is None:
        raise UsageError("device", name, match.reason)
    note = f"\n  {match.reason}" if match.reason else ""
    write(device_sheet(match.device) + note, output, [])
