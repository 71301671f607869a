"""A comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncu_roofline.comparison import Compared, Comparison, GateResult
from ncu_roofline.formats import aligned, seconds, short_kernel, visible
from ncu_roofline.render.comparison import words
from ncu_roofline.wording import count

_KERNEL = 40
_HEAD = ("kernel", "before", "after", "change", "verdict", "work", "traffic", "ceilings", "efficiency", "bound by")


def to_text(
    comparison: Comparison, gates: Sequence[GateResult] = (), *, top: int | None = None, quiet: bool = False
) -> str:
    """Verdict, pairs with the factors of their change, what is new and gone, findings, gates."""
    return "\n".join(_lines(comparison, gates, top, quiet=quiet))


def _lines(comparison: Comparison, gates: Sequence[GateResult], top: int | None, *, quiet: bool) -> Iterator[str]:
    whole = comparison.whole
    yield f"before: {words.side(comparison.before)}"
    yield f"after:  {words.side(comparison.after)}"
    yield f"whole job: {words.verdict(whole)}; {words.times(whole)}; {words.noise(whole.noise)}"
    yield f"{words.tally(comparison)}."
    changed = [one for _, one in words.shown(comparison)]
    if changed:
        yield from aligned([_HEAD, *(_row(one) for one in changed[:top])])
        yield "factors: of the time; their product is time after / time before (below 1 is faster)"
    if top is not None and len(changed) > top:
        yield f"{len(changed) - top} more not shown (--top {top})."
    if len(changed) < len(comparison.pairs):
        yield f"{count(len(comparison.pairs) - len(changed), 'pair')} with exactly the same time and amounts not shown."
    for one in changed[:top]:
        yield from _amounts(one)
    for word, some in (("gone", comparison.gone), ("new", comparison.new)):
        yield from (visible(f"{word}: {words.alone(one)}") for one in some[:top])
    if not quiet:
        for finding in comparison.finding_list:
            yield visible(f"{finding.severity.label} {finding.code} {finding.name}: {finding.message}")
            if finding.help:
                yield f"  {finding.help}"
    yield from (visible(f"gate {words.gate(result)}") for result in gates)


def _row(one: Compared) -> tuple[str, ...]:
    return (
        short_kernel(one.name, _KERNEL), seconds(one.before.median), seconds(one.after.median), words.time_change(one),
        words.verdict(one), *words.factors(one), words.bound(one),
    )  # fmt: skip


def _amounts(one: Compared) -> Iterator[str]:
    """Amounts that are not the same; times stand in the table."""
    differing = [
        f"{name} {change} ({before} -> {after})"
        for name, before, after, change in words.amounts(one)
        if change not in ("=", "-") and name not in ("bound.time", "bound.fraction")
    ]
    if differing:
        yield f"  {short_kernel(one.name, _KERNEL)}: {', '.join(differing)}"
