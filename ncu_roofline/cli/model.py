"""``ncu-roofline model``: what a problem needs and what a machine allows, without any report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ncu_roofline.cli import figures
from ncu_roofline.cli.output import STANDARD, Output, write_all
from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from ncu_roofline.ledger import Case, Kind, Parameter
    from ncu_roofline.machine import Machine

_FORMATS = ("table", "json", "csv", "markdown")
_STAGES = "stages"
_RATES = ("FLOP/s", "OP/s")
_READ_KINDS = f"{__name__}.kinds"
"""Where a context keeps the kinds of ``--kinds``."""
_GIVEN = "given_"
"""How values of parameters are called, which may have the names of other options."""


class _Kinds(click.Group):
    """A command for each kind of problem, those of ``--kinds`` among them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_kinds(ctx), _STAGES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _STAGES:
            return stages
        kind = _kinds(ctx).get(cmd_name)
        return None if kind is None else _command(cmd_name, kind)


@click.group(cls=_Kinds)
@click.option("--kinds", metavar="FILE", help="Kinds of problems of your own (YAML), besides those listed here.")
def model(kinds: str | None) -> None:
    """Say what a problem needs, and the least time of it on a machine; no report is read.

    Work and compulsory bytes by formula, held against a peak and a bandwidth: t >= max(work / peak, bytes / bandwidth).
    The machine is --device NAME, --ceilings FILE, or --peak and --bandwidth.
    """


def _machine_options() -> list[click.Parameter]:
    return [
        click.Option(["--device"], metavar="NAME", help="Product whose published dense peaks are taken."),
        click.Option(["--ceilings"], metavar="FILE", help="Measured ceilings, which come before those of --device."),
        click.Option(["--peak"], metavar="RATE", help="Peak of the path, such as 120e12 or 120 TFLOP/s."),
        click.Option(["--bandwidth"], metavar="RATE", help="Bandwidth of DRAM, such as 2e12 or 2 TB/s."),
        click.Option(["--format", "format_"], type=click.Choice(_FORMATS), default="table", show_default=True),
        click.Option(["-o", "--output"], metavar="FILE", help="Write to a file instead of standard output (-)."),
    ]


def _kinds(ctx: click.Context) -> dict[str, Kind]:
    """The kinds of problems by name; a file of them is read once, though help asks for every command by itself."""
    from ncu_roofline.ledger import KINDS, read_kinds_file

    path = ctx.params.get("kinds")
    if path is None:
        return dict(KINDS)
    if _READ_KINDS not in ctx.meta:
        ctx.meta[_READ_KINDS] = read_kinds_file(path)
    return {**KINDS, **ctx.meta[_READ_KINDS]}


def _command(name: str, kind: Kind) -> click.Command:
    """The command of a kind: an option for each of its parameters."""
    command = click.Command(
        name,
        callback=lambda **chosen: _model(name, kind, **chosen),
        help=f"{kind.formula[0].upper()}{kind.formula[1:]}.\n\n" + "\n\n".join(f"Assumes: {a}." for a in kind.assumes),
        short_help=kind.formula,
    )
    command.params = [
        *(_option(key, parameter) for key, parameter in kind.parameters.items()),
        click.Option(
            ["--sweep"], multiple=True, metavar="NAME=A,B,...", help="Values of a parameter; may be given again."
        ),
        click.Option(
            ["--crossing"], multiple=True, metavar="NAME",
            help="Also say at which value of a parameter arithmetic and memory take equally long.",
        ),
        click.Option(["--figure"], metavar="FILE", help="Also draw the cases: out.svg (.png) and out-dark.svg, .pdf."),
        *_machine_options(),
    ]  # fmt: skip
    return command


def _option(name: str, parameter: Parameter) -> click.Option:
    """The option of a parameter; whether its value is right is said by the ledger, for sweeps and files alike."""
    choices = f": {', '.join(filter(None, parameter.choices))}" if parameter.choices else ""
    default = parameter.default
    is_unstated = default == "" or (isinstance(default, float) and math.isnan(default))
    said = "required" if default is None else f"default: {default if isinstance(default, str) else f'{default:g}'}"
    said = "" if is_unstated else f"  [{said}]"
    dashes = "-" if len(name) == 1 else "--"
    return click.Option(
        [f"{dashes}{name.replace('_', '-')}", f"{_GIVEN}{name}"], metavar="VALUE",
        help=f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}{choices}{said}",
    )  # fmt: skip


def _machine(device: str | None, ceilings: str | None, peak: str | None, bandwidth: str | None) -> Machine:
    from ncu_roofline.machine import machine
    from ncu_roofline.measured import load_measured

    measured = load_measured(Path(ceilings)) if ceilings is not None else None
    return machine(
        device=device, measured=measured, peak=_rate("--peak", peak, _RATES),
        bandwidth=_rate("--bandwidth", bandwidth, ("byte/s",)),
    )  # fmt: skip


def _rate(option: str, text: str | None, dimensions: Sequence[str]) -> float | None:
    from ncu_roofline.quantities import read_quantity

    if text is None:
        return None
    problems = []
    for dimension in dimensions:
        try:
            return read_quantity(text, dimension)
        except ValueError as error:
            problems.append(str(error))
    raise UsageError(option, text, problems[0])


