"""Rules on what was read (R): lines that were passed over, launches that are missing, grids, tables and files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ncu_roofline.arrays import BoolArray, mapped
from ncu_roofline.checks.rule import Evidence, InputFacts, View
from ncu_roofline.errors import InputError
from ncu_roofline.wording import count

_SHOWN = 5


def skipped_lines(view: View) -> Iterator[Evidence]:
    """Lines of an input are not part of its table.

    ncu writes its own messages and the output of the application around and between the rows of its CSV.
    These lines are no measurements; they are counted so that nothing is passed over in silence. Look at the
    line numbers if more lines are named than the application and ncu can have printed.
    """
    for facts in view.inputs:
        kinds = {k: n for k, n in facts.skipped.counts.items() if k != "damaged"}
        if kinds:
            parts = [_lines(facts, kind, number) for kind, number in kinds.items()]
            yield Evidence(_no_launch(view), f"{facts.path}: skipped {', '.join(parts)}.")


def damaged_rows(view: View) -> Iterator[Evidence]:
    """Rows of a table are damaged and were left out.

    A row has fewer or more cells than the header, an open quote, or text of the application glued to it.
    Its values cannot be trusted, so launches may be missing or incomplete. Export the report again, with
    ``--log-file`` so that the application's output goes elsewhere.
    """
    for facts in view.inputs:
        number = facts.skipped.counts.get("damaged", 0)
        if number:
            yield Evidence(
                _no_launch(view),
                f"{facts.path}: {_lines(facts, 'damaged', number)} could not be read; launches may be incomplete.",
                "Export again with `--log-file FILE`, so that output of the application cannot get between rows.",
            )


def option_without_effect(view: View) -> Iterator[Evidence]:
    """An option was given that changed nothing.

    ``--cc``, ``--device`` and ``--session`` fill in what a report does not state, ``--peak-source device`` needs a
    product of the device table, and a map answers for its own compute capabilities only.
    """
    for text in view.option_notes:
        yield Evidence(_no_launch(view), f"{text}.")


def ncu_error(view: View) -> Iterator[Evidence]:
    """The tool ncu reported errors around the table.

    A launch that could not be profiled is missing from the table, and a run that ended early may have lost others.
    """
    for facts in view.inputs:
        errors = [(line, text) for line, text in facts.skipped.messages if text.startswith("==ERROR==")]
        if errors:
            said = "; ".join(f"line {line}: {text.removeprefix('==ERROR== ')}" for line, text in errors[:_SHOWN])
            yield Evidence(
                _no_launch(view),
                f"{facts.path}: ncu reported {count(len(errors), 'error')}: {said}",
                "Launches may be missing; look at the application's own output.",
            )


def replayed_application(view: View) -> Iterator[Evidence]:
    """Time and counters come from different runs of the application.

    In application replay ncu starts the application once per pass. Counters of one launch are then from several runs,
    which agree only if the application does the same every time.
    """
    for facts in view.inputs:
        if facts.skipped.replayed:
            yield Evidence(
                view.launches_of(facts),
                f"{facts.path}: collected by application replay, several runs of the application.",
            )


def launches_lost(view: View) -> Iterator[Evidence]:
    """A binary report is damaged or cut, and only its whole launches are here.

    The report was read with ``--partial``. Sums and shares are those of the launches that are whole; how many are lost
    is known only as far as the report promised them before the damage.
    """
    for facts in view.inputs:
        if facts.loss is not None:
            lost = f"at least {facts.loss.at_least}" if facts.loss.at_least else "an unknown number"
            yield Evidence(
                view.launches_of(facts),
                f"{facts.path}: {count(facts.launches, 'launch')} before the damage are whole, "
                f"{lost} lost: {facts.loss.problem}.",
                "Copy the report again, or profile again.",
            )


def end_not_marked(view: View) -> Iterator[Evidence]:
    """Whether launches are missing at the end of a binary report cannot be told.

    The format has no end mark and no number of launches. A cut inside a block is detected and refused; a file that ends
    after a whole block, because profiling or copying stopped there, looks like a complete report of fewer launches.
    """
    for facts in view.inputs:
        if facts.is_binary and facts.loss is None and facts.launches != facts.launch_count:
            asked = f" of at most {facts.launch_count} asked for" if facts.launch_count is not None else ""
            yield Evidence(
                _no_launch(view),
                f"{facts.path}: {count(facts.launches, 'launch')}{asked}; the file has no end mark, so "
                "that launches missing after the last one cannot be detected.",
            )


def launches_missing(view: View) -> Iterator[Evidence]:
    """An input has fewer launches than ncu said it profiled.

    ncu prints a line for each launch that it profiles. Where more of them stand around a table than it has launches,
    the table was cut, filtered afterwards, or a launch failed.
    """
    for facts in view.inputs:
        profiled = facts.skipped.profiled
        if profiled > facts.launches and not facts.merges_launches:
            yield Evidence(
                _no_launch(view),
                f"{facts.path}: ncu profiled {count(profiled, 'launch')}, the input has {facts.launches}.",
                "Look for errors of ncu in it, or export the report again.",
            )


def ends_inside_launch(view: View) -> Iterator[Evidence]:
    """An input ends inside a launch.

    Every launch of a kernel has the same metrics. Where the last launch of a table has fewer rows than any other launch
    of its kernel in the same process and on the same device, the file was cut: in copying, or because ncu was ended
    while it wrote. What is missing of that launch is unknown, and launches behind it may be missing.
    """
    for facts in view.inputs:
        rows, alike = facts.rows_of_launch, facts.alike
        if rows is None or alike is None or len(rows) < 2:
            continue
        others = rows[:-1][alike[:-1] == alike[-1]]
        if len(others) and rows[-1] < others.min():
            mask = _no_launch(view)
            mask[facts.first_launch + len(rows) - 1] = True
            yield Evidence(
                mask,
                f"{facts.path}: its last launch has {count(int(rows[-1]), 'row')} of metrics, every other launch of "
                f"this kernel at least {others.min()}: the file ends inside a launch.",
                "Copy or export the report again.",
            )


def files_passed_over(view: View) -> Iterator[Evidence]:
    """Files of a folder that are not reports were skipped.

    A folder stands for every report in it. Session pages, logs and other files in it are no reports.
    """
    others = [error for error in view.passed_over if not error.is_damaged]
    if others:
        yield Evidence(_no_launch(view), f"skipped {_files(others)}.")


def damaged_files(view: View) -> Iterator[Evidence]:
    """Reports of a folder are damaged or cut and were skipped.

    Such a file was meant to be a report: a binary report that is cut, a pointer of Git LFS in its place, a table
    without launches. Its launches are missing from every sum and share.
    """
    damaged = [error for error in view.passed_over if error.is_damaged]
    if damaged:
        # What to do differs from file to file; said once where it is the same.
        advice = dict.fromkeys(error.help for error in damaged[:_SHOWN] if error.help)
        help_ = next(iter(advice), "") if len(advice) == 1 else ""
        said = _files(damaged, with_help=len(advice) > 1)
        yield Evidence(_no_launch(view), f"skipped {said}; their launches are missing.", help_)


def _files(errors: Sequence[InputError], *, with_help: bool = False) -> str:
    texts = [
        f"{error.problem.rstrip('.')}. {error.help.rstrip('.')}" if with_help and error.help else error.problem
        for error in errors
    ]
    said = "; ".join(f"{error.path} ({text})" for error, text in zip(errors[:_SHOWN], texts, strict=False))
    more = len(errors) - _SHOWN
    return f"{count(len(errors), 'file')}: {said}{f'; and {more} more' if more > 0 else ''}"


def grid_in_threads(view: View) -> Iterator[Evidence]:
    """The size of a grid was printed in threads.

    Up to 2020 ncu printed threads where it prints blocks today. Where the metric ``launch__grid_size`` shows it, the
    grid is divided by the block.
    """
    if view.grids is not None and view.grids.in_threads.any():
        yield Evidence(
            view.grids.in_threads,
            "the grid was printed in threads, as ncu did up to 2020; it is shown in blocks.",
        )


def grid_contradicted(view: View) -> Iterator[Evidence]:
    """The size of a grid contradicts the number of blocks that the launch has.

    ``launch__grid_size`` is the number of blocks. Where the printed grid has another one, in blocks and in threads, one
    of them is of another launch: the rows of two launches may have been mixed. The grid is shown as it was printed.
    """
    if view.grids is not None and (hit := view.grids.contradicting).any():
        first = int(np.flatnonzero(hit)[0])
        grid = view.labels("grid")[first]
        yield Evidence(
            hit,
            f"the grid {grid} of launch {first} has {math.prod(grid):,} blocks, launch__grid_size is "
            f"{view.grids.blocks[first]:,.0f}.",
            "Export the report again, and compare kernels of this report by name only.",
        )


def kernel_name_cut(view: View) -> Iterator[Evidence]:
    """Kernel names were cut at an anonymous namespace.

    ncu prints what stands behind ``<unnamed>::`` only. Names are kept as they are; another tool may print them in full.
    """
    names = view.labels("kernel")
    hit = mapped(lambda name: str(name).startswith("unnamed>::"), names.tolist()).astype(np.bool_)
    if hit.any():
        first = names[int(np.flatnonzero(hit)[0])]
        yield Evidence(hit, f"kernel names are cut at an anonymous namespace, such as {first!r}.")


def table_rewritten(view: View) -> Iterator[Evidence]:
    """An input is a table of ncu that another program has written again.

    pandas adds a column of row numbers, spreadsheets use semicolons, some scripts exchange rows and columns. Such a
    table is turned back where that can be done in one way only; digits that the other program dropped stay lost.
    """
    for facts in view.inputs:
        if facts.rewritten:
            yield Evidence(
                _no_launch(view),
                f"{facts.path}: the table was written again by another program: {facts.rewritten}.",
                "Analyse the file that ncu wrote where you have it.",
            )


def _lines(facts: InputFacts, kind: str, number: int) -> str:
    known = facts.skipped.lines.get(kind, ())
    where = ", ".join(map(str, known[:_SHOWN])) + (", ..." if number > min(len(known), _SHOWN) else "")
    if kind == "preface":
        return f"{count(number, 'line')} before the table"
    nouns = {"foreign": "foreign line", "damaged": "damaged row", "header": "repeated header"}
    return f"{count(number, nouns[kind])} (line {where})"


def _no_launch(view: View) -> BoolArray:
    return np.zeros(view.size, np.bool_)
