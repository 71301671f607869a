"""Small binary reports, encoded by hand: the layout of the file, independent of the descriptors of the reader."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

Fields = Iterable[tuple[int, int | float | str | bytes]]
Value = int | float | str


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    """Fields as (number, value): a number, a double, a text, or an encoded message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            content = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(content)) + content
    return out


def sized(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def value(of: Value) -> bytes:
    return message(({str: 1, float: 3, int: 5}[type(of)], of))


class Strings:
    """The string table of a report."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)


def result(
    metrics: Mapping[str, Value],
    strings: Strings,
    *,
    kernel: str = "k",
    histogram: Mapping[str, int] | None = None,
    process: int = 4242,
    grid: tuple[int, int, int] = (512, 1, 1),
) -> bytes:
    """A launch."""
    encoded = [message((1, strings.number(name)), (2, value(number))) for name, number in metrics.items()]
    if histogram is not None:
        instances = [(3, message((1, value(opcode)), (2, value(count)))) for opcode, count in histogram.items()]
        name = strings.number("sass__inst_executed_per_opcode_with_modifier_all")
        encoded.append(message((1, name), (2, value(float(sum(histogram.values())))), *instances))
    shape = [(n, message(*zip((1, 2, 3), size, strict=True))) for n, size in ((10, grid), (11, (256, 1, 1)))]
    names = ((5, f"_Z1{kernel}v"), (6, kernel), (7, kernel))
    return message((1, process), *names, *shape, *((13, metric) for metric in encoded), (22, 1), (23, 7))


def result_over(
    metrics: Mapping[str, Value], strings: Strings, *, name: str | None = None, inside: Iterable[str] = ()
) -> bytes:
    """A result over a range, a command list (which has a name) or a graph, inside some NVTX ranges."""
    encoded = [(4, message((1, strings.number(metric)), (2, value(number)))) for metric, number in metrics.items()]
    pushed = [(3, message((1, text))) for text in inside]
    thread = message((1, 77), (2, message((1, 0), *pushed)))
    state = message((1, message((1, 0), (2, "<default domain>"))), (2, thread))
    nvtx = [(10, state)] if pushed else []
    return message((1, 1), (2, 5), *encoded, *nvtx, (11, 1), *([] if name is None else [(18, name)]))


def block(
    *results: bytes,
    strings: Strings | None = None,
    session: bytes = b"",
    ranges: tuple[bytes, ...] = (),
    command_lists: tuple[bytes, ...] = (),
    graphs: tuple[bytes, ...] = (),
) -> bytes:
    payload = b"".join(map(sized, (*results, *ranges, *command_lists, *graphs)))
    counts = ((7, len(ranges)), (8, len(command_lists)), (9, len(graphs)))
    fields: list[tuple[int, int | bytes]] = [(1, 0), (2, len(results)), (5, len(payload)), *counts]
    if strings is not None:
        fields.append((4, message(*((1, text) for text in strings.texts))))
    if session:
        fields.append((3, session))
    return sized(message(*fields)) + payload


def session(command_line: str | None = None, version: str | None = None) -> bytes:
    out = b""
    if version is not None:
        out += message((8, message((1, "Nsight Compute Target"), (2, version))))
    if command_line is not None:
        out += message((11, command_line))
    return out


def report(*blocks: bytes, version: int = 7) -> bytes:
    return b"NVR\0" + sized(message((1, version))) + b"".join(blocks)


BASIC: Mapping[str, Value] = {
    "gpu__time_duration.sum": 20000.0,
    "dram__bytes.sum": 1000.0,
    "device__attribute_compute_capability_major": 8,
    "device__attribute_compute_capability_minor": 0,
    "launch__grid_size": 512,
}


def of_launches(count: int, metrics: Mapping[str, Value] = BASIC, *, command_line: str | None = None) -> bytes:
    """A report of equal launches, one block each; strings come with the first."""
    strings = Strings()
    results = [result(metrics, strings) for _ in range(count)]
    first = block(results[0], strings=strings, session=session(command_line, "2025.3.1.0 (build 1)"))
    return report(first, *(block(content) for content in results[1:]))
