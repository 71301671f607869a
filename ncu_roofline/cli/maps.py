"""``ncu-roofline maps``: the metric maps, as they are and resolved, and the check of a file."""

from __future__ import annotations

from pathlib import Path

import click

from ncu_roofline.cli import options
from ncu_roofline.cli.output import write
from ncu_roofline.errors import DataFileError, DataFileProblem, UsageError


@click.group()
def maps() -> None:
    """Look at the metric maps: what the counters of an architecture mean."""


@maps.command("list")
@options.output
def list_(output: str | None) -> None:
    """List the maps with their compute capabilities, paths and tiers."""
    from ncu_roofline.maps import load_library

    lines = []
    for metric_map in load_library().maps.values():
        cc = ", ".join(metric_map.compute_capabilities) or "every other"
        lines += [
            f"{metric_map.id:8} CC {cc:12} {metric_map.title}",
            f"{'':8} paths  {', '.join(metric_map.paths)}",
            f"{'':8} tiers  {', '.join(metric_map.tiers)}",
        ]
    write("\n".join(lines), output, [])


@maps.command()
@click.argument("name", metavar="ID|CC")
@click.option("--resolved", is_flag=True, help="With everything that is inherited, as one map without a parent.")
@options.output
def show(name: str, resolved: bool, output: str | None) -> None:
    """Print a map, named by its id or by a compute capability."""
    from ncu_roofline.maps import load_library
    from ncu_roofline.maps.dump import to_yaml

    library = load_library()
    by_name = {**library.maps, **{cc: m for m in library.maps.values() for cc in m.compute_capabilities}}
    if name not in by_name:
        raise UsageError("map", name, f"is not there; known are {', '.join(by_name)}")
    metric_map = by_name[name]
    write(to_yaml(metric_map) if resolved else Path(metric_map.file).read_text(encoding="utf-8"), output, [])


@maps.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Check map files: every problem of a file at once, with its line and path; exit code 2 if there is any."""
    from ncu_roofline.maps import load_map

    problems: list[DataFileProblem] = []
    for file in files:
        try:
            metric_map = load_map(Path(file))
        except DataFileError as error:
            problems += error.problems
        else:
            cc = ", ".join(metric_map.compute_capabilities) or "none"
            click.echo(f"{file}: good: {metric_map.id}, CC {cc}, {len(metric_map.base_counters())} counters")
    if problems:
        raise DataFileError(problems)
