"""The frozen result of an analysis: the only thing that renderers know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ncu_roofline.checks import Finding, SkippedRule
from ncu_roofline.conditions import Conditions
from ncu_roofline.grouping import group_launches
from ncu_roofline.maps import MetricMap
from ncu_roofline.vocabulary import FLOP_PATHS, TIERS, Severity

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
        rows = [(f.code, f.name, f.severity.label, f.launches, f.message, f.help) for f in self.finding_list]
        return pd.DataFrame(rows, columns=columns)

    @property
    def points(self) -> pd.DataFrame:
        """Roofline points: one row per launch and tier with intensity, FLOP/s, byte/s and its ceiling."""
        table = self.launches
        flop_rate = self.flop_rate()
        parts = [
            pd.DataFrame(
                {
                    "launch": table["launch"],
                    "tier": tier,
                    "intensity": table[f"traffic.{tier}.intensity"],
                    "flop_per_second": flop_rate,
                    "bytes_per_second": table[f"traffic.{tier}.rate"],
                    "peak": table[f"traffic.{tier}.peak"],
                }
            )
            for tier in TIERS
            if f"traffic.{tier}.rate" in table
        ]
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

    def lacking(self, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Launches without an amount, for each of some tiers and paths that is not known everywhere."""
        lacking = {}
        for name in names:
            prefix = "traffic" if name in TIERS else "work"
            column = f"{prefix}.{name}.extent"
            known = self.launches[column].notna() if column in self.launches else self.launches["launch"].lt(0)
            if not known.all():
                lacking[name] = tuple(self.launches["launch"][~known].tolist())
        return lacking

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

    def groups(self, *, per_launch: bool = False) -> pd.DataFrame:
        """Launches of one input, device, kernel, grid and block taken together (see ``grouping``)."""
        return group_launches(self.launches, per_launch=per_launch)
