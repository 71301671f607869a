"""The device table as text: one line per product, or every number of one with its clock and confidence."""

from __future__ import annotations

from collections.abc import Iterator

from ncu_roofline.devices import Device, load_devices
from ncu_roofline.formats import aligned, quantity
from ncu_roofline.vocabulary import work_unit

_SHOWN = ("fp64", "fp32", "tensor.fp16", "tensor.fp8")
"""Paths of the list; where a product has none of that name its variant with FP32 accumulation stands for it."""


def device_list() -> str:
    """Every product: compute capability, SMs, boost clock, DRAM and some dense peaks."""
    rows: list[tuple[str, ...]] = [("device", "CC", "SMs", "boost", "DRAM", *_SHOWN, "confidence")]
    rows += [
        (
            device.name,
            device.compute_capability,
            str(device.sm_count),
            quantity(device.boost_clock, "Hz"),
            quantity(device.dram_bandwidth, "B/s"),
            *(quantity(_peak(device, path), f"{work_unit(path)}/s") for path in _SHOWN),
            device.confidence,
        )
        for device in load_devices()
    ]
    return "\n".join(aligned(rows))


def device_sheet(device: Device) -> str:
    """Everything that the table says of a product."""
    return "\n".join(_sheet(device))


def _sheet(device: Device) -> Iterator[str]:
    yield f"{device.name} ({device.chip}, compute capability {device.compute_capability}), {device.sm_count} SMs"
    if device.also:
        yield f"  also printed as {', '.join(device.also)}"
    for field, unit in (("base_clock", "Hz"), ("boost_clock", "Hz"), ("tensor_clock", "Hz"), ("l2_bytes", "B")):
        yield f"  {field:24} {quantity(getattr(device, field), unit):>16}{_doubt(device, field)}"
    yield f"  {'dram_bandwidth':24} {quantity(device.dram_bandwidth, 'B/s'):>16}{_doubt(device, 'dram_bandwidth')}"
    yield "  dense peaks: operations per cycle and SM, and per second of the whole product at the clock behind it"
    for path, rate in device.rates.items():
        peak, clock = quantity(device.peak(path), f"{work_unit(path)}/s"), quantity(device.clock(path), "Hz")
        yield f"  {path:24} {rate:>16.7g} {peak:>16} {clock:>10}{_doubt(device, path)}"
    yield f"  confidence {device.confidence}; sources: {'; '.join(device.sources)}"


def _peak(device: Device, path: str) -> float | None:
    return device.peak(path) if path in device.rates else device.peak(f"{path}.acc32")


def _doubt(device: Device, name: str) -> str:
    remark = device.remarks.get(name)
    return f"  {remark.confidence}: {remark.note}" if remark else ""
