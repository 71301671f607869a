"""The frozen result of an analysis: the only thing that renderers know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ncu_roofline.checks import Finding, SkippedRule
from ncu_roofline.conditions import Conditions
from ncu_roofline.maps import MetricMap
from ncu_roofline.vocabulary import FLOP_PATHS, TIERS, Severity

GROUP_KEY: Final = ("input", "device_ordinal", "cc", "kernel", "grid", "block")
DEVICE_KEY: Final = ("input", "device_ordinal")


@dataclass(frozen=True)
class Input:
    """One input of an analysis."""

    path: str
    sha256: str
    form: str
    launches: int
    skipped_lines: int
    conditions: Conditions


@dataclass(frozen=True)
class Analysis:
    """Launches with everything that is known of them, and the findings.

    ``launches`` has one row per launch and the dotted columns of the contract in SI base units; NaN and None
    are unknown. ``device_time`` is the time of all launches of the input on the same device, to which shares
    refer also after a selection.
    """

    inputs: tuple[Input, ...]
    launches: pd.DataFrame
    finding_list: tuple[Finding, ...]
    skipped_rules: tuple[SkippedRule, ...]
    maps: Mapping[str, MetricMap]

    @property
    def findings(self) -> pd.DataFrame:
        """Findings as a table: code, name, severity, launches, message, help."""
        columns = ["code", "name", "severity", "launches", "message", "help"]
        rows = [
            (f.code, f.name, f.severity.label, f.launches, f.message, f.help) for f in self.finding_list
        ]
        return pd.DataFrame(rows, columns=columns)

    @property
    def points(self) -> pd.DataFrame:
        """Roofline points: one row per launch and tier with intensity, FLOP/s, byte/s and both ceilings' names."""
        parts = []
        for tier in TIERS:
            if f"traffic.{tier}.rate" in self.launches:
                parts.append(
                    pd.DataFrame(
                        {
                            "launch": self.launches["launch"],
                            "tier": tier,
                            "intensity": self.launches[f"traffic.{tier}.intensity"],
                            "bytes_per_second": self.launches[f"traffic.{tier}.rate"],
                            "peak": self.launches[f"traffic.{tier}.peak"],
                            "flop_per_second": self.flop_rate(),
                        }
                    )
                )
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def to_json(self) -> str:
        """The analysis as JSON text (contract, schema ncu-roofline/analysis/1)."""
        from ncu_roofline.render.json_report import to_json  # Renderers come after this module.

        return to_json(self)

    def flop_rate(self) -> pd.Series[float]:
        """FLOP/s of all floating-point paths whose amount is exact or a lower bound."""
        total = pd.Series(np.nan, index=self.launches.index)
        for path in FLOP_PATHS:
            if f"work.{path}.rate" in self.launches:
                counts = self.launches[f"work.{path}.extent"].isin(["exact", "at_least"])
                total = total.add(self.launches[f"work.{path}.rate"].where(counts), fill_value=0.0)
        return total

    def worst(self) -> Severity | None:
        """The highest severity of any finding."""
        return max((finding.severity for finding in self.finding_list), default=None)

    def select(self, keep: npt.NDArray[np.bool_]) -> Analysis:
        """Only the launches of a mask; findings keep those of their launches, shares refer to all launches."""
        kept = self.launches[keep]
        numbers = frozenset(kept["launch"])
        findings = [
            replace(finding, launches=tuple(n for n in finding.launches if n in numbers))
            for finding in self.finding_list
            if not finding.launches or numbers.intersection(finding.launches)
        ]
        return replace(self, launches=kept, finding_list=tuple(findings))

    def groups(self) -> pd.DataFrame:
        """Launches of one input, device, kernel, grid and block taken together, longest first.

        Amounts, times and bounds are summed, never averaged. Columns: the key, ``launches`` (positions),
        ``time``, ``share`` (of the time on its device), ``bound.by`` (what binds most of the time),
        ``bound.time``, ``bound.fraction``, ``bound.headroom``, ``bound.complete``.
        """
        return _groups(self.launches)


def _groups(launches: pd.DataFrame) -> pd.DataFrame:
    codes = launches.groupby(list(GROUP_KEY), dropna=False, sort=False).ngroup().to_numpy()
    grouped = launches.groupby(codes, sort=False)
    first = grouped.head(1)
    result = first[list(GROUP_KEY)].reset_index(drop=True)
    result["launches"] = pd.Series(list(grouped["launch"].agg(tuple)), dtype=object)
    result["time"] = grouped["time"].sum(min_count=1).to_numpy()
    result["share"] = result["time"] / first["device_time"].to_numpy()
    both = launches[["bound.time", "time"]].where(launches[["bound.time", "time"]].notna().all(axis=1))
    bound_time = both["bound.time"].groupby(codes, sort=False).sum(min_count=1).to_numpy()
    measured = both["time"].groupby(codes, sort=False).sum(min_count=1).to_numpy()
    rate_only = grouped["bound.fraction"].max().to_numpy()
    result["bound.by"] = _leading(launches, codes, len(result))
    result["bound.time"] = grouped["bound.time"].sum(min_count=1).to_numpy()
    result["bound.fraction"] = np.where(np.isnan(measured), rate_only, bound_time / measured)
    result["bound.headroom"] = measured - bound_time
    result["bound.complete"] = grouped["bound.complete"].all().to_numpy()
    order = np.argsort(-result["time"].fillna(-np.inf).to_numpy(), kind="stable")
    return result.iloc[order].reset_index(drop=True)


def _leading(launches: pd.DataFrame, codes: npt.NDArray[Any], size: int) -> list[str | None]:
    """What binds most of the bound time of each group; None where nothing can be said."""
    leading: list[str | None] = [None] * size
    weight = launches["bound.time"].fillna(launches["bound.fraction"])
    table = pd.DataFrame({"group": codes, "by": launches["bound.by"].to_numpy(), "weight": weight.to_numpy()})
    sums = table.dropna().groupby(["group", "by"], sort=False)["weight"].sum()
    best: dict[int, float] = {}
    for (group, by), value in sums.items():  # type: ignore[misc]
        if value > best.get(group, -1.0):
            best[group], leading[group] = value, by
    return leading


def findings_at_least(findings: Sequence[Finding], severity: Severity) -> list[Finding]:
    """Findings of a severity or above."""
    return [finding for finding in findings if finding.severity >= severity]
