"""The frozen result of an analysis: the only thing that renderers know."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ncu_roofline.arrays import BoolArray, Columns, mapped, nothing, ratio, repeated
from ncu_roofline.checks import Finding, SkippedRule
from ncu_roofline.conditions import Conditions
from ncu_roofline.grouping import group_launches, group_over_ranks, group_ranges
from ncu_roofline.maps import MetricMap
from ncu_roofline.measured import MeasuredCeilings
from ncu_roofline.normalise import Counters
from ncu_roofline.scrub import Scrubber, scrubber
from ncu_roofline.timings import read_timeline
from ncu_roofline.vocabulary import DEFAULT_DOMAIN, PATHS, TIERS, Severity

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from ncu_roofline.budget import Budget
    from ncu_roofline.explain import Explanation

_CLAIMS = "K"
"""How codes of findings begin that quote somebody."""
_KERNEL_NAMES = ("kernel", "function", "mangled", "external.kernel")


@dataclass(frozen=True)
class Input:
    """One input of an analysis."""

    path: str
    digest: Callable[[], str]
    form: str
    launches: int
    skipped_lines: int
    conditions: Conditions

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, as 64 hexadecimal digits."""
        return self.digest()


@dataclass(frozen=True, repr=False)
class Analysis:
    """Launches with everything that is known of them, and the findings.

    ``columns`` has the dotted columns of the contract over the launches, in SI base units; NaN and None are unknown.
    ``device_time`` is the time of all launches of the input on the same device (``total_time``: of all), to which
    shares refer also after a selection. ``counters`` are those of each input, and ``measured`` the user's ceilings, for
    ``explain``. ``launches``, ``points`` and ``findings`` are the same as pandas tables, which is loaded only when one
    of them is asked for.
    """

    inputs: tuple[Input, ...]
    columns: Columns
    finding_list: tuple[Finding, ...]
    skipped_rules: tuple[SkippedRule, ...]
    maps: Mapping[str, MetricMap]
    counters: tuple[Counters, ...]
    measured: MeasuredCeilings | None = None
    aggregate: bool = False
    """Whether the inputs are ranks, whose launches of one kernel and shape are taken together."""
    places: tuple[str, ...] = ()
    """Every path that was given or found, for scrubbing."""
    scrubber: Scrubber | None = None
    """What takes names of people, machines and places out of explanations; None: nothing does."""

    def __len__(self) -> int:
        return len(self.columns["launch"])

    def __repr__(self) -> str:
        paths = ", ".join(item.path for item in self.inputs)
        return f"<Analysis of {paths}: {len(self)} launches, {len(self.finding_list)} findings>"

    @property
    def launches(self) -> pd.DataFrame:
        """One row per launch."""
        import pandas as pd

        return pd.DataFrame(self.columns)

    @property
    def findings(self) -> pd.DataFrame:
        """Findings as a table: code, name, severity, launches, message, help."""
        import pandas as pd

        columns = ["code", "name", "severity", "launches", "message", "help"]
        rows = [(f.code, f.name, f.severity.label, f.launches, f.message, f.help) for f in self.finding_list]
        return pd.DataFrame(rows, columns=columns)

    @property
    def points(self) -> pd.DataFrame:
        """Roofline points: one row per launch, path with work, and tier.

        Columns: launch, kernel, path, tier; ``intensity`` (work of the path over the bytes of the tier), ``rate``
        (per second), ``peak`` of the path, ``bandwidth`` (ceiling of the tier, byte/s). Unknown values are NaN.
        """
        import pandas as pd

        names = ["launch", "kernel", "path", "tier", "intensity", "rate", "peak", "bandwidth"]
        pairs = [(path, tier) for path in PATHS for tier in TIERS]
        collected = [p for p in pairs if {f"work.{p[0]}.rate", f"traffic.{p[1]}.rate"} <= self.columns.keys()]
        parts = [pd.DataFrame(self._points(path, tier)) for path, tier in collected]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)

    def _points(self, path: str, tier: str) -> Columns:
        work, traffic = f"work.{path}", f"traffic.{tier}"
        count, rate = self.columns[f"{work}.count"], self.columns[f"{work}.rate"]
        by_count = ratio(count, self.columns[f"{traffic}.bytes"])
        by_rate = ratio(rate, self.columns[f"{traffic}.rate"])
        columns = {
            "launch": self.columns["launch"],
            "kernel": self.columns["kernel"],
            "path": repeated(path, len(self)),
            "tier": repeated(tier, len(self)),
            "intensity": np.where(np.isnan(by_count), by_rate, by_count),
            "rate": rate,
            "peak": self.columns[f"{work}.peak"],
            "bandwidth": self.columns[f"{traffic}.peak"],
        }
        works = (count > 0) | (rate > 0)
        return {name: column[works] for name, column in columns.items()}

    def to_json(self) -> str:
        """The analysis as JSON text (contract, schema ncu-roofline/analysis/1)."""
        from ncu_roofline.render.json_report import to_json  # Renderers come after this module.

        return to_json(self)

    def figure(self) -> go.Figure:
        """The roofline as a plotly figure, with a subplot for each device."""
        from ncu_roofline.render.picture import charts
        from ncu_roofline.render.picture.interactive import to_plotly

        return to_plotly(charts(self))

    def _repr_html_(self) -> str:
        """Chart and table, as a notebook shows them."""
        from ncu_roofline.render.html import to_notebook

        return to_notebook(self)

    def explain(self, launch: int, quantity: str | None = None) -> Explanation:
        """How the numbers of a launch came about: formulas with numbers, printed cells, map lines.

        Args:
            launch: position of the launch over all inputs.
            quantity: a tier, a path, ``time``, ``bound`` or a column such as ``work.fp32.count``; None: all.

        Raises:
            UsageError: if there is no such launch or quantity.

        """
        from ncu_roofline.explain import explain  # Stands above this module.

        found = explain(self, launch, quantity)
        return found if self.scrubber is None else self.scrubber.apply(found)

    def budget(self, timeline: str | None = None, *, nvtx: str | None = None, launch_time: float = math.nan) -> Budget:
        """What the whole job takes, what it could take, and where the difference is.

        Args:
            timeline: an SQLite export of nsys of the whole job; without it the bounds of the launches remain.
            nvtx: a range of the timeline.
            launch_time: seconds that launching a kernel takes the host; NaN: as the timeline says.

        Raises:
            NcuRooflineError: if the timeline cannot be read, or nothing is inside the range.

        """
        from ncu_roofline.budget import budget_of

        return budget_of(
            self.columns, self.maps, self.groups(), [item.path for item in self.inputs],
            timeline=None if timeline is None else read_timeline(timeline), nvtx=nvtx, call=launch_time,
        )  # fmt: skip

    def scrubbed(self, *, kernels: bool = False) -> Analysis:
        """The same without names of people, machines and places, and, if asked for, of kernels.

        What is replaced has the same replacement everywhere in the result.
        """
        sources = self.columns.get("external.source", nothing(0)).tolist()
        paths = dict.fromkeys([*(item.path for item in self.inputs), *filter(None, sources), *self.places])
        made = scrubber(paths, kernels=kernels)
        columns = dict(self.columns)
        if kernels:
            columns |= _without_kernels(columns, made)
        for name in {*_KERNEL_NAMES, "external.source", "nvtx"} & columns.keys():
            columns[name] = mapped(made.apply, columns[name].tolist())
        return replace(
            self,
            inputs=tuple(replace(item, path=made.text(item.path)) for item in self.inputs),
            columns=columns,
            finding_list=tuple(_scrubbed(finding, made) for finding in self.finding_list),
            scrubber=made,
        )

    def first_launch(self, position: int) -> int:
        """Position over all inputs of the first launch of an input."""
        return sum(item.launches for item in self.inputs[:position])

    def worst(self) -> Severity | None:
        """The highest severity of any finding."""
        return max((finding.severity for finding in self.finding_list), default=None)

    def lacking(self, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Launches without an amount, for each of some tiers and paths that is not known everywhere."""
        lacking = {}
        for name in names:
            extent = self.columns.get(f"{'traffic' if name in TIERS else 'work'}.{name}.extent")
            gone = np.ones(len(self), np.bool_) if extent is None else np.asarray(extent == None)  # noqa: E711
            if gone.any():
                lacking[name] = tuple(self.columns["launch"][gone].tolist())
        return lacking

    def select(self, keep: BoolArray) -> Analysis:
        """Only the launches of a mask; findings keep those of their launches, shares refer to all launches."""
        columns = {name: column[keep] for name, column in self.columns.items()}
        numbers = frozenset(columns["launch"].tolist())
        findings = [
            replace(finding, launches=tuple(n for n in finding.launches if n in numbers))
            for finding in self.finding_list
            if not finding.launches or numbers.intersection(finding.launches)
        ]
        return replace(self, columns=columns, finding_list=tuple(findings))

    def groups(self, *, per_launch: bool = False) -> Columns:
        """Launches of one input, device, kernel, grid and block taken together (see ``grouping``)."""
        if self.aggregate and not per_launch:
            return group_over_ranks(self.columns)
        return group_launches(self.columns, per_launch=per_launch)

    def ranges(self) -> Columns:
        """Launches of one NVTX range taken together, for each input and device (see ``grouping``)."""
        return group_ranges(self.columns)


def _scrubbed(finding: Finding, made: Scrubber) -> Finding:
    if finding.code.startswith(_CLAIMS):
        finding = replace(finding, message=made.text_of_people(finding.message))
    return made.apply(finding)


def _without_kernels(columns: Columns, made: Scrubber) -> Columns:
    """The columns with names of kernels and NVTX ranges, these replaced."""
    found = [name for name in _KERNEL_NAMES if name in columns]
    names = list(zip(*(columns[name].tolist() for name in found), strict=True))
    words = mapped(lambda known: made.kernel(*filter(None, known)) if any(known) else None, names)
    hidden: Columns = {}
    for name in found:
        hidden[name] = words.copy()
        hidden[name][columns[name] == None] = None  # noqa: E711 (element by element)
    # Ranges are often called by words of every day, which must not be replaced elsewhere.
    domains, ranges = Scrubber(), Scrubber()

    def without_names(pairs: tuple[tuple[str, str], ...] | None) -> tuple[tuple[str, str], ...] | None:
        return pairs and tuple(
            (domain if domain == DEFAULT_DOMAIN else domains.replacement("domain", domain),
             ranges.replacement("range", name))
            for domain, name in pairs
        )  # fmt: skip

    return hidden | {"nvtx": mapped(without_names, columns["nvtx"].tolist())}
