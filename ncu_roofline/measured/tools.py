"""Results of benchmarks: which tool a text is from, and its names mapped to tiers and instruction paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.measured.babelstream import read_babelstream
from ncu_roofline.measured.ert import read_ert
from ncu_roofline.measured.mixbench import read_mixbench
from ncu_roofline.measured.model import Entry, MeasuredCeiling, MeasuredCeilings, ToolResult
from ncu_roofline.vocabulary import SCALAR_FLOP_PATHS, TIERS

_READERS: Final = (read_ert, read_mixbench, read_babelstream)
_EXPECTED: Final = (
    "expected one of: a YAML file with `schema: 1` and `ceilings`, roofline.json of ERT, "
    "the table that mixbench prints below `CSV data`, the output of BabelStream (table or --csv)"
)


def read_tool(path: Path, text: str) -> ToolResult:
    """Read the output of a benchmark.

    Raises:
        InputError: the text is from none of the tools that are known here, or is damaged.

    """
    for reader in _READERS:
        result = reader(path, text)
        if result is not None:
            return result
    raise InputError(str(path), "is not a file of measured ceilings", _EXPECTED)


def from_tool(result: ToolResult) -> MeasuredCeilings:
    """The ceilings of a file without a mapping: only those whose meaning its format states.

    Raises:
        InputError: there are none; names what the file has and shows the mapping to write.

    """
    mapping = {entry.name: result.stated[entry.name] for entry in result.entries if _is_stated(result, entry)}
    if not mapping:
        raise InputError(result.file, _nothing_stated(result), _suggestion(result))
    return with_mapping(result, mapping, why_not=result.unstated)


def with_mapping(
    result: ToolResult, mapping: Mapping[str, str], *, why_not: str = "not mapped to a tier or path"
) -> MeasuredCeilings:
    """The ceilings of a file under the given tier or path for each of its names.

    The mapping was checked: every name is there once and no tier or path has two of them.
    """
    taken = [entry for entry in result.entries if entry.name in mapping]
    others = [entry for entry in result.entries if entry.name not in mapping]
    return MeasuredCeilings(
        file=result.file,
        tool=result.tool,
        ceilings={mapping[entry.name]: _ceiling(result, entry) for entry in taken},
        notes=(
            *(_taken(entry, mapping[entry.name]) for entry in taken),
            *(f"left out: {_where(entry)}: {entry.doubt or why_not}" for entry in others),
            *(f"left out: {name}: {why}" for name, why in result.left_out.items()),
            *result.notes,
        ),
        device=result.device,
    )


def describe(result: ToolResult) -> str:
    """What a file has, under its own names."""
    levels = ", ".join(entry.name for entry in result.levels) or "none"
    peaks = ", ".join(entry.name for entry in result.peaks) or "none"
    return f"levels: {levels}; peaks: {peaks}"


def _is_stated(result: ToolResult, entry: Entry) -> bool:
    return entry.doubt is None and entry.name in result.stated


def _ceiling(result: ToolResult, entry: Entry) -> MeasuredCeiling:
    place = result.file if entry.line is None else f"{result.file}:{entry.line}"
    return MeasuredCeiling(entry.value, None, f"{result.tool}, {place}: {entry.words}")


def _taken(entry: Entry, target: str) -> str:
    doubt = f", although {entry.doubt}" if entry.doubt else ""
    return f"{target}: {_where(entry)}{doubt}"


def _where(entry: Entry) -> str:
    return entry.words if entry.line is None else f"{entry.words} (line {entry.line})"


def _nothing_stated(result: ToolResult) -> str:
    doubts = "; ".join(f"{entry.name}: {entry.doubt}" for entry in result.entries if entry.doubt)
    if doubts:
        return f"no result of {result.tool} can be taken as a ceiling without a mapping: {doubts}"
    return f"{result.tool} does not say which memory tier or instruction path a result is ({describe(result)})"


def _suggestion(result: ToolResult) -> str:
    """The YAML file that a user has to complete: names of the tool, places for tiers and paths."""
    lines = [
        "Write a file beside it that maps what you know, leave out the other lines, and give that file:",
        "schema: 1",
        'sources: ["how, where and at which clock it was measured"]',
        f"from: {json.dumps(Path(result.file).name)}",
    ]
    if result.levels:
        lines += [f"levels:  # TIER is one of {', '.join(TIERS)}"]
        lines += [f"  {json.dumps(entry.name)}: TIER" for entry in result.levels]
    if result.peaks:
        lines += [f"peaks:  # PATH is {', '.join(SCALAR_FLOP_PATHS)} or a tensor path such as tensor.fp16"]
        lines += [f"  {json.dumps(entry.name)}: PATH" for entry in result.peaks]
    return "\n".join(lines)
