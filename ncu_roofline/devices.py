"""The device table: published peaks by product, and which product a printed device name means.

This module knows the file and the names, nothing of reports, clocks that were measured or options. A name
that may mean several products, or none of the table, means none: another GPU's numbers are never used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.errors import DataFileError
from ncu_roofline.strict_yaml import YamlFile, read_yaml
from ncu_roofline.vocabulary import PATHS, is_compute_capability, is_tensor

CONFIDENCES: Final = ("high", "medium", "low")

_TEXTS: Final = ("name", "model", "chip", "compute_capability", "memory", "confidence")
_NUMBERS: Final = ("sm_count", "base_clock", "boost_clock", "tensor_clock", "dram_bandwidth", "l2_bytes")
_REQUIRED: Final = ("name", "model", "chip", "compute_capability", "sm_count", "rates", "sources", "confidence")
_KEYS: Final = frozenset({*_TEXTS, *_NUMBERS, "also", "rates", "sources"})
_MAKERS: Final = frozenset({"nvidia", "tesla", "geforce"})
_ORDINAL: Final = re.compile(r"\s*\([0-9]+\)$")
_SLICE: Final = re.compile(r"(?<![a-z0-9])mig(?![a-z0-9]).*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Remark:
    """Why one number of a device is less (or more) sure than the device as a whole."""

    confidence: str
    note: str


@dataclass(frozen=True)
class Device:
    """One product: clocks in Hz, bandwidth in byte/s, L2 in bytes, None where unknown.

    ``rates`` are dense operations per cycle and SM by instruction path; ``tensor_clock`` is the clock on which
    the published tensor peaks rest where that is not ``boost_clock``. ``remarks`` are by field or path.
    """

    name: str
    also: tuple[str, ...]
    model: str
    chip: str
    compute_capability: str
    sm_count: int
    base_clock: float | None
    boost_clock: float | None
    tensor_clock: float | None
    dram_bandwidth: float | None
    l2_bytes: float | None
    memory: str | None
    rates: Mapping[str, float]
    sources: tuple[str, ...]
    confidence: str
    remarks: Mapping[str, Remark]

    @property
    def names(self) -> tuple[str, ...]:
        """All spellings of the product, the printed one first."""
        return (self.name, *self.also)

    def rate(self, path: str, sm_count: int | None = None) -> float | None:
        """Dense operations per cycle of an instruction path on so many SMs (default: all of the product)."""
        rate = self.rates.get(path)
        return None if rate is None else rate * (self.sm_count if sm_count is None else sm_count)

    def clock(self, path: str) -> float | None:
        """The clock in Hz on which the published peak of an instruction path rests.

        Tensor peaks of some products rest on a lower clock than the boost clock; those of FP64 do not.
        """
        at_tensor_clock = self.tensor_clock is not None and is_tensor(path) and path != "tensor.fp64"
        return self.tensor_clock if at_tensor_clock else self.boost_clock

    def peak(self, path: str) -> float | None:
        """The published dense peak of the whole product in operations per second."""
        rate, clock = self.rate(path), self.clock(path)
        return None if rate is None or clock is None else rate * clock

    def confidence_of(self, name: str) -> str:
        """How sure a number is, by field (``l2_bytes``) or instruction path: high, medium or low."""
        return self.remarks[name].confidence if name in self.remarks else self.confidence


@dataclass(frozen=True)
class DeviceMatch:
    """What a printed device name means.

    ``device`` is None when it means no product or more than one; ``candidates`` are the products that it may
    mean. ``sm_count`` is that of the launch, None where unknown. ``is_slice``: the launch had a part of the
    product only (MIG). ``reason`` is a sentence when there is no device or something is doubtful, else empty.
    """

    device: Device | None
    candidates: tuple[Device, ...] = ()
    sm_count: int | None = None
    is_slice: bool = False
    reason: str = ""
    contradicts: bool = False
    """Whether the launch cannot have run on the product that the name means."""

    def rate(self, path: str) -> float | None:
        """Dense operations per cycle on the SMs of the launch; None for a slice of unknown size."""
        if self.device is None or (self.is_slice and self.sm_count is None):
            return None
        return self.device.rate(path, self.sm_count)


@dataclass(frozen=True)
class _Table:
    devices: tuple[Device, ...]
    not_listed: tuple[str, ...]


def load_devices(path: Path | None = None) -> tuple[Device, ...]:
    """Load the packaged device table or another one.

    Raises:
        DataFileError: with all problems of the file at once.

    """
    return _load_table(path or metric_map_directory() / "devices.yaml").devices


def match_device(name: str, *, compute_capability: str | None = None, sm_count: float | None = None) -> DeviceMatch:
    """Find the product that a device name means.

    The same words in any order and spelling mean the product. A part of them does if it has the words of the
    product's model and no other product of the table, nor one that the table names as not listed, has them
    too. A word that a product does not have makes it another product: "RTX 4090 Laptop GPU" is no RTX 4090.

    Args:
        name: as printed in ``device__attribute_display_name``, or as a user wrote it.
        compute_capability: that of the launch, such as ``9.0``; a product with another one does not match.
        sm_count: SMs of the launch; more than the product has is a contradiction, fewer a slice. NaN is unknown.

    """
    table = _load_table(metric_map_directory() / "devices.yaml")
    words, count = _words(_SLICE.sub("", name)), _count(sm_count)
    exact = tuple(device for device in table.devices if words in map(_words, device.names))
    named = exact or tuple(device for device in table.devices if _may_mean(words, device))
    unlisted = () if exact else tuple(other for other in table.not_listed if words <= _words(other))
    candidates = tuple(device for device in named if compute_capability in (None, device.compute_capability))
    if not named:
        return DeviceMatch(
            None, (), count, reason=f"{name!r} is not in the device table, and no other GPU stands in for it"
        )
    if not candidates:
        known = _list(sorted({device.compute_capability for device in named}))
        reason = f"the launch has compute capability {compute_capability}, but {name!r} has {known} in the device table"
        return DeviceMatch(None, named, count, reason=reason, contradicts=True)
    if len(candidates) > 1 or unlisted:
        others = _list([*(device.name for device in candidates), *(f"{other} (not listed)" for other in unlisted)])
        return DeviceMatch(None, candidates, count, reason=f"{name!r} may be any of {others}")
    return _on_sms(candidates[0], name, count)


def product_of(name: str | None) -> str | None:
    """The product that a printed name means, a number in brackets behind it left out; None: none, or several."""
    device = None if name is None else match_device(_ORDINAL.sub("", name)).device
    return None if device is None else device.name


def _on_sms(device: Device, name: str, count: int | None) -> DeviceMatch:
    """The match of a name that means one product, looked at with the SM count of the launch."""
    if count is not None and count > device.sm_count:
        reason = f"the launch had {count} SMs, but {device.name} has {device.sm_count}: it ran on another product"
        return DeviceMatch(None, (device,), count, reason=reason, contradicts=True)
    if count is not None and count < device.sm_count:
        reason = (
            f"the launch had {count} of the {device.sm_count} SMs of {device.name}: a MIG slice, or another product; "
            "the DRAM bandwidth of the table is that of the whole product and is not used"
        )
        return DeviceMatch(device, (device,), count, is_slice=True, reason=reason)
    if count is None and _SLICE.search(name):
        reason = f"{name!r} is a MIG slice of {device.name}, and its number of SMs is not known"
        return DeviceMatch(device, (device,), None, is_slice=True, reason=reason)
    return DeviceMatch(device, (device,), count)


def _may_mean(words: frozenset[str], device: Device) -> bool:
    """Whether a shortened name may mean a product: at least its model, and nothing that it is not."""
    return _words(device.model) <= words and any(words <= _words(name) for name in device.names)


def _words(name: str) -> frozenset[str]:
    """The words of a name that tell products apart."""
    return frozenset(re.findall(r"[a-z0-9]+", name.lower())) - _MAKERS


def _count(sm_count: float | None) -> int | None:
    """A number of SMs, None for NaN and for what cannot be one."""
    if sm_count is None or not math.isfinite(sm_count) or round(sm_count) < 1:
        return None
    return round(sm_count)


def _list(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


@cache
def _load_table(path: Path) -> _Table:
    file = read_yaml(path)
    table = _Table((), ()) if file.problems else _table(file)
    if file.problems:
        raise DataFileError(file.problems)
    return table


def _table(file: YamlFile) -> _Table:
    top = file.mapping("$", file.data)
    file.only("$", top, {"schema", "not_listed", "devices"})
    if top.get("schema") != 1:
        file.report("$.schema", f"schema {top.get('schema')!r} is not known; this version reads schema 1")
    entries = top.get("devices")
    if not isinstance(entries, list) or not entries:
        file.report("$.devices", "needs a list of at least one device")
        entries = []
    devices = tuple(_device(file, f"$.devices[{position}]", entry) for position, entry in enumerate(entries))
    not_listed = _texts(file, "$.not_listed", top.get("not_listed", []))
    _refuse_doubles(file, devices, not_listed)
    return _Table(devices, not_listed)


def _device(file: YamlFile, where: str, entry: Any) -> Device:
    entry = file.mapping(where, entry)
    file.only(where, entry, _KEYS)
    for key in _REQUIRED:
        if entry.get(key) is None:
            file.report(where, f"missing key {key!r}")
    remarks: dict[str, Remark] = {}
    texts = {key: _text(file, f"{where}.{key}", entry.get(key)) for key in _TEXTS}
    numbers = {key: _number(file, f"{where}.{key}", entry.get(key), key, remarks) for key in _NUMBERS}
    sm_count = numbers.pop("sm_count") or 1
    if sm_count != round(sm_count):
        file.report(f"{where}.sm_count", f"{sm_count!r} is not a whole number")
    sources = _texts(file, f"{where}.sources", entry.get("sources", []))
    if entry.get("sources") == []:
        file.report(f"{where}.sources", "a device needs at least one source")
    _check_texts(file, where, texts)
    return Device(
        name=texts["name"] or "",
        also=_texts(file, f"{where}.also", entry.get("also", [])),
        model=texts["model"] or "",
        chip=texts["chip"] or "",
        compute_capability=texts["compute_capability"] or "",
        sm_count=round(sm_count),
        memory=texts["memory"],
        rates=_rates(file, f"{where}.rates", entry.get("rates"), remarks),
        sources=sources,
        confidence=texts["confidence"] or "",
        remarks=remarks,
        **numbers,
    )


def _check_texts(file: YamlFile, where: str, texts: Mapping[str, str | None]) -> None:
    """Report texts of a device that are not what their key says."""
    name, model, cc = texts["name"], texts["model"], texts["compute_capability"]
    if cc and not is_compute_capability(cc):
        file.report(f"{where}.compute_capability", f"{cc!r} is not a compute capability such as 9.0")
    if name and model and not _words(model) <= _words(name):
        file.report(f"{where}.model", f"{model!r} has words that the name does not have")
    _check_confidence(file, f"{where}.confidence", texts["confidence"])


def _rates(file: YamlFile, where: str, entry: Any, remarks: dict[str, Remark]) -> dict[str, float]:
    rates = {}
    for path, value in file.mapping(where, {} if entry is None else entry).items():
        if path not in PATHS:
            file.report(f"{where}.{path}", f"unknown instruction path; known are {', '.join(PATHS)}")
        rate = _number(file, f"{where}.{path}", value, path, remarks)
        if rate is None:
            file.report(f"{where}.{path}", "a rate that is not known is left out")
        else:
            rates[path] = rate
    return {path: rates[path] for path in PATHS if path in rates}


def _number(file: YamlFile, where: str, entry: Any, name: str, remarks: dict[str, Remark]) -> float | None:
    """A positive number, or one with its confidence and note, which goes to the remarks; None stays None."""
    value = entry
    if isinstance(entry, dict):
        file.only(where, entry, {"value", "confidence", "note"})
        value = entry.get("value")
        note, confidence = (_text(file, f"{where}.{key}", entry.get(key, "")) for key in ("note", "confidence"))
        _check_confidence(file, f"{where}.confidence", confidence)
        remarks[name] = Remark(confidence or "", note or "")
    if value is None and not isinstance(entry, dict):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        file.report(where, f"{value!r} is not a number (YAML reads 1e9 as a text, 1.0e+9 as a number)")
        return None
    if not 0 < value < math.inf:
        file.report(where, f"{value!r} is not above zero")
        return None
    return float(value)


def _refuse_doubles(file: YamlFile, devices: tuple[Device, ...], not_listed: tuple[str, ...]) -> None:
    """Report names with the same words as another name: no report could tell them apart."""
    claims = [(f"$.not_listed[{position}]", name) for position, name in enumerate(not_listed)]
    for number, device in enumerate(devices):
        claims.append((f"$.devices[{number}].name", device.name))
        claims += [(f"$.devices[{number}].also[{position}]", name) for position, name in enumerate(device.also)]
    seen: dict[frozenset[str], str] = {}
    for where, name in claims:
        words = _words(name)
        if name and not words:
            file.report(where, f"{name!r} has no word that tells products apart")
        elif name and words in seen:
            file.report(where, f"{name!r} has the words of {seen[words]!r}")
        seen.setdefault(words, name)


def _check_confidence(file: YamlFile, where: str, confidence: str | None) -> None:
    if confidence and confidence not in CONFIDENCES:
        file.report(where, f"{confidence!r} is not one of {', '.join(CONFIDENCES)}")


def _texts(file: YamlFile, where: str, entry: Any) -> tuple[str, ...]:
    if isinstance(entry, list) and all(isinstance(item, str) and item for item in entry):
        return tuple(entry)
    if entry is not None:
        file.report(where, "must be a list of texts")
    return ()


def _text(file: YamlFile, where: str, value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    file.report(where, f"{value!r} must be a quoted text that is not empty")
    return None
