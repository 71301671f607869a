"""The command line: parse, one library call, print, exit code.

Commands import the library when they run, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ncu_roofline.cli import messages
from ncu_roofline.cli.analyze import analyze
from ncu_roofline.cli.budget import budget
from ncu_roofline.cli.check import check
from ncu_roofline.cli.collect import collect
from ncu_roofline.cli.compare import compare
from ncu_roofline.cli.config import defaults, place_of
from ncu_roofline.cli.devices import devices
from ncu_roofline.cli.explain import explain
from ncu_roofline.cli.maps import maps
from ncu_roofline.cli.model import model
from ncu_roofline.cli.rules import rules
from ncu_roofline.errors import NcuRooflineError

USAGE_ERROR = 2


class _Program(click.Group):
    """A group that turns the errors of this package into one message and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except NcuRooflineError as error:
            place = f"{where}: " if (where := place_of(error)) else ""
            click.echo(f"error: {place}{messages.of_error(ctx, error)}", err=True)
            ctx.exit(USAGE_ERROR)
        except BrokenPipeError:
            # The reader of standard output has seen enough; nothing may be flushed into it at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            click.echo(f"error: standard output or input: {error.strerror}", err=True)
            ctx.exit(USAGE_ERROR)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from ncu_roofline.version import VERSION

        click.echo(f"ncu-roofline {VERSION}")
        ctx.exit()


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Hierarchical rooflines from NVIDIA Nsight Compute reports.

    Start with: ncu-roofline analyze report.ncu-rep
    """
    ctx.default_map = defaults(main.commands)


main.add_command(analyze)
main.add_command(check)
main.add_command(compare)
main.add_command(explain)
main.add_command(collect)
main.add_command(budget)
main.add_command(model)
main.add_command(maps)
main.add_command(devices)
main.add_command(rules)
