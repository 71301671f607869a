"""What one input is: a report of one or several files with its measuring conditions, or times of another producer."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from ncu_roofline.arrays import first_known, unknown
from ncu_roofline.conditions import COMMAND_LINE, SESSION, Conditions, conditions_of
from ncu_roofline.errors import InputError, NcuRooflineError
from ncu_roofline.identity import grids_in_blocks, identify
from ncu_roofline.labels import Labels
from ncu_roofline.maps import MetricMap
from ncu_roofline.normalise import Counters, normalise
from ncu_roofline.readers import Progress, RawReport, Session, read_report, read_session, report_files, session_beside
from ncu_roofline.stored import from_stored
from ncu_roofline.timings import AVERAGE, SINGLE, Rows, TimingConditions, Timings, load_timings

_TIMES_OF_ACTIVITY: Final = ("gpu__time_active.sum", "gpu__time_active.avg", "gpu__time_active.max")
"""How long the GPU was busy; a time to hold a launch against, not the duration of its own report."""


def read_all(
    path: str, names: AbstractSet[str] | None, progress: Progress | None, *, partial: bool
) -> tuple[list[RawReport], list[InputError]]:
    """The report of a file, or those of a folder with the files in it that are none."""
    files = report_files(path)
    if files == [path]:
        return [read_report(path, names=names, progress=progress, partial=partial)], []
    reports, others = [], []
    for file in files:
        try:
            reports.append(read_report(file, names=names, progress=progress, partial=partial))
        except InputError as error:
            others.append(error)
    if not reports:
        first = next((error for error in others if error.is_damaged), others[0])
        raise InputError(path, f"none of its {len(files)} files is a report; the first: {first}")
    return reports, others


def timings_of(path: str, labels: Labels, base: MetricMap, locale: str) -> Timings:
    """Times of another producer, or of another report of ncu.

    Raises:
        InputError: if the file has no times of kernels.

    """
    try:
        return load_timings(path)
    except InputError as error:
        try:
            return _times_of_report(path, labels, base, locale)
        except NcuRooflineError:
            raise error from None


def _times_of_report(path: str, labels: Labels, base: MetricMap, locale: str) -> Timings:
    metrics = (*base.time, *_TIMES_OF_ACTIVITY)
    used = frozenset(
        {*metrics, *(base.attributes[name] for name in ("device_index", "cc_major", "cc_minor", "grid_size"))}
    )
    report = read_report(path, names=labels.printed_names(used))
    counters = counters_of(report, labels, used, frozenset(), locale)
    launches = identify([counters], base)
    grids_in_blocks(launches, counters.values.get(base.attributes["grid_size"], unknown(len(counters))))
    time = first_known([unknown(len(counters)), *(counters.values.get(m, unknown(len(counters))) for m in metrics)])[0]
    rows = Rows()
    for launch in np.flatnonzero(time > 0).tolist():
        invocations = int(launches["invocations"][launch])
        rows.add(
            float(time[launch]), samples=invocations, statistic=SINGLE if invocations == 1 else AVERAGE,
            kernel=launches["kernel"][launch], mangled=launches["mangled"][launch], grid=launches["grid"][launch],
            block=launches["block"][launch], device=launches["device_ordinal"][launch],
        )  # fmt: skip
    if not len(rows):
        raise InputError(path, "the report has no times")
    session, _ = session_of(report, None)
    known = conditions_under(report, session, {})
    return rows.timings(path, f"ncu ({report.form})", TimingConditions(known.cache_control, known.clock_control))


def session_of(report: RawReport, given: Session | None) -> tuple[Session, str]:
    """How a report was made: what it says itself, else the page that was given or stands beside it.

    Also why such a page was not used, if so.
    """
    if report.session.command_line is not None or report.session.ncu_version is not None:
        return report.session, ""
    beside = session_beside(report.path) if given is None else None
    try:
        page = read_session(beside) if beside is not None else given
    except InputError as error:
        return report.session, f"{error.path}: {error.problem}"
    if page is None:
        return report.session, ""
    processes = {process for process in report.launches["process"].tolist() if process is not None}
    if page.processes and processes and not processes.intersection(page.processes):
        return report.session, (
            f"{page.path} is of process {', '.join(page.processes)}, {report.path} of process "
            f"{', '.join(sorted(processes))}"
        )
    return page, ""


def conditions_under(report: RawReport, session: Session, said: Mapping[str, str]) -> Conditions:
    """Measuring conditions of a report by its session; what the user says of them comes first."""
    return conditions_of(
        session.command_line,
        session.ncu_version,
        source=COMMAND_LINE if session.path is None else SESSION,
        replayed=report.skipped.replayed,
        said=said,
    )


def counters_of(
    report: RawReport, labels: Labels, used: frozenset[str], texts: frozenset[str], locale: str
) -> Counters:
    """The used metrics of a report, printed or stored, as counters in base units."""
    if report.stored is not None:
        return from_stored(report, report.stored, labels, used=used, texts=texts)
    return normalise(report, labels, used=used, texts=texts, locale=locale)
