"""Rules on the translation of counters into quantities (M)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncu_roofline.arrays import BoolArray, mapped
from ncu_roofline.checks.ceilings import ceiling_of
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.vocabulary import (
    CORE_TIERS,
    NEVER_BINDING_PATHS,
    OPCODE,
    PATHS,
    TIERS,
    Extent,
    TensorState,
    amount_prefix,
    is_tensor,
)


def counter_not_collected(view: View) -> Iterator[Evidence]:
    """Counters that the picture needs were not collected.

    Most reports have no roofline counters: ncu's default set has none. What is missing is unknown, not zero,
    and a bound without it is only a lower bound of the time. The help gives the ncu command that collects
    exactly these counters on this architecture.
    """
    # A tensor pipe that did nothing leaves nothing to count.
    idle = view.columns["tensor_state"] == TensorState.IDLE
    for rows, command in view.commands:
        said: list[str] = []
        hit = np.zeros(view.size, np.bool_)
        for name in (*CORE_TIERS, *PATHS):
            gone = view.flags(f"missing.{name}") & rows & ~(idle & is_tensor(name))
            if gone.any():
                said.append(_where(name, gone, int(rows.sum())))
                hit |= gone
        if said:
            yield Evidence(hit, f"not collected: {', '.join(said)}.{_reasons(view, rows)}", command)


def _where(name: str, launches: BoolArray, size: int) -> str:
    """A name, with the number of launches where it is not all of them."""
    count = int(launches.sum())
    return name if count == size else f"{name} ({count} of {size})"


def tensor_not_counted(view: View) -> Iterator[Evidence]:
    """The tensor cores worked, and their operations were not counted.

    The scalar FLOP counters see nothing of tensor work, so the FLOP of the launch, its intensity and its
    bound are lower bounds, and what binds it cannot be said. Collect ``sm__ops_path_tensor_*``; a number of
    instructions times a constant is not a substitute, since the work of an instruction depends on its shape. On 7.0,
    7.2 and 7.5 the opcode histogram (``sass__inst_executed_per_opcode_with_modifier_all``, in binary reports and with
    ``--print-metric-instances details``) counts as well, as long as it lists no shape that the map does not know.
    """
    hit = view.flags("tensor_missing")
    what = (
        "the tensor pipe was active and its operations were not counted: FLOP, intensity and bound are lower bounds, "
        "and what binds is not known."
    )
    with_paths = {metric_map.id for metric_map in view.maps if any(map(is_tensor, metric_map.paths))}
    countable = np.zeros(view.size, np.bool_)
    for map_id, _, of_map in view.architectures:
        if map_id in with_paths:
            countable |= of_map
    for rows, command in view.commands:
        if (hit & rows & countable).any():
            yield Evidence(hit & rows & countable, what + _tensor_range(view, hit & rows & countable), command)
    if (hit & ~countable).any():
        yield Evidence(hit & ~countable, what, "A metric map of this architecture is needed (--map FILE).")


def _tensor_range(view: View, rows: BoolArray) -> str:
    """What the instructions say of the operations, on a chip where each shape is known."""
    fewest, most = view.floats("tensor_operations.low")[rows], view.floats("tensor_operations.high")[rows]
    if np.isnan(fewest).all():
        return ""
    return f" By their instructions they are between {np.nansum(fewest):.4g} and {np.nansum(most):.4g} FLOP."


def tensor_activity_ambiguous(view: View) -> Iterator[Evidence]:
    """The tensor pipe was active, which may be constant loads only.

    On compute capabilities 8.0, 8.7 and 9.0 the compiler's constant load (HFMA2.MMA) runs on the tensor pipe
    and is in its counters. Without ``sm__inst_executed_pipe_tensor_op_hmma_type_hfma2`` or the operation
    counters it cannot be told from tensor work.
    """
    hit = view.columns["tensor_state"] == TensorState.AMBIGUOUS
    if hit.any():
        hit &= ~_all_tensor_paths_counted(view)
    yield from _by_map(
        view, hit, "the tensor pipe was active; whether in tensor work or in constant loads is not known"
    )


def phantom_fp16(view: View) -> Iterator[Evidence]:
    """FP16 work may be the compiler's constant loads.

    The instruction ``HFMA2.MMA Rn, -RZ, RZ, imm, imm`` loads constants in FP32 and FP64 kernels and is counted
    as a half-precision fused multiply-add. FP16 without any half-precision add or multiply, in a kernel that
    does FP32 or FP64 work, is therefore an upper bound: it is in no intensity and does not bind.
    """
    hit = view.labels("work.fp16.extent") == Extent.AT_MOST.label
    if hit.any():
        most = np.nan_to_num(np.where(hit, view.floats("work.fp16.count"), 0.0)).max()
        amount = f", at most {most:.4g} FLOP in a launch" if most > 0 else ""
        yield Evidence(
            hit,
            f"FP16 work is in fused multiply-adds only, which may be constant loads (HFMA2.MMA){amount}: shown "
            "as an upper bound, not in intensities and not binding.",
            "The opcodes tell: look for HFMA2 other than HFMA2.MMA on the source page.",
        )


def unknown_architecture(view: View) -> Iterator[Evidence]:
    """There is no metric map for the compute capability of a launch.

    It was evaluated with the counters that all architectures share. Tensor work cannot be counted, and the
    bound is incomplete. A map is one YAML file: give it with ``--map``.
    """
    cc = view.labels("cc")
    hit = (view.labels("map") == "base") & (cc != None)  # noqa: E711
    if hit.any():
        names = ", ".join(sorted(set(cc[hit])))
        yield Evidence(
            hit,
            f"no metric map for compute capability {names}: evaluated with the counters that all architectures "
            "share, without tensor paths.",
            "Give a map of this architecture with --map FILE.",
        )


def architecture_not_stated(view: View) -> Iterator[Evidence]:
    """The report does not say which compute capability a launch ran on.

    Old versions of ncu print no CC column. The launch was evaluated with the counters that all architectures
    share; ``--cc`` states the compute capability.
    """
    hit = view.labels("cc") == None  # noqa: E711
    if hit.any():
        yield Evidence(
            hit,
            "the report does not state the compute capability: evaluated without tensor paths.",
            "Say it with --cc, for example --cc 8.0.",
        )


def time_not_known(view: View) -> Iterator[Evidence]:
    """The duration of a launch is not known.

    There is neither ``gpu__time_duration`` nor cycles with their clock, or the duration is zero. Rates come from the
    report alone, and times and headroom are unknown.
    """
    yield from _by_map(view, np.isnan(view.floats("time")), "no duration is known")


def launches_not_separable(view: View) -> Iterator[Evidence]:
    """An entry is the average of several launches.

    The report was printed with ``--print-summary``. Amounts, times and bounds are the average times the number of
    invocations; how much single launches differ cannot be said. Export without it to see every launch.
    """
    hit = view.floats("invocations") > 1
    if hit.any():
        total = int(view.floats("invocations")[hit].sum())
        yield Evidence(
            hit,
            f"{total} launches were merged by --print-summary into {int(hit.sum())} entries: totals are average times "
            "invocations.",
            "Export without --print-summary to see every launch.",
        )


def partial_amount(view: View) -> Iterator[Evidence]:
    """Only some of the counters of an amount were collected, so the amount is a lower bound."""
    hit = np.zeros(view.size, np.bool_)
    names = []
    for name in (*(f"work.{path}" for path in PATHS), *(f"traffic.{tier}" for tier in TIERS)):
        if f"{name}.extent" not in view.columns:
            continue
        partial = view.labels(f"{name}.extent") == Extent.AT_LEAST.label
        if partial.any():
            names.append(_where(name.partition(".")[2], partial, view.size))
            hit |= partial
    if names:
        yield from _by_map(view, hit, f"only part of the counters of {', '.join(names)} was collected")


def ceiling_not_known(view: View) -> Iterator[Evidence]:
    """An amount is known and its ceiling is not, so it cannot bind.

    A ceiling needs the counter's own peak (``.peak_sustained``) and the clock of its unit, or the counter's
    percentage of peak. Without it a path or tier is shown with its rate and takes no part in the bound.
    """
    for rows, command in view.commands:
        hit = np.zeros(view.size, np.bool_)
        names = []
        for prefix, name in [*(("traffic", tier) for tier in CORE_TIERS), *(("work", path) for path in PATHS)]:
            if f"{prefix}.{name}.rate" not in view.columns:
                continue
            amount = "bytes" if prefix == "traffic" else "count"
            works = (view.floats(f"{prefix}.{name}.{amount}") > 0) | (view.floats(f"{prefix}.{name}.rate") > 0)
            lacks = rows & works & np.isnan(view.floats(f"{prefix}.{name}.peak"))
            if lacks.any() and name not in NEVER_BINDING_PATHS:
                names.append(_where(name, lacks, int(rows.sum())))
                hit |= lacks
        if names:
            published = hit & np.isnan(view.floats("clocks.sm"))
            published &= np.any([~np.isnan(ceiling_of(view, path, "device")[0]) for path in PATHS], axis=0)
            why = (
                " The device table has peaks of paths, but the SM clock of the run is not known."
                if published.any()
                else ""
            )
            yield Evidence(hit, f"no ceiling is known for {', '.join(names)}.{why}", command)


def fallback_recipe(view: View) -> Iterator[Evidence]:
    """An amount or a ceiling comes from a second-best recipe.

    A ceiling that is a rate over its percentage of peak has the rounding of the percentage, which ncu prints with two
    decimals: at 3 % it is known to 0.2 %, at 0.03 % not at all; a binary report has all digits. Tensor work from the
    opcode histogram rests on the shape in the name of the instruction. Collect the counters of the help to have the
    first recipe.
    """
    names = [name for name in (*CORE_TIERS, *PATHS) if name not in NEVER_BINDING_PATHS]
    printed = np.zeros(view.size, np.bool_)
    for facts in view.inputs:
        if not facts.is_binary:
            printed |= view.launches_of(facts)
    rounded = {
        name: _is_rounded(view, name) & printed for name in names if f"{amount_prefix(name)}.peak" in view.columns
    }
    from_opcodes = {
        name: _from_opcodes(view, name) for name in names if is_tensor(name) and f"work.{name}.recipe" in view.columns
    }
    for columns, what in (
        (rounded, "ceilings are rates over rounded percentages"), (from_opcodes, "work is from the opcode histogram"),
    ):  # fmt: skip
        hit = np.zeros(view.size, np.bool_)
        said = []
        for name, mine in columns.items():
            if mine.any():
                said.append(_where(name, mine, view.size))
                hit |= mine
        if said:
            yield from _by_map(view, hit, f"{what}: {', '.join(said)}")


def _is_rounded(view: View, name: str) -> BoolArray:
    rounded = view.flags(f"ceilings.{name}.report.rounded")
    if not rounded.any():
        return rounded
    return np.asarray(rounded & (view.labels(f"{amount_prefix(name)}.peak_source") == "report"))


def _from_opcodes(view: View, path: str) -> BoolArray:
    works = view.floats(f"work.{path}.count") > 0
    if not works.any():
        return works
    recipes = view.labels(f"work.{path}.recipe")
    return works & mapped(lambda text: text is not None and OPCODE in text, recipes.tolist()).astype(np.bool_)


def value_per_unit(view: View) -> Iterator[Evidence]:
    """Only an average, maximum or minimum over the units of the chip is known of a counter.

    ``dram__bytes.avg`` is what one memory channel moved on average, not what all moved together, and how many there
    are is not in the report. Such a value is no total, and the tier or path stays unknown.
    """
    by_metric: dict[str, tuple[list[str], BoolArray]] = {}
    for (name, metric), hit in view.per_unit.items():
        names, launches = by_metric.get(metric, ([], np.zeros(view.size, np.bool_)))
        by_metric[metric] = ([*names, name], launches | hit)
    for metric, (names, launches) in by_metric.items():
        yield Evidence(
            launches,
            f"{metric} is a value per unit of the chip and no total: {', '.join(names)} unknown.",
            f"Collect the total: ncu --metrics {metric.partition('.')[0]}.sum",
        )


def traffic_not_in_measure(view: View) -> Iterator[Evidence]:
    """Some traffic is in no measure of its tier.

    TMA copies go past the counters of the tag stage and of the load return of L1. Where their own counters were
    collected and are not zero, the bytes of the tier are too few and its intensity is too high.
    """
    for tier in TIERS:
        unseen, used = view.floats(f"traffic.{tier}.unseen"), view.floats(f"traffic.{tier}.bytes")
        hit = unseen > 0
        if hit.any():
            first = int(np.flatnonzero(hit)[0])
            measure = view.labels(f"traffic.{tier}.measure")[first]
            yield Evidence(
                hit,
                f"{tier} is measured by {measure}, {used[first]:.4g} byte in launch {first}, which does not see "
                f"{unseen[first]:.4g} byte of TMA traffic: bytes are too few, intensity too high.",
            )


def measure_contains_more(view: View) -> Iterator[Evidence]:
    """The measure in use contains traffic that is not between the SMs and the tier.

    On chips whose L2 has two halves, ``lts__t_bytes`` and ``lts__t_sectors`` count what one half fetches from the
    other: up to twice the bytes, so an intensity may be up to two times low. The peak belongs to the same way of
    counting, so the time that these bytes need at least is right. Collect ``lts__t_sectors_srcunit_tex``.
    """
    maps = {metric_map.id: metric_map for metric_map in view.maps}
    for map_id, cc, rows in view.architectures:
        for tier, tier_map in maps[map_id].tiers.items():
            for measure in tier_map.measures:
                if cc is None or cc not in measure.contains:
                    continue
                hit = rows & (view.labels(f"traffic.{tier}.measure") == measure.id)
                what = measure.contains[cc]
                yield from _by_map(
                    view, hit, f"{tier} is measured by {measure.id}, which contains {what}: an intensity may be low"
                )


def measure_sees_less(view: View) -> Iterator[Evidence]:
    """Another measure of a tier saw more bytes than the one in use.

    A tier's bytes and its ceiling come from one way of counting. The one in use may miss stores, TMA copies
    or traffic between the halves of L2 that another way of counting saw; both are kept, and the intensity
    belongs to the one in use.
    """
    for tier in TIERS:
        for column in view.matching(f"traffic.{tier}.measures.*.bytes"):
            other = column.split(".")[3]
            used, seen = view.floats(f"traffic.{tier}.bytes"), view.floats(column)
            hit = seen > 1.05 * used
            if hit.any():
                hit &= view.labels(f"traffic.{tier}.measure") != other
            if hit.any():
                first = int(np.flatnonzero(hit)[0])
                measure = view.labels(f"traffic.{tier}.measure")[first]
                beyond = _beyond(view, tier, other, first)
                yield Evidence(
                    hit,
                    f"{tier} is measured by {measure}, which saw {used[first]:.4g} byte where {other} saw "
                    f"{seen[first]:.4g} byte (launch {first}){beyond}.",
                )


def _beyond(view: View, tier: str, measure: str, launch: int) -> str:
    """What a measure is known to count beyond the traffic of its tier on the chip of a launch."""
    cc, map_id = view.labels("cc")[launch], view.labels("map")[launch]
    for metric_map in view.maps:
        for entry in metric_map.tiers[tier].measures if metric_map.id == map_id else ():
            if entry.id == measure and cc in entry.contains:
                return f"; {measure} contains {entry.contains[cc]}"
    return ""


def _all_tensor_paths_counted(view: View) -> BoolArray:
    counted = np.zeros(view.size, np.bool_)
    for metric_map in view.maps:
        paths = [path for path in metric_map.paths if is_tensor(path)]
        rows = view.labels("map") == metric_map.id
        complete = [view.labels(f"work.{path}.extent") == Extent.EXACT.label for path in paths]
        counted |= rows & np.all(complete, axis=0) if complete else np.zeros(view.size, np.bool_)
    return counted


def _by_map(view: View, hit: BoolArray, what: str) -> Iterator[Evidence]:
    """One evidence per architecture, with the command that collects what would tell."""
    for rows, command in view.commands:
        if (hit & rows).any():
            yield Evidence(hit & rows, f"{what}.", command)


def _reasons(view: View, rows: BoolArray) -> str:
    """Why a tier cannot be collected at all, where that is so."""
    ccs = set(view.labels("cc")[rows])
    reasons = {
        f" {tier} on compute capability {cc}: {reason}."
        for metric_map in view.maps
        for tier, by_cc in metric_map.unmeasured.items()
        for cc, reason in by_cc.items()
        if cc in ccs
    }
    return "".join(sorted(reasons))
