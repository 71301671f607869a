"""Under which conditions a report was measured, and where that is known from."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.conditions import Conditions, conditions_of
from ncu_roofline.readers import read_session
from tests import binary_report
from tests.conftest import Write
from tests.support import details, finding, launch

MATCHED = {
    "report": "09-rep-sm100-algo23_profile.ncu-rep",
    "details": "08-details-sm100-algo23_details.csv",
    "raw": "10-raw-sm100-algo23_raw.csv",
}
SESSION = "11-other-smxx-algo23_session.csv"
"""One launch on a B200 in every form, and its session page."""


def of(command_line: str, version: str | None = "2025.3.1.0 (build 1)") -> Conditions:
    return conditions_of(command_line, version, source="command-line", replayed=False, said={})


def page_of(command_line: str, process: str = "4242") -> str:
    return (
        f'Launch Settings\n"Launch Attribute","Value"\n"Profiler Command Line","{command_line}"\n\n'
        'Session Info\n"Session Attribute","Value"\n"Nsight Compute Target","2025.2.1.0 (build 35987062)"\n\n'
        f'Processes\n"Process Id","Process Name"\n"{process}","/opt/app"\n'
    )


def test_option_that_was_given_is_known_from_the_command_line() -> None:
    found = of("/opt/ncu --cache-control none ./app")
    assert (found.cache_control, found.cache_control_source) == ("none", "command-line")


def test_option_may_stand_behind_an_equals_sign() -> None:
    assert of("ncu --cache-control=none ./app").cache_control == "none"


def test_option_that_was_not_given_is_the_default() -> None:
    found = of("ncu ./app")
    assert (found.cache_control, found.clock_control, found.replay_mode) == ("all", "base", "kernel")
    assert {found.cache_control_source, found.clock_control_source, found.replay_mode_source} == {"default"}


@pytest.mark.parametrize(
    ("version", "clock"),
    [
        ("2019.5.0", "base"),
        ("2025.4.0.0 (build 1)", "base"),
        ("2026.1.0.0", "boost"),
        ("2027.2.0.0", "boost"),
        (None, None),
    ],
)
def test_default_of_the_clock_depends_on_the_version(version: str | None, clock: str | None) -> None:
    assert of("ncu ./app", version).clock_control == clock


def test_option_that_may_be_one_of_the_application_leaves_the_condition_unknown() -> None:
    found = of("ncu --nvtx --set full ./app --cache-control none")
    assert (found.cache_control, found.cache_control_source) == (None, "unknown")
    assert found.clock_control == "base"


@pytest.mark.parametrize(
    "option", ["--null-stdin", "--some-switch-of-tomorrow", "-c1", 'regex:"foo bar"', "-k regex:a"]
)
def test_option_behind_another_one_is_never_its_value(option: str) -> None:
    line = f"ncu -k {option}" if option.startswith("regex") else f"ncu {option}"
    assert of(f"{line} --cache-control none ./app").cache_control == "none"


def test_program_with_blanks_and_no_quotes_leaves_given_options_unknown() -> None:
    assert of("C:\\Program Files\\ncu.exe --cache-control none app.exe").cache_control is None


def test_value_of_an_option_is_not_taken_for_the_application() -> None:
    assert of("ncu --target-processes all -o out --clock-control none ./app").clock_control == "none"


def test_program_in_a_folder_with_blanks_is_skipped() -> None:
    line = '"C:\\Program Files\\NVIDIA Corporation\\ncu.exe" --clock-control none app.exe'
    assert of(line).clock_control == "none"


def test_set_and_number_of_launches_are_known() -> None:
    found = of("ncu -c 3 --set full ./app")
    assert (found.launch_count, found.metric_set) == (3, "full")


def test_nothing_is_assumed_without_a_command_line() -> None:
    found = conditions_of(None, "2022.1.1.0", source="command-line", replayed=False, said={})
    assert (found.cache_control, found.clock_control, found.replay_mode) == (None, None, None)
    assert found.cache_control_source == "unknown"


def test_what_the_user_says_comes_first(write: Write) -> None:
    path = write(binary_report.of_launches(1, command_line="ncu --cache-control all ./app"), "r.ncu-rep")
    found = nr.analyze(path, conditions="cache=none,clock=boost").inputs[0].conditions
    assert (found.cache_control, found.cache_control_source) == ("none", "user")
    assert (found.clock_control, found.clock_control_source) == ("boost", "user")
    assert (found.replay_mode, found.replay_mode_source) == ("kernel", "default")


@pytest.mark.parametrize("text", ["cache", "cache=warm", "heat=none", "clock=1.2GHz", ""])
def test_condition_that_does_not_exist_is_refused(write: Write, text: str) -> None:
    path = write(details(*launch({"T": "20 us"})))
    if text:
        with pytest.raises(nr.NcuRooflineError, match="--conditions"):
            nr.analyze(path, conditions=text)


@pytest.mark.parametrize("name", ["r_session.csv", "r-session.csv", "r.session.csv"])
def test_session_page_next_to_a_report_is_found(write: Write, name: str) -> None:
    path = write(details(*launch({"T": "20 us"})), "r.csv")
    write(page_of("ncu --clock-control none ./app"), name)
    found = nr.analyze(path).inputs[0].conditions
    assert (found.clock_control, found.clock_control_source) == ("none", "session")


def test_session_page_of_a_details_page_is_found_by_the_name_of_the_report(write: Write) -> None:
    path = write(details(*launch({"T": "20 us"})), "run7_details.csv")
    write(page_of("ncu --clock-control none ./app"), "run7_session.csv")
    assert nr.analyze(path).inputs[0].conditions.clock_control == "none"


def test_session_page_may_be_compressed(tmp_path: Path) -> None:
    page = tmp_path / "session.csv.gz"
    page.write_bytes(gzip.compress(page_of("ncu --clock-control none ./app").encode()))
    assert read_session(str(page)).command_line == "ncu --clock-control none ./app"
    page.write_bytes(page.read_bytes()[:-9])
    with pytest.raises(nr.NcuRooflineError, match="cannot be read"):
        read_session(str(page))


def test_session_page_of_another_process_says_nothing(write: Write) -> None:
    path = write(details(*launch({"T": "20 us"})), "r.csv")
    page = write(page_of("ncu --clock-control none ./app", process="99"), "other.csv")
    analysis = nr.analyze(path, session=page)
    assert analysis.inputs[0].conditions.clock_control is None
    found = finding(analysis, "session-of-another-report")
    assert found is not None
    assert "of process 99" in found.message


def test_session_page_of_a_report_that_says_itself_how_it_was_made_is_said_to_have_no_effect(write: Write) -> None:
    path = write(binary_report.of_launches(1, command_line="ncu --clock-control base ./app"), "r.ncu-rep")
    page = write(page_of("ncu --clock-control none ./app"), "page.csv")
    analysis = nr.analyze(path, session=page)
    assert analysis.inputs[0].conditions.clock_control == "base"
    found = finding(analysis, "option-without-effect")
    assert found is not None
    assert found.message == f"--session {page} has no effect: every report says itself how it was made."


@pytest.mark.parametrize("text", ["user,session\njane,5\n", '"' + "x" * 200_000])
def test_neighbour_that_is_no_session_page_is_said_and_not_used(write: Write, text: str) -> None:
    path = write(details(*launch({"T": "20 us"})), "run.csv")
    write(text, "run_session.csv")
    assert finding(nr.analyze(path), "session-of-another-report") is not None


def test_file_that_is_no_session_page_is_refused(write: Write) -> None:
    path = write(details(*launch({"T": "20 us"})))
    with pytest.raises(nr.NcuRooflineError, match="not the session page"):
        nr.analyze(path, session=path)


def test_report_that_has_as_many_launches_as_were_asked_for_is_complete(write: Write) -> None:
    content = binary_report.of_launches(2, command_line="ncu --launch-count 2 ./app")
    assert finding(nr.analyze(write(content, "r.ncu-rep")), "end-not-marked") is None


def test_report_that_has_fewer_launches_than_were_asked_for_says_so(write: Write) -> None:
    content = binary_report.of_launches(2, command_line="ncu --launch-count 5 ./app")
    found = finding(nr.analyze(write(content, "r.ncu-rep")), "end-not-marked")
    assert found is not None
    assert "2 launches of at most 5 asked for" in found.message


@pytest.mark.parametrize("form", ["details", "raw"])
def test_session_page_gives_a_table_the_conditions_of_its_report(corpus: Path, form: str) -> None:
    report = nr.analyze(corpus / MATCHED["report"]).inputs[0].conditions
    table = nr.analyze(corpus / MATCHED[form], session=corpus / SESSION).inputs[0].conditions
    names = ("cache_control", "clock_control", "replay_mode", "ncu_version", "metric_set")
    assert [getattr(table, name) for name in names] == [getattr(report, name) for name in names]
    assert (table.clock_control_source, report.clock_control_source) == ("session", "command-line")


@pytest.mark.parametrize("form", ["details", "raw"])
def test_one_launch_gives_the_same_numbers_in_every_form(corpus: Path, form: str) -> None:
    report, table = (nr.analyze(corpus / MATCHED[name]).columns for name in ("report", form))
    numbers = [name for name, column in table.items() if column.dtype.kind == "f" and column[0] == column[0]]
    assert {"time", "utilization.sm__throughput"} <= set(numbers)
    for name in numbers:
        if name == "time_from_cycles":
            # The details page has the cycles of the slowest GPC, the others the average over the SMs.
            continue
        # Two decimals are printed: half of the last one is 0.005 us of 22.59 us, or 0.005 % of a share.
        half = 0.00005 + 1e-12 if name.startswith(("utilization", "occupancy")) else 0.005 / 1.09 * table[name][0]
        half = 0.005 if name == "waves" else half
        assert report[name][0] == pytest.approx(table[name][0], abs=half), name


def test_conditions_stand_above_the_table(corpus: Path) -> None:
    from ncu_roofline.render.terminal import render_table

    text = render_table(nr.analyze(corpus / MATCHED["report"]), width=200, color=False)
    assert "cache control all (default), clock control base (command-line), replay kernel (default)" in text
    # 1.099 / 1.965 = 55.9 %
    assert "SM clock 1.099 GHz, at most 1.965 GHz (55.9%)" in text


@given(st.text(max_size=200))
def test_any_command_line_is_read(line: str) -> None:
    found = of(line)
    assert found.cache_control is not None


@given(st.text(max_size=300))
def test_any_text_is_a_session_page_or_is_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("s") / "session.csv"
    path.write_text(page_of("ncu ./app")[: len(text)] + text, encoding="utf-8", newline="")
    try:
        assert read_session(str(path)).path == str(path)
    except nr.NcuRooflineError:
        return
