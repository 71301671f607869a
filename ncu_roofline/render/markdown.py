"""The analysis as Markdown for a pull request: the table of groups, the findings, where the numbers are from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import rows
from ncu_roofline.checks import Finding
from ncu_roofline.formats import short_kernel
from ncu_roofline.render.group_table import (
    advice,
    below,
    columns_of,
    commands,
    heading,
    positions,
    sort_groups,
)
from ncu_roofline.render.markdown_syntax import code_cell, escaped, table_row
from ncu_roofline.version import VERSION

_KERNEL_WIDTH: Final = 60


def render_markdown(
    analysis: Analysis, *, per_launch: bool = False, top: int | None = None, sort: str = "time", quiet: bool = False
) -> str:
    """The analysis as GitHub-flavoured Markdown."""
    groups = sort_groups(rows(analysis.groups(per_launch=per_launch)), sort)
    shown = groups[:top]
    lines = ["### Roofline", "", *(f"- {escaped(line.strip())}" for line in heading(analysis)), ""]
    columns = columns_of(shown, several_inputs=len(analysis.inputs) > 1)
    lines.append(table_row(["kernel", *(column.title for column in columns)]))
    lines.append(table_row([":--", *(":--" if column.left else "--:" for column in columns)]))
    for row in shown:
        name = short_kernel(row["kernel"], _KERNEL_WIDTH)
        lines.append(table_row([code_cell(name), *(escaped(column.cell(row)) for column in columns)]))
    lines.append("")
    if len(shown) < len(groups):
        lines += [f"{len(groups) - len(shown)} more not shown.", ""]
    for line in below(analysis, shown):
        lines += [escaped(line), ""]
    if analysis.finding_list and not quiet:
        lines += _findings(analysis.finding_list)
    digests = ", ".join(f"`{item.path}` (sha256 `{item.sha256[:12]}`)" for item in analysis.inputs)
    lines.append(f"<sub>ncu-roofline {VERSION} on {digests}</sub>")
    return "\n".join(lines) + "\n"


def _findings(findings: Sequence[Finding]) -> list[str]:
    return ["<details><summary>Findings</summary>", "", *findings_as_markdown(findings), "", "</details>", ""]


def findings_as_markdown(findings: Sequence[Finding]) -> list[str]:
    """Findings as a list, then every command that they ask for."""
    lines = []
    for finding in findings:
        launches = f" (launch {positions(finding.launches)})" if finding.launches else ""
        lines.append(
            f"- **{finding.severity.label}** {finding.code} {finding.name}{launches}: {escaped(finding.message)}"
        )
        if text := advice(finding):
            lines.append(f"  {escaped(text)}")
    for command in commands(findings):
        lines += ["", "To collect all that is missing:", "", "```sh", command, "```"]
    return lines