def _model(
    name: str, kind: Kind, device: str | None, ceilings: str | None, peak: str | None, bandwidth: str | None,
    format_: str, output: str | None, sweep: tuple[str, ...], crossing: tuple[str, ...], figure: str | None,
    **chosen: str | None,
) -> None:  # fmt: skip
    from ncu_roofline.ledger import cases, possible_values, problems_of
    from ncu_roofline.ledger import crossing as find_crossing
    from ncu_roofline.machine import machine as made
    from ncu_roofline.render import ledger_table as render

    given = {key.removeprefix(_GIVEN): value for key, value in chosen.items() if value is not None}
    series: dict[str, list[Any]] = {}
    for text in sweep:
        parameter, values = _series(name, kind, text)
        if parameter in given or parameter in series:
            raise UsageError("--sweep", parameter, "is given twice")
        series[parameter] = values
    crossing = tuple(parameter.replace("-", "_") for parameter in crossing)
    for parameter in crossing:
        if parameter not in kind.parameters or kind.parameters[parameter].is_text:
            raise UsageError("--crossing", parameter, f"is no number of {name}")
    # The table needs a value, too; the heading shows it.
    lacking = [one for one in crossing if kind.parameters[one].default is None and one not in {*given, *series}]
    first = {key: one[0] for key, one in series.items()}
    for one in lacking:
        smallest = next(possible_values(kind, {**given, **first}, one), 1.0)
        given[one] = f"{smallest:g}"
    if crossing and format_ == "csv":
        raise UsageError("--crossing", ", ".join(crossing), "has no place in CSV; take --format json")
    needed = [message for _, message in problems_of(name, kind, {**given, **first})]
    if needed:
        raise UsageError("model", name, "; ".join(needed))
    machine = _machine(device, ceilings, peak, bandwidth)
    found = cases(name, kind, given, series, machine)
    crossings = []
    for parameter in crossing:
        others = [tuple((key, value) for key, value in case.swept.items() if key != parameter) for case in found]
        for other in map(dict, dict.fromkeys(others)):
            value = find_crossing(kind, {**given, **other}, parameter, machine)
            crossings.append(render.Crossing(parameter, other, value))
    nominal = made(device=device) if device is not None and ceilings is not None else None
    modelled = render.Modelled(name, kind, given, found, machine, nominal, crossings)
    write_text = {"table": render.model_table, "json": render.model_json, "csv": render.model_csv,
                  "markdown": render.model_markdown}[format_]  # fmt: skip
    drawn = _figures(name, figure, found, machine) if figure is not None else []
    write_all([*drawn, Output(output or STANDARD, "--output", write_text(modelled))], list(filter(None, (ceilings,))))


def _series(name: str, kind: Kind, text: str) -> tuple[str, list[Any]]:
    parameter, equals, values = (part.strip() for part in text.partition("="))
    parameter = parameter.replace("-", "_")
    if not equals or parameter not in kind.parameters:
        known = ", ".join(kind.parameters)
        raise UsageError("--sweep", text, f"is not NAME=A,B,... with a parameter of {name}: {known}")
    return parameter, [value.strip() for value in values.split(",")]


def _figures(name: str, figure: str, found: Sequence[Case], machine: Machine) -> list[Output]:
    from ncu_roofline.render.picture.chart import Roof
    from ncu_roofline.render.picture.curve import Point, to_curves

    drawable = [case for case in found if case.rate > 0 and case.ledger.unit == "FLOP"]
    if not drawable:
        raise UsageError("--figure", figure, "has nothing to draw: no case has FLOP, bytes, a peak and a bandwidth")
    roofs = {
        of: Roof(of, roof.value, roof.source, math.nan)
        for case in drawable
        for of, roof in (("dram", machine.bandwidth), machine.peak(case.ledger.paths))
        if of is not None and roof is not None
    }
    curves: dict[tuple[Any, ...], list[Point]] = {}
    for case in drawable:
        first, *others = case.swept.values() if case.swept else ("",)
        label = f"{next(iter(case.swept))} {first}" if case.swept else name
        # The first point of a line also says which one it is.
        label += "" if tuple(others) in curves else "".join(f", {other}" for other in others)
        point = Point(label, case.ledger.intensity, case.rate, case.bound.ridge, case.bound.peak)
        curves.setdefault(tuple(others), []).append(point)
    drawn = figures.light_and_dark(
        figure, lambda colors: to_curves(name, machine.name, list(roofs.values()), list(curves.values()), colors)
    )
    return [Output(file, "--figure", content) for file, content in drawn.items()]


@click.command(_STAGES)
@click.argument("file", metavar="FILE")
def stages(
    file: str, device: str | None, ceilings: str | None, peak: str | None, bandwidth: str | None, format_: str,
    output: str | None,
) -> None:  # fmt: skip
    """Bound a job of several stages (YAML): one after the other, and the looser one as if they overlapped."""
    kinds = click.get_current_context().parent
    if kinds is not None and kinds.params.get("kinds") is not None:
        raise UsageError(
            "--kinds", kinds.params["kinds"], "has no effect here: write the kinds into the file of stages"
        )
    from ncu_roofline.ledger import Case, ledger_bound, read_stages, stages_bound
    from ncu_roofline.render import ledger_table as render

    machine = _machine(device, ceilings, peak, bandwidth)
    found = read_stages(file)
    cases = [Case({}, stage.ledger, ledger_bound(stage.ledger, machine)) for stage in found]
    bound = stages_bound(
        [case.bound for case in cases], [stage.count for stage in found], one_peak=machine.any_peak is not None
    )
    staged = render.Staged(found, cases, bound, machine)
    write_text = {"table": render.stages_table, "json": render.stages_json, "csv": render.stages_csv,
                  "markdown": render.stages_markdown}[format_]  # fmt: skip
    inputs = list(filter(None, (file, ceilings)))
    write_all([Output(output or STANDARD, "--output", write_text(staged))], inputs)


stages.params += _machine_options()
