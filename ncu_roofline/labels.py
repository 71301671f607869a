"""The label file: which metric a label of ncu's details page stands for, by section.

This module knows the file and nothing of reports; ``normalise`` applies it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.errors import DataFileError
from ncu_roofline.strict_yaml import YamlFile, read_yaml


@dataclass(frozen=True)
class Target:
    """The metric behind a printed name, the dimension its unit must have and a divisor of the value.

    More than one metric: the label is that of several counters of which a chip has one.
    """

    metrics: tuple[str, ...]
    dimension: str | None
    divide: int


@dataclass(frozen=True)
class Labels:
    """Labels by (section name, label), and derived metrics by their own name.

    One label may stand for several metrics, which differ in their dimension.
    """

    by_section: Mapping[tuple[str, str], tuple[Target, ...]]
    derived: Mapping[str, Target]

    def printed_names(self, metrics: frozenset[str]) -> frozenset[str]:
        """Every name under which one of these metrics may be printed: itself, a label, a derived name."""
        labels = {
            label
            for (_, label), targets in self.by_section.items()
            if any(metrics.intersection(target.metrics) for target in targets)
        }
        derived = {name for name, target in self.derived.items() if metrics.intersection(target.metrics)}
        return metrics | labels | derived


@cache
def load_labels(path: Path | None = None) -> Labels:
    """Load the packaged label file or another one.

    Raises:
        DataFileError: with all problems of the file at once.

    """
    file = read_yaml(path or metric_map_directory() / "labels.yaml")
    by_section: dict[tuple[str, str], tuple[Target, ...]] = {}
    derived: dict[str, Target] = {}
    if not file.problems:
        data = file.data if isinstance(file.data, dict) else {}
        for position, section in enumerate(data.get("sections", [])):
            for label, entry in section["labels"].items():
                where = f"$.sections[{position}].labels.{label}"
                several = entry if isinstance(entry, list) else [entry]
                targets = tuple(_target(file, where, one) for one in several)
                by_section |= {(name, label): targets for name in section["names"]}
        derived = {name: _target(file, f"$.derived.{name}", entry) for name, entry in data.get("derived", {}).items()}
    if file.problems:
        raise DataFileError(file.problems)
    return Labels(by_section, derived)


def _target(file: YamlFile, where: str, entry: Any) -> Target:
    entry = entry if isinstance(entry, dict) else {}
    metrics = entry.get("metric")
    metrics = [metrics] if isinstance(metrics, str) else metrics
    if not metrics or not all(isinstance(metric, str) for metric in metrics):
        file.report(where, "needs a metric, or a list of metrics")
        metrics = []
    for key in entry.keys() - {"metric", "dimension", "divide"}:
        file.report(f"{where}.{key}", "unknown key; known here are dimension, divide, metric")
    return Target(tuple(metrics), entry.get("dimension"), entry.get("divide", 1))
