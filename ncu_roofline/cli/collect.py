"""``ncu-roofline collect``: the ncu command line for a question, or for what a report lacks."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click

from ncu_roofline.cli import options
from ncu_roofline.cli.output import write
from ncu_roofline.cli.progress import ReadingProgress
from ncu_roofline.errors import UsageError


@click.command()
@click.argument("inputs", nargs=-1, metavar="[REPORT]...")
@options.cc
@click.option("--tiers", metavar="NAME[,NAME]", help="Only these memory tiers, such as dram,l2.")
@click.option("--paths", metavar="NAME[,NAME]", help="Only these instruction paths, such as fp32,tensor.")
@click.option("--cache-control", type=click.Choice(["all", "none"]), default="all", show_default=True)
@click.option("--clock-control", type=click.Choice(["base", "none", "boost"]), default="base", show_default=True)
@click.option("--application", metavar="COMMAND", default="./application", show_default=True, help="What to profile.")
@options.map_
@options.locale
@options.output
def collect(
    inputs: tuple[str, ...],
    cc: str | None,
    tiers: str | None,
    paths: str | None,
    cache_control: str,
    clock_control: str,
    application: str,
    map_: str | None,
    locale: str,
    output: str | None,
) -> None:
    """Print the ncu command that collects a picture on an architecture (--cc), or what a REPORT lacks.

    With --cc alone everything is collected that binds: time, DRAM, L2 and L1 with their peaks, every instruction path
    with its peak. --tiers and --paths ask for less, which takes fewer passes; tensor stands for all tensor paths.
    """
    from ncu_roofline.collection import Run, for_architecture, for_report
    from ncu_roofline.maps import load_library, load_map
    from ncu_roofline.vocabulary import is_compute_capability

    run = Run(cache_control, clock_control, application)
    if inputs:
        if tiers or paths:
            raise UsageError("--tiers" if tiers else "--paths", tiers or paths or "", "is for --cc without a report")
        from ncu_roofline.pipeline import analyze

        analysis = analyze(*inputs, map=map_, cc=cc, locale=locale, progress=ReadingProgress())
        write(for_report(analysis, run), output, inputs)
        return
    if cc is None:
        raise UsageError("REPORT", "or --cc", "is needed: a report, or a compute capability such as --cc 9.0")
    if not is_compute_capability(cc):
        raise UsageError("--cc", cc, "is not a compute capability such as 9.0")
    library = load_library() if map_ is None else load_library().with_map(load_map(Path(map_)))
    metric_map = library.for_compute_capability(cc)
    names = _names(metric_map.paths, tiers, paths)
    write(for_architecture(metric_map, cc, names, run), output, [])


def _names(known: Collection[str], tiers: str | None, paths: str | None) -> list[str] | None:
    """Tiers and paths of the options; None when there is neither."""
    from ncu_roofline.vocabulary import PATHS, TIERS, is_tensor

    if tiers is None and paths is None:
        return None
    names: list[str] = []
    for name in filter(None, (text.strip().lower() for text in (tiers or "").split(","))):
        if name not in TIERS:
            raise UsageError("--tiers", name, f"is no tier; known are {', '.join(TIERS)}")
        names.append(name)
    for name in filter(None, (text.strip().lower() for text in (paths or "").split(","))):
        found = [path for path in PATHS if path == name or (name == "tensor" and is_tensor(path))]
        found = [path for path in found if path in known]
        if not found:
            raise UsageError("--paths", name, "is no path of this architecture; tensor stands for all tensor paths")
        names += found
    return names
