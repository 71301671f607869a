"""A comparison as Markdown for a comment on a pull request: short, with the details folded, below GitHub's limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ncu_roofline.comparison import Compared, Comparison, GateResult, Outcome
from ncu_roofline.formats import seconds, short_kernel
from ncu_roofline.render.comparison import words
from ncu_roofline.render.markdown import findings_as_markdown
from ncu_roofline.render.markdown_syntax import code, code_cell, escaped, table_row
from ncu_roofline.version import VERSION

MARKER: Final = "<!-- ncu-roofline compare -->"
"""By this line a later run finds its own comment and replaces it."""
LIMIT: Final = 65_000
"""Characters of a comment; GitHub takes 65 536."""
_ROWS: Final = 5
_KERNEL: Final = 60
_GATES: Final = 20
_GATE: Final = 200
"""Characters of a gate that are shown."""
_HEAD: Final = ("#", "kernel", "before", "after", "verdict", "work", "traffic", "ceilings", "efficiency", "bound by")
_MARKS: Final = {Outcome.PASSED: "passed", Outcome.FAILED: "**failed**", Outcome.NO_EVIDENCE: "**no evidence**"}


def to_markdown(comparison: Comparison, gates: Sequence[GateResult] = (), *, picture: str | None = None) -> str:
    """The comparison as a comment.

    Args:
        comparison: what is shown.
        gates: what became of each gate.
        picture: name of the figure beside the comment, without ``.svg``; None: there is none.

    """
    short = list(_short(comparison, gates, picture))
    changed = words.shown(comparison)
    rest = [_row(number, one) for number, one in changed[_ROWS:]]
    details = list(_details(comparison))
    foot = ["", f"<sub>ncu-roofline {VERSION}; percentages are of the value before</sub>"]
    while True:
        folded = ["<details><summary>All pairs, amounts and findings</summary>", ""]
        folded += [table_row(_HEAD), _rule(), *rest, ""] if rest else []
        left = len(changed) - _ROWS - len(rest)
        folded += [f"{left} more pairs do not fit into a comment.", ""] if left > 0 else []
        text = "\n".join([*short, *folded, *details, "", "</details>", *foot]) + "\n"
        if len(text) <= LIMIT or not (rest or details):
            return text
        rest, details = (rest[: len(rest) // 2], details) if rest else (rest, details[: len(details) // 2])


def _short(comparison: Comparison, gates: Sequence[GateResult], picture: str | None) -> Iterator[str]:
    whole = comparison.whole
    yield MARKER
    yield f"### Roofline: {escaped(words.verdict(whole))}"
    yield ""
    yield f"Whole job {escaped(words.times(whole))}; {escaped(words.noise(whole.noise))}. {words.tally(comparison)}."
    yield ""
    if gates:
        yield from (
            f"- gate {code(one.gate.text[:_GATE])} {_MARKS[one.outcome]}: {escaped(one.message)}"
            for one in gates[:_GATES]
        )
        if len(gates) > _GATES:
            yield f"- and {len(gates) - _GATES} more gates, which stand in the other files"
        yield ""
    for word, some in (("gone", comparison.gone), ("new", comparison.new)):
        if some:
            more = f" and {len(some) - _ROWS} more" if len(some) > _ROWS else ""
            named = ", ".join(
                f"{code(short_kernel(one.key.kernel, _KERNEL))} ({seconds(one.time)})" for one in some[:_ROWS]
            )
            yield f"- {word}: {named}{more}"
            yield ""
    changed = words.shown(comparison)[:_ROWS]
    if changed:
        yield table_row(_HEAD)
        yield _rule()
        yield from (_row(number, one) for number, one in changed)
        yield ""
    if picture is not None:
        yield (
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="{picture}-dark.svg">'
            f'<img alt="Roofline before and after" src="{picture}.svg"></picture>'
        )
        yield ""


def _rule() -> str:
    return table_row(["--:", ":--", "--:", "--:", ":--", "--:", "--:", "--:", "--:", ":--"])


def _row(number: int, one: Compared) -> str:
    """A pair with its number in the figure."""
    cells = [
        seconds(one.before.median),
        seconds(one.after.median),
        words.verdict(one),
        *words.factors(one),
        words.bound(one),
    ]
    return table_row([str(number), code_cell(short_kernel(one.name, _KERNEL)), *map(escaped, cells)])


def _details(comparison: Comparison) -> Iterator[str]:
    for _, one in words.shown(comparison)[:_ROWS]:
        differing = [row for row in words.amounts(one) if row[3] not in ("=", "-")]
        if differing:
            yield f"- {code(short_kernel(one.name, _KERNEL))} ({escaped(one.rule)}): " + "; ".join(
                escaped(f"{name} {change} ({before} -> {after})") for name, before, after, change in differing
            )
    yield ""
    yield from findings_as_markdown(comparison.finding_list)
    yield ""
    for word, side in (("before", comparison.before), ("after", comparison.after)):
        digests = ", ".join(f"{code(source.name)} (sha256 `{source.sha256[:12]}`)" for source in side.sources[:10])
        yield f"- {word}: {escaped(words.side(side))}; {digests}"
