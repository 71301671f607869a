"""The one place that knows the order of the stages: read, normalise, evaluate, model, check.

Launches are evaluated in groups of one architecture and put back into one table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ncu_roofline.analysis import Analysis, Input
from ncu_roofline.arrays import (
    BoolArray,
    Columns,
    FloatArray,
    ObjectArray,
    joined,
    mapped,
    nothing,
    numbered_rows,
    unknown,
)
from ncu_roofline.ceilings import DEVICE, MEASURED, ORDERS, REPORT, Ceiling, Offers, from_device, from_file
from ncu_roofline.checks import DeviceNote, InputFacts, View, run_rules
from ncu_roofline.claims import judge, read_claims
from ncu_roofline.conditions import Conditions, common, read_conditions
from ncu_roofline.counters import PER_UNIT, metrics_of, spellings
from ncu_roofline.devices import DeviceMatch, match_device
from ncu_roofline.errors import InputError, UsageError
from ncu_roofline.evaluate import HIT_RATE, Quantities, evaluate
from ncu_roofline.external import external_columns
from ncu_roofline.grouping import adds_up, device_time
from ncu_roofline.identities import Identity, check_identities
from ncu_roofline.identity import grids_in_blocks, identify, not_understood, state_compute_capability, state_device
from ncu_roofline.inputs import conditions_under, counters_of, read_all, session_of, timings_of
from ncu_roofline.labels import load_labels
from ncu_roofline.ledger import ledger_columns, read_expectations
from ncu_roofline.maps import MapLibrary, MetricMap, load_library, load_map
from ncu_roofline.maps.library import BASE
from ncu_roofline.measured import MeasuredCeilings, load_measured
from ncu_roofline.merge import merge as merge_captures
from ncu_roofline.merge import times_apart
from ncu_roofline.model import for_all_invocations, model
from ncu_roofline.normalise import Counters
from ncu_roofline.readers import (
    HISTOGRAM,
    Progress,
    RawReport,
    Report,
    Session,
    read_session,
)
from ncu_roofline.vocabulary import is_compute_capability

if TYPE_CHECKING:
    from ncu_roofline.comparison import Comparison, Side

_TEXT_ATTRIBUTES = ("name",)
_ALIKE = ("kernel", "process", "device_ordinal", "cc")
"""What launches have in common that have the same metrics."""
_KNOWN_TO = 0.05
"""Share of a value that half its last printed digit may be."""


def read(*paths: str | Path) -> Report:
    """Read reports and keep every printed value; ``-`` is standard input.

    Raises:
        InputError: if one of them cannot be read.

    """
    return Report(tuple(report for path in paths for report in read_all(str(path), None, None, partial=False)[0]))


def analyze(
    *inputs: str | Path | Report,
    map: str | Path | MetricMap | None = None,  # noqa: A002 (the name users expect)
    cc: str | None = None,
    device: str | None = None,
    ceilings: str | Path | MeasuredCeilings | None = None,
    peak_source: str = REPORT,
    locale: str = "auto",
    conditions: str | None = None,
    session: str | Path | None = None,
    partial: bool = False,
    merge: bool = False,
    aggregate: bool = False,
    timing: str | Path | Sequence[str | Path] | None = None,
    claims: str | Path | None = None,
    expect: str | Path | Sequence[str | Path] = (),
    work: str | Path | Sequence[str | Path] = (),
    progress: Progress | None = None,
) -> Analysis:
    """Analyse one or more reports.

    Args:
        inputs: paths (``-`` is standard input) or reports that were read before.
        map: a metric map, or the path of one, that answers first for its compute capabilities.
        cc: compute capability of launches whose report does not state it, such as ``9.0``.
        device: product of launches whose report does not state it, such as ``NVIDIA H20``.
        ceilings: a file of measured ceilings, or what was read from one.
        peak_source: which ceilings come first, a key of ``ceilings.ORDERS``; ``report`` is the default.
        locale: number format of the inputs, ``auto``, ``c`` or ``european``.
        conditions: what is known of how the counters were measured, as in ``cache=none,clock=boost``.
        session: the session page of the reports, which says how they were made; else one that stands beside them.
        partial: analyse the whole launches of a damaged binary report instead of refusing it.
        merge: put the inputs together, which are captures of the same launches with different counters.
        aggregate: take launches of one kernel and shape together over all inputs and devices, which are ranks.
        timing: one or more files with times of the same kernels from other producers.
        claims: a file of what somebody says of the kernels, each claim of which becomes a finding.
        expect: what launches should do, as in ``gemm:m=64,n=64,k=64,dtype=bf16,kernel=REGEX``, or a YAML file of it.
        work: one or more work files (YAML), which say what problem which launches solve.
        progress: is called while a report is read, with its path, the bytes read and all its bytes.

    Raises:
        NcuRooflineError: if an input cannot be read, a map is invalid or an argument has no meaning.

    """
    if cc is not None and not (isinstance(cc, str) and is_compute_capability(cc)):
        raise UsageError("cc", str(cc), "is not a compute capability such as '9.0'")
    if device is not None and not isinstance(device, str):
        raise UsageError("device", str(device), "is not a name")
    if peak_source not in ORDERS:
        raise UsageError("peak_source", peak_source, f"choose one of {', '.join(ORDERS)}")
    if peak_source == MEASURED and ceilings is None:
        raise UsageError("peak_source", peak_source, "needs a file of measured ceilings")
    _refuse_nul(inputs=inputs, map=map, ceilings=ceilings, session=session, timing=timing, claims=claims)
    said = read_conditions(conditions) if conditions else {}
    page = read_session(str(session)) if session is not None else None
    measured = load_measured(Path(ceilings)) if isinstance(ceilings, str | Path) else ceilings
    claimed = read_claims(Path(claims)) if claims is not None else ()
    specifications, work_files = (
        [str(given)] if isinstance(given, str | Path) else [str(one) for one in given] for given in (expect, work)
    )
    expected = read_expectations(specifications, work_files)
    if not inputs:
        raise UsageError("inputs", "()", "give at least one report")
    if merge and aggregate:
        raise UsageError("merge", "and aggregate", "inputs are either captures of one run or ranks")
    library = load_library()
    if map is not None:
        library = library.with_map(map if isinstance(map, MetricMap) else load_map(Path(map)))
    labels = load_labels()
    used, texts = _used_metrics(library.maps.values())
    names = labels.printed_names(used | texts) | {HISTOGRAM}
    reports: list[RawReport] = []
    passed_over: list[InputError] = []
    for given in inputs:
        if isinstance(given, Report):
            reports += given.inputs
        else:
            found, others = read_all(str(given), names, progress, partial=partial)
            reports += found
            passed_over += others
    captures = [counters_of(report, labels, used, texts, locale) for report in reports]
    if merge and len(captures) < 2:
        raise UsageError("merge", reports[0].path, "needs several captures of the same launches")
    counters = (
        [merge_captures(captures, [report.path for report in reports], library.maps[BASE].time)] if merge else captures
    )
    launches = identify(counters, library.maps[BASE])
    option_notes = [*state_compute_capability(launches, cc), *state_device(launches, device)]
    sessions = [session_of(report, page) for report in reports]
    measuring = [conditions_under(report, found, said) for report, (found, _) in zip(reports, sessions, strict=True)]
    sizes = [len(counter) for counter in counters]
    values = _joined([counter.values for counter in counters], sizes)
    rounding = _joined([counter.rounding for counter in counters], sizes)
    grids = grids_in_blocks(launches, values.get(library.maps[BASE].attributes["grid_size"], unknown(sum(sizes))))
    columns, maps, notes, per_unit = _evaluate(launches, values, rounding, library, measured, peak_source)
    table = launches | columns
    table["adds_up"] = adds_up(table)
    table["device_time"] = device_time(table)
    table["total_time"] = np.full(len(table["time"]), np.nansum(table["time"][table["adds_up"]]) or np.nan)
    files = [timing] if isinstance(timing, str | Path) else list(timing or ())
    timings = [timings_of(str(file), labels, library.maps[BASE], locale) for file in files]
    if timings:
        table |= external_columns(table, timings, [common(measuring)] if merge else measuring)
    ledgers, without_launch = ledger_columns(table, expected)
    table |= ledgers
    verdicts = judge(table, claimed, [common(measuring)] if merge else measuring)
    view = View(
        columns=table,
        inputs=_facts(reports, captures, measuring, [why for _, why in sessions], merge=merge),
        maps=maps,
        read_metrics=lambda: _used_metrics(maps)[0],
        passed_over=tuple(passed_over),
        identities=_identities_of(table, maps, values, rounding),
        device_notes=notes,
        grids=grids,
        per_unit=per_unit,
        option_notes=(
            *option_notes,
            *without_launch,
            *_without_effect(table, map, library, peak_source),
            *_unused_page(page, sessions),
        ),
        ceiling_notes=_ceiling_notes(measured, table["device"]),
        coarse=_coarse(values, rounding, library.maps[BASE]),
        timings=tuple(timings),
        verdicts=verdicts,
        aggregate=aggregate,
        captures_apart=times_apart(captures, library.maps[BASE].time) if merge else None,
    )
    findings, skipped = run_rules(view)
    return Analysis(
        inputs=tuple(
            Input(
                report.path,
                report.digest,
                report.form,
                len(report),
                report.skipped.total,
                known,
            )
            for report, known in zip(reports, measuring, strict=True)
        ),
        columns=table,
        finding_list=findings,
        skipped_rules=skipped,
        maps={metric_map.id: metric_map for metric_map in maps},
        counters=tuple(counters),
        measured=measured,
        aggregate=aggregate,
        places=_places(
            (*inputs, *(report.path for report in reports)),
            (*files, claims, *specifications, *work_files),
            ceilings,
            map,
            session,
            passed_over,
            sessions,
        ),
    )


def _refuse_nul(**given: object) -> None:
    """Refuse paths with a character that no path has.

    Raises:
        UsageError: naming the argument.

    """
    for argument, value in given.items():
        for path in value if isinstance(value, list | tuple) else (value,):
            if isinstance(path, str | Path) and "\0" in str(path):
                raise UsageError(argument, repr(str(path)), "has a NUL character, which no path has")


def _places(
    inputs: Sequence[object], timings: Sequence[object], ceilings: object, map_: object, session: object,
    passed_over: Sequence[InputError], sessions: Sequence[tuple[Session, str]],
) -> tuple[str, ...]:  # fmt: skip
    """Every path that was given or found beside them."""
    given = [str(place) for place in (*inputs, *timings, ceilings, map_, session) if isinstance(place, str | Path)]
    found = [found.path for found, _ in sessions if found.path is not None]
    return (*given, *(error.path for error in passed_over), *found)


def _used_metrics(maps: Collection[MetricMap]) -> tuple[frozenset[str], frozenset[str]]:
    """Numeric and text metrics that any of some maps may read."""
    used: set[str] = set()
    texts: set[str] = set()
    for counter in frozenset().union(*(metric_map.base_counters() for metric_map in maps)):
        used |= metrics_of(counter)
    for metric_map in maps:
        counters = {counter for alternative in metric_map.alternatives() for counter in alternative.counters()}
        used.update(spelling + rollup for counter in counters for spelling in spellings(counter) for rollup in PER_UNIT)
        used.update(metric_map.time)
        used.update(counter + HIT_RATE for counter in metric_map.hit_rates.values())
        for name, metric in metric_map.attributes.items():
            (texts if name in _TEXT_ATTRIBUTES else used).add(metric)
    return frozenset(used), frozenset(texts)


def _without_effect(
    table: Columns, given: str | Path | MetricMap | None, library: MapLibrary, peak_source: str
) -> Iterator[str]:
    if given is not None:
        metric_map = next(iter(library.maps.values()))
        if not (table["map"] == metric_map.id).any():
            known = ", ".join(metric_map.compute_capabilities) or "of it, since it names none"
            yield f"the map {metric_map.id} has no effect: no launch has compute capability {known}"
    if peak_source == DEVICE and not any(
        (table[name] == DEVICE).any() for name in table if name.endswith(".peak_source")
    ):
        yield "--peak-source device has no effect: the device table gives no ceiling for any launch"


def _unused_page(page: Session | None, sessions: Sequence[tuple[Session, str]]) -> Iterator[str]:
    if page is not None and not any(found is page or why for found, why in sessions):
        yield f"--session {page.path} has no effect: every report says itself how it was made"


def _joined(inputs: Sequence[Mapping[str, FloatArray]], sizes: Sequence[int]) -> Mapping[str, FloatArray]:
    """The metrics of all inputs over all launches; NaN where an input did not collect one."""
    names = dict.fromkeys(name for values in inputs for name in values)
    return {
        name: joined([values.get(name, unknown(size)) for values, size in zip(inputs, sizes, strict=True)])
        for name in names
    }


def _coarse(
    values: Mapping[str, FloatArray], rounding: Mapping[str, FloatArray], base: MetricMap
) -> tuple[tuple[str, npt.NDArray[np.bool_]], ...]:
    """Counters whose printed digits leave more than a share open.

    No amount is made of zeros, percentages and attributes.
    """
    others = set(base.attributes.values())
    amounts = (name for name in values if ".pct" not in name and name not in others and (rounding[name] > 0).any())
    found = ((name, rounding[name] > _KNOWN_TO * values[name]) for name in amounts)
    return tuple((name, hit & (values[name] > 0)) for name, hit in found if (hit & (values[name] > 0)).any())


def _identities_of(
    table: Columns,
    maps: Sequence[MetricMap],
    values: Mapping[str, FloatArray],
    rounding: Mapping[str, FloatArray],
) -> tuple[Identity, ...]:
    """Broken equations between counters, each over all launches; averages of several launches need not satisfy them."""
    found = []
    map_of = table["map"]
    for metric_map in maps:
        rows = np.flatnonzero((map_of == metric_map.id) & (table["invocations"] == 1))
        mine = [{name: column[rows] for name, column in columns.items()} for columns in (values, rounding)]
        for identity in check_identities(metric_map, *mine):
            left, right, broken = unknown(len(map_of)), unknown(len(map_of)), np.zeros(len(map_of), np.bool_)
            left[rows], right[rows], broken[rows] = identity.left, identity.right, identity.broken
            found.append(Identity(identity.text, left, right, broken))
    return tuple(found)


def _evaluate(
    launches: Columns,
    values: Mapping[str, FloatArray],
    rounding: Mapping[str, FloatArray],
    library: MapLibrary,
    measured: MeasuredCeilings | None,
    peak_source: str,
) -> tuple[Columns, tuple[MetricMap, ...], tuple[DeviceNote, ...], dict[tuple[str, str], BoolArray]]:
    """Evaluate and model every architecture on its own launches and put the columns together.

    Also what is doubtful about their devices, and tiers and paths of which only a value per unit is known.
    """
    stated = launches["cc"]
    ids = mapped(lambda cc: library.for_compute_capability(cc).id, stated.tolist())
    maps = tuple(library.maps[name] for name in dict.fromkeys(ids.tolist()))
    devices, _ = numbered_rows([launches[name] for name in ("input", "device_ordinal", "device")])
    notes: list[DeviceNote] = []
    per_unit: dict[tuple[str, str], BoolArray] = {}
    parts = []
    for metric_map in maps:
        rows = np.flatnonzero(ids == metric_map.id)
        is_all = len(rows) == len(ids)
        mine, halves = (
            table if is_all else {name: column[rows] for name, column in table.items()} for table in (values, rounding)
        )
        quantities = evaluate(metric_map, mine, len(rows), halves, devices[rows])
        for found, hit in quantities.per_unit.items():
            per_unit.setdefault(found, np.zeros(len(ids), np.bool_))[rows] = hit
        names, ccs = launches["device"][rows], stated[rows]
        at_run, published = _device_ceilings(names, ccs, quantities, rows, notes, len(ids))
        from_user: dict[str, Ceiling] = {}
        if measured is not None:
            from_user = from_file(measured, mapped(measured.covers, names.tolist()).astype(np.bool_))
        parts.append((rows, model(quantities, metric_map, Offers(at_run, published, from_user, peak_source))))
    columns = {"map": ids} | _scatter(parts, len(ids))
    return for_all_invocations(columns, launches["invocations"]), maps, tuple(notes), per_unit


def _device_ceilings(
    names: ObjectArray,
    ccs: ObjectArray,
    quantities: Quantities,
    rows: npt.NDArray[np.intp],
    notes: list[DeviceNote],
    size: int,
) -> tuple[dict[str, Ceiling], dict[str, Ceiling]]:
    """Ceilings of the device table for launches that state their device; doubts are added to the notes."""
    if (names == None).all():  # noqa: E711 (element by element)
        return {}, {}
    counts = quantities.attributes.get("sm_count", unknown(len(names)))
    match_of, keys = numbered_rows([names, ccs, np.nan_to_num(counts)])
    matches = [
        DeviceMatch(None) if name is None else match_device(name, compute_capability=cc, sm_count=count or None)
        for name, cc, count in keys
    ]
    for position, match in enumerate(matches):
        launches = np.zeros(size, np.bool_)
        launches[rows[match_of == position]] = True
        if match.reason:
            notes.append(DeviceNote(match.reason, launches, match.is_slice or match.contradicts, match.contradicts))
        if match.device is not None and match.device.confidence == "low":
            text = f"the numbers of {match.device.name} in the device table are of low confidence"
            notes.append(DeviceNote(text, launches, always=False, contradicts=False))
    return from_device(matches, match_of, quantities.clocks.get("sm", unknown(len(names))))


def _ceiling_notes(measured: MeasuredCeilings | None, devices: ObjectArray) -> tuple[str, ...]:
    if measured is None:
        return ()
    of = "; ".join(filter(None, (measured.title, *measured.sources)))
    head = f"{measured.file} ({measured.tool}{f': {of}' if of else ''})"
    if not any(measured.covers(device) for device in dict.fromkeys(devices.tolist())):
        return (f"{head} is of {measured.device}, which no launch ran on: its ceilings are not used",)
    return (f"{head} gives {', '.join(measured.ceilings)}", *measured.notes)


def _scatter(parts: Iterable[tuple[npt.NDArray[np.intp], Columns]], size: int) -> Columns:
    result: Columns = {}
    for rows, columns in parts:
        if len(rows) == size:
            return columns
        for name, values in columns.items():
            if name not in result:
                result[name] = _empty(values.dtype, size)
            result[name][rows] = values
    return result


def _empty(dtype: np.dtype[Any], size: int) -> npt.NDArray[Any]:
    if dtype.kind == "O":
        return nothing(size)
    return unknown(size) if dtype.kind == "f" else np.zeros(size, dtype)


def _facts(
    reports: Sequence[RawReport],
    counters: Sequence[Counters],
    measuring: Sequence[Conditions],
    others: Sequence[str],
    *,
    merge: bool,
) -> tuple[InputFacts, ...]:
    facts = []
    first = 0
    for report, counter, conditions, other in zip(reports, counters, measuring, others, strict=True):
        facts.append(
            InputFacts(
                path=report.path,
                first_launch=0 if merge else first,
                launches=len(counter),
                skipped=report.skipped,
                conflicts=counter.conflicts,
                not_available=counter.not_available,
                not_numbers=counter.not_numbers,
                negative=counter.negative,
                bad_units=counter.bad_units,
                locale=counter.locale,
                has_units=counter.has_units,
                is_binary=report.stored is not None,
                merges_launches=bool((report.launches["invocations"] != None).any()),  # noqa: E711
                loss=report.loss,
                rewritten=report.rewritten,
                rows_of_launch=report.rows_of_launch,
                odd_identity=not_understood(report.launches),
                alike=None
                if report.rows_of_launch is None
                else numbered_rows([report.launches[name] for name in _ALIKE])[0],
                launch_count=conditions.launch_count,
                cache_control=conditions.cache_control,
                clock_control=conditions.clock_control,
                replay_mode=conditions.replay_mode,
                other_session=other,
            )
        )
        first += len(counter)
    return tuple(facts)


def compare(
    before: str | Path | Report | Analysis | Side | Sequence[str | Path],
    after: str | Path | Report | Analysis | Side | Sequence[str | Path],
    *,
    pair: Sequence[tuple[str, str]] = (),
    **how: Any,
) -> Comparison:
    """Two sides compared: is it faster, why, and what binds now.

    Args:
        before: a report, several reports of the same job (repeats), an analysis, or a baseline file.
        after: the same of the other side.
        pair: regular expressions of kernel names that belong together, one for each side.
        how: further arguments of ``analyze`` for reports.

    Raises:
        InputError: if a report or a baseline cannot be read.

    """
    from ncu_roofline.comparison import compared, judged

    return judged(compared(_side(before, how), _side(after, how), pair))


def _side(given: str | Path | Report | Analysis | Side | Sequence[str | Path], how: Mapping[str, Any]) -> Side:
    from ncu_roofline.comparison import Side, from_json, is_baseline, side_of

    if isinstance(given, Side):
        return given
    if isinstance(given, Analysis):
        return side_of(given)
    if isinstance(given, Report):
        return side_of(analyze(given, **how))
    paths = [given] if isinstance(given, str | Path) else list(given)
    if len(paths) == 1 and is_baseline(str(paths[0])):
        return from_json(str(paths[0]))
    return side_of(analyze(*paths, **how))
