"""Results that may be handed on: no names of people, machines and places."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.cli.progress import ReadingProgress
from ncu_roofline.scrub import Scrubber, scrubber
from tests.conftest import Write
from tests.support import details, launch, with_ranges

METRICS = {"T": "20 us", "DB": "4,000 byte", "FFMA": "64 inst"}
SECRETS = ("/home/jane", "jane", "secret_project", "10.1.2.3", "0000:3b:00.0")


@pytest.fixture
def report(write: Write, tmp_path: Path) -> str:
    folder = tmp_path / "home" / "jane" / "secret_project"
    folder.mkdir(parents=True)
    path = folder / "profile.csv"
    message = "==ERROR== /home/jane/secret_project/app on 10.1.2.3 at 0000:3b:00.0 failed\n"
    path.write_text(details(*launch(METRICS, kernel="gemm<secret>(int)"), preface=message))
    return str(path)


@pytest.mark.parametrize("format_", ["table", "json", "csv", "markdown"])
def test_no_output_has_a_name_that_was_to_go(report: str, format_: str) -> None:
    plain = CliRunner().invoke(main, ["analyze", report, "--format", format_]).stdout
    scrubbed = CliRunner().invoke(main, ["analyze", report, "--format", format_, "--scrub"]).stdout
    assert format_ == "csv" or "jane" in plain
    assert not [secret for secret in SECRETS if secret in scrubbed]
    assert "gemm<secret>" in scrubbed


def test_parquet_has_no_kernel_names_when_they_are_to_go(report: str, tmp_path: Path) -> None:
    import polars as pl

    out = tmp_path / "out.parquet"
    CliRunner().invoke(main, ["analyze", report, "--format", "parquet", "-o", str(out), "--scrub-kernels"])
    assert pl.read_parquet(out)["kernel"].to_list() == ["kernel-0"]


@pytest.mark.parametrize("arguments", [[], ["--format", "json"]])
def test_explanation_has_no_place_of_the_maps_either(report: str, arguments: list[str]) -> None:
    text = CliRunner().invoke(main, ["explain", report, "0", "dram", "--scrub", *arguments]).stdout
    assert not [secret for secret in (*SECRETS, str(Path(nr.__file__).parent)) if secret in text]
    assert "input-0.csv" in text
    assert ".yaml" in text


def test_numbers_stay(report: str) -> None:
    plain, scrubbed = (json.loads(a.to_json()) for a in (nr.analyze(report), nr.analyze(report).scrubbed(kernels=True)))
    for key in ("time", "work", "traffic", "bound", "device", "cc", "grid", "block"):
        assert scrubbed["launches"][0][key] == plain["launches"][0][key]
    assert scrubbed["inputs"][0]["sha256"] == plain["inputs"][0]["sha256"]


def test_one_kernel_has_one_replacement_in_table_and_findings(write: Write) -> None:
    rows = [row for n, kernel in enumerate("aba") for row in launch(METRICS, number=n, kernel=f"{kernel}(int)")]
    times = write("kernel,grid,block,time_us\na(int),512,256,5\n", "times.csv")
    analysis = nr.analyze(write(details(*rows)), timing=times).scrubbed(kernels=True)
    assert analysis.columns["kernel"].tolist() == ["kernel-0", "kernel-1", "kernel-0"]
    assert analysis.columns["external.kernel"].tolist()[0] == "kernel-0"
    (missing,) = (found for found in analysis.finding_list if found.name == "timing-not-joined")
    assert "kernel-1" in missing.message
    assert "(int)" not in missing.message


def test_same_input_is_scrubbed_the_same_way_twice(report: str) -> None:
    assert nr.analyze(report).scrubbed().to_json() == nr.analyze(report).scrubbed().to_json()


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("see /home/jane/x.cu:12 and /home/jane/x.cu", "see path-0.cu:12 and path-0.cu"),
        (r"D:\jane\app.exe failed", "path-0.exe failed"),
        ("found /home/jane doe/my runs/a.csv here", "found path-0.csv here"),
        ('Using "/home/jane/my last run" instead', 'Using "path-0" instead'),
        ("/opt/app and /opt/app/a.csv", "path-0 and path-1.csv"),
        ("~/runs/a.csv", "path-0.csv"),
        ("jane@node17 at 10.1.2.3", "user-0 at address-0"),
        ("fe80::925a:8ff:fe9b:5d6a%eth0", "address-0"),
        ("bus 0000:3b:00.0", "bus pci-0"),
        ("GPU-12345678-1234-1234-1234-123456789abc", "uuid-0"),
    ],
)
def test_names_of_places_are_replaced(text: str, scrubbed: str) -> None:
    assert Scrubber().text(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "void ad::be::ba::k(int)",
        "1.2e+12 FLOP/s of 3 TB/s", "ncu 2025.2.1.0", "dram/l2/l1", "a / b / c", "void ns::k<(int)4, T1::P>(float *)",
        "ABT (forced)/void k(int)", "std::array<char*, 1ul>::at", "-o report.csv ./application", "ratio 12:34:56",
    ],
)  # fmt: skip
def test_numbers_units_and_kernels_are_not_taken_for_places(text: str) -> None:
    assert Scrubber().text(text) == text


def test_name_of_this_machine_and_home_of_its_user_are_known() -> None:
    made = scrubber(["r.csv"])
    assert made.text(f"{Path.home()} r.csv") == "home input-0.csv"
    if len(socket.gethostname()) > 2:
        assert socket.gethostname() not in made.text(f"ran on {socket.gethostname()}")


def test_standard_input_is_no_name() -> None:
    assert scrubber(["-"]).text("ncu --csv --page raw - 1 / 2") == "ncu --csv --page raw - 1 / 2"


def test_root_as_home_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert scrubber([]).text("= 134217728 / 0.0011") == "= 134217728 / 0.0011"


def test_name_that_another_tool_has_for_a_kernel_goes_with_it(write: Write) -> None:
    path = write(details(*launch(METRICS, kernel="triad(double *)")))
    times = write("kernel,time_us\nsecret_ns::triad(double*),5\n", "times.csv")
    text = nr.analyze(path, timing=times).scrubbed(kernels=True).to_json()
    assert "triad" not in text


def test_relative_paths_that_were_given_go_too(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(details(*launch(METRICS)))
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "roof.yaml").write_text("schema: 1\nsources: [x]\nceilings: {dram: {value: 1 TB/s}}\n")
    monkeypatch.chdir(tmp_path)
    assert "bob" not in nr.analyze("report.csv", ceilings="bob/roof.yaml").scrubbed().to_json()


FAILED = (
    '==PROF== Profiling "secret" - 0: 0%....50%....100% - 1 pass\n'
    '==ERROR== Failed to profile "secret" in process 33\n==ERROR== Failed to profile "other_secret" in process 33\n'
)


@pytest.fixture
def in_ranges(write: Write) -> str:
    ranges = ["<default domain>:secret layer", "secret_library:forward"]
    return write(FAILED + with_ranges(("1,000", ranges), ("2,000", ranges)).replace("k0", "void secret<(int)4>(T1 *)"))


@pytest.mark.parametrize("format_", ["table", "json", "csv", "markdown"])
def test_no_name_of_a_range_or_of_a_failed_kernel_is_left(in_ranges: str, format_: str) -> None:
    assert "secret" in CliRunner().invoke(main, ["analyze", in_ranges, "--format", format_]).output
    result = CliRunner().invoke(main, ["analyze", in_ranges, "--format", format_, "--scrub-kernels"])
    assert result.exit_code in (0, 1)
    assert "secret" not in result.output


@pytest.mark.parametrize("format_", ["text", "json", "markdown", "sarif", "junit"])
def test_check_names_no_failed_kernel_either(in_ranges: str, format_: str) -> None:
    text = CliRunner().invoke(main, ["check", in_ranges, "--format", format_, "--scrub-kernels"]).output
    assert "secret" not in text
    assert "Failed to profile" in text


def test_ranges_keep_the_default_domain_and_are_told_apart(in_ranges: str) -> None:
    (first, second), _ = nr.analyze(in_ranges).scrubbed(kernels=True).columns["nvtx"]
    assert (first, second) == (("<default domain>", "range-0"), ("domain-0", "range-1"))


def test_message_names_a_kernel_as_the_table_does(in_ranges: str) -> None:
    analysis = nr.analyze(in_ranges).scrubbed(kernels=True)
    assert analysis.columns["kernel"].tolist() == ["kernel-0", "kernel-1"]
    (failed,) = (found for found in analysis.finding_list if "Failed to profile" in found.message)
    assert 'Failed to profile "kernel-0"' in failed.message
    assert 'Failed to profile "kernel-2"' in failed.message


@pytest.mark.parametrize(
    "option", [["--kernel", "^void secret"], ["--nvtx", "secret layer"], ["--nvtx", "secret_library@forward"]]
)
def test_launches_are_selected_by_the_names_in_the_report(in_ranges: str, option: list[str]) -> None:
    result = CliRunner().invoke(main, ["analyze", in_ranges, "--format", "json", "--scrub-kernels", *option])
    assert json.loads(result.stdout)["launches"][0]["kernel"] == "kernel-0"


def test_words_are_those_of_the_whole_report_whatever_is_selected(in_ranges: str) -> None:
    result = CliRunner().invoke(main, ["analyze", in_ranges, "--format", "json", "--scrub-kernels", "--launch", "1"])
    assert json.loads(result.stdout)["launches"][0]["kernel"] == "kernel-1"


@pytest.mark.parametrize("command", [["analyze"], ["check"], ["explain", "0"]])
@pytest.mark.parametrize("content", ["", "no report\n", FAILED + "==WARNING== /home/jane/my run: nothing\n"])
def test_messages_of_errors_have_no_name_that_was_to_go(tmp_path: Path, command: list[str], content: str) -> None:
    path = tmp_path / "jane" / "secret.csv"
    path.parent.mkdir()
    path.write_text(content)
    arguments = [command[0], str(path), *command[1:]]
    plain, scrubbed = (CliRunner().invoke(main, [*arguments, *more]) for more in ([], ["--scrub-kernels"]))
    assert (plain.exit_code, scrubbed.exit_code) == (2, 2)
    assert "secret.csv" in plain.stderr
    assert "input-0.csv" in scrubbed.stderr
    assert not [word for word in ("jane", "secret") if word in scrubbed.output]


def test_option_that_selects_nothing_does_not_list_the_kernels(in_ranges: str) -> None:
    result = CliRunner().invoke(main, ["analyze", in_ranges, "--kernel", "absent", "--scrub-kernels"])
    assert result.exit_code == 2
    assert "kernel-0" in result.stderr
    assert "secret" not in result.stderr


def test_option_that_selects_no_range_does_not_list_them(in_ranges: str) -> None:
    result = CliRunner().invoke(main, ["analyze", in_ranges, "--nvtx", "absent", "--scrub-kernels"])
    assert (result.exit_code, "range-0" in result.stderr) == (2, True)
    assert "secret" not in result.stderr


def test_captures_of_other_kernels_are_refused_without_their_names(write: Write) -> None:
    paths = [write(details(f"0|{name}(int)|T|ns|1"), f"{name}.csv") for name in ("secret_one", "secret_two")]
    result = CliRunner().invoke(main, ["analyze", *paths, "--merge", "--scrub-kernels"])
    assert result.exit_code == 2
    assert "secret" not in result.output
    assert "kernel kernel-0 and kernel-1" in result.stderr


def test_progress_has_no_path(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter([0.0, 2.0])
    monkeypatch.setattr("ncu_roofline.cli.progress.time.monotonic", lambda: next(clock))
    ReadingProgress(scrubber(["/home/jane/a.csv"]))("/home/jane/a.csv", 1, 2)
    assert capsys.readouterr().err.startswith("reading input-0.csv: 50%")


def test_known_names_are_found_among_many() -> None:
    made = Scrubber(kernels=True)
    words = [made.kernel(f"void device_kernel<Policy{number}, (int){number}>(T *)") for number in range(2000)]
    assert words[1234] == "kernel-1234"
    assert made.text("see void device_kernel<Policy1234, (int)1234>(T *), twice") == "see kernel-1234, twice"


@given(st.text())
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    once = Scrubber().text(text)
    assert Scrubber().text(once) == once
