"""What a machine can do, for bounds without a report: peaks of paths and bandwidth of DRAM, each with its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ncu_roofline.devices import match_device
from ncu_roofline.errors import UsageError
from ncu_roofline.measured import MeasuredCeilings
from ncu_roofline.vocabulary import PATHS

_STATED = "as stated"
_TABLE = "device table"


@dataclass(frozen=True)
class Roof:
    """Operations or bytes per second, and where the number is from."""

    value: float
    source: str


@dataclass(frozen=True)
class Machine:
    """Peaks by instruction path (operations per second), and the bandwidth of DRAM (byte/s); None: not known."""

    name: str
    peaks: Mapping[str, Roof]
    bandwidth: Roof | None
    any_peak: Roof | None = None
    """A peak that was stated for whatever path the work is on."""

    def peak(self, paths: Sequence[str]) -> tuple[str | None, Roof | None]:
        """The first of some paths whose peak is known, and that peak; a stated one is of the first path."""
        if self.any_peak is not None:
            return (paths[0] if paths else None), self.any_peak
        return next(((path, self.peaks[path]) for path in paths if path in self.peaks), (None, None))


def machine(
    *,
    device: str | None = None,
    measured: MeasuredCeilings | None = None,
    peak: float | None = None,
    bandwidth: float | None = None,
) -> Machine:
    """A machine from what a user says of it: stated numbers before measured ones before the device table.

    Args:
        device: a name of a product.
        measured: ceilings of a file.
        peak: operations per second, of every path.
        bandwidth: byte/s.

    Raises:
        UsageError: if the name means no product, the file is of another one, or nothing is said at all.

    """
    peaks: dict[str, Roof] = {}
    memory: Roof | None = None
    names = []
    if device is not None:
        match = match_device(device)
        if match.device is None:
            raise UsageError("--device", device, f"{match.reason}; ncu-roofline devices list has all names")
        names.append(match.device.name)
        peaks |= {path: Roof(found, _TABLE) for path in PATHS if (found := match.device.peak(path)) is not None}
        if match.device.dram_bandwidth is not None:
            memory = Roof(match.device.dram_bandwidth, _TABLE)
    if measured is not None:
        if device is not None and not measured.covers(names[0]):
            raise UsageError("--ceilings", measured.file, f"is of {measured.device}, and --device is {names[0]}")
        names.append(f"{measured.device or measured.title or 'device'} as measured ({measured.file})")
        source = f"measured, {measured.file}"
        peaks |= {name: Roof(roof.value, source) for name, roof in measured.ceilings.items() if name in PATHS}
        if "dram" in measured.ceilings:
            memory = Roof(measured.ceilings["dram"].value, source)
    if bandwidth is not None:
        memory = Roof(bandwidth, _STATED)
    if peak is None and not peaks and memory is None:
        raise UsageError(
            "--device", "is not given", "no machine is: name one, give --peak and --bandwidth, or --ceilings FILE"
        )
    return Machine(", ".join(names) or "machine", peaks, memory, None if peak is None else Roof(peak, _STATED))
